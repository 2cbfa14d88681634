"""Builds a small rigged, animated character in Blender and exports it as FBX.

Usage: blender -b --factory-startup --python make_fbx.py -- FOLDER

Writes FOLDER/default.fbx (centimetres, Y up), FOLDER/z_up.fbx (metres, Z up) and FOLDER/truth.json:
for every object its rest shape and Blender's own evaluated vertices at several frames, in metres
with Y up, and its polygon corners as vertex, u, v, material.
"""
import json
import math
import os
import sys

import addon_utils
import bpy
import numpy
from mathutils import Vector

RINGS, SEGMENTS, LENGTH, RADIUS = 13, 10, 1.2, 0.15
FRAMES = (1, 7, 13, 18, 24, 30)


def build_tube():
    """A tube along Z with caps, two materials, a UV seam, a colour and a shape key."""
    vertices, faces = [], []
    for ring in range(RINGS):
        height = LENGTH * ring / (RINGS - 1)
        radius = RADIUS * (1 - 0.3 * ring / (RINGS - 1))
        for segment in range(SEGMENTS):
            angle = 2 * math.pi * segment / SEGMENTS
            vertices.append((radius * math.cos(angle), radius * math.sin(angle) * 0.8, height))
    for ring in range(RINGS - 1):
        for segment in range(SEGMENTS):
            a = ring * SEGMENTS + segment
            b = ring * SEGMENTS + (segment + 1) % SEGMENTS
            faces.append((a, b, b + SEGMENTS, a + SEGMENTS))
    faces.append(tuple(reversed(range(SEGMENTS))))
    faces.append(tuple(range((RINGS - 1) * SEGMENTS, RINGS * SEGMENTS)))
    mesh = bpy.data.meshes.new("tube_mesh")
    mesh.from_pydata(vertices, [], faces)
    for name in ("lower", "upper"):
        mesh.materials.append(bpy.data.materials.new(name))
    uv = mesh.uv_layers.new(name="uv")
    colour = mesh.color_attributes.new("paint", "BYTE_COLOR", "CORNER")
    for polygon in mesh.polygons:
        polygon.material_index = int(polygon.center.z > LENGTH / 2)
        for corner, loop in enumerate(polygon.loop_indices):
            vertex = mesh.loops[loop].vertex_index
            segment, ring = vertex % SEGMENTS, vertex // SEGMENTS
            if len(polygon.vertices) == 4 and segment == 0 and corner in (1, 2):
                segment = SEGMENTS
            uv.data[loop].uv = (segment / SEGMENTS, ring / RINGS)
            colour.data[loop].color = (0.0, 0.0, 1.0, 1.0) if ring < RINGS // 2 else (1, 1, 1, 1)
    tube = bpy.data.objects.new("tube", mesh)
    bpy.context.collection.objects.link(tube)
    tube.shape_key_add(name="Basis")
    bulge = tube.shape_key_add(name="bulge")
    for index, point in enumerate(bulge.data):
        if 3 <= index // SEGMENTS <= 6:
            point.co = Vector((point.co.x * 1.5, point.co.y * 1.4, point.co.z + 0.02))
    return tube


def build_armature():
    """Three bones in a row, away from the origin, turned and moved as a whole."""
    data = bpy.data.armatures.new("rig_data")
    armature = bpy.data.objects.new("rig", data)
    bpy.context.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    parent = None
    for index in range(3):
        bone = data.edit_bones.new("bone_%d" % index)
        bone.head = (0, 0.01 * index, LENGTH * index / 3)
        bone.tail = (0, 0.01 * (index + 1), LENGTH * (index + 1) / 3)
        bone.roll = 0.3 * index
        bone.parent = parent
        bone.use_connect = parent is not None
        parent = bone
    bpy.ops.object.mode_set(mode="OBJECT")
    armature.location = (0.5, -0.25, 0.1)
    armature.rotation_euler = (0.1, 0.2, 0.7)
    return armature


def bind(tube, armature):
    """Weights that fall off smoothly along the tube: three influences for many vertices."""
    tube.parent = armature
    for index in range(3):
        group = tube.vertex_groups.new(name="bone_%d" % index)
        for vertex in tube.data.vertices:
            weight = math.exp(-((vertex.co.z / LENGTH * 3 - index - 0.5) ** 2) * 2)
            if weight > 0.02:
                group.add([vertex.index], weight, "REPLACE")
    with bpy.context.temp_override(object=tube, active_object=tube):
        modifier = tube.modifiers.new("rig", "ARMATURE")
        modifier.object = armature
    for vertex in tube.data.vertices:
        total = sum(element.weight for element in vertex.groups)
        for element in vertex.groups:
            element.weight /= total


def build_prop(armature):
    """A small block hung on the last bone, without weights."""
    bpy.ops.mesh.primitive_cube_add(size=0.1)
    prop = bpy.context.active_object
    prop.name = "prop"
    prop.data.name = "prop_mesh"
    prop.parent = armature
    prop.parent_type = "BONE"
    prop.parent_bone = "bone_2"
    prop.location = (0.03, 0.2, -0.01)
    prop.rotation_euler = (0.4, -0.2, 0.1)
    prop.scale = (1.0, 2.0, 0.5)
    return prop


def animate(tube, armature):
    """Rotation and translation of bones, the whole armature, and the shape key."""
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = FRAMES[0], FRAMES[-1], 24
    turns = {1: (0, 0, 0), 13: (0.9, 0.2, -0.3), 24: (-0.4, 0.8, 0.5), 30: (0.2, 0.1, 0)}
    for frame, turn in turns.items():
        for index, bone in enumerate(armature.pose.bones):
            bone.rotation_mode = "XYZ"
            bone.rotation_euler = [angle * (1 + 0.3 * index) for angle in turn]
            bone.keyframe_insert("rotation_euler", frame=frame)
        first = armature.pose.bones[0]
        first.location = (0.1 * turn[0], 0.05 * turn[1], 0.2 * turn[2])
        first.keyframe_insert("location", frame=frame)
        last = armature.pose.bones[2]
        last.scale = [1 + 0.2 * turn[0]] * 3
        last.keyframe_insert("scale", frame=frame)
        key = tube.data.shape_keys.key_blocks["bulge"]
        key.value = abs(turn[0])
        key.keyframe_insert("value", frame=frame)


def y_up(point):
    return [point[0], point[2], -point[1]]


def evaluated(item):
    """World-space vertices as Blender's modifiers leave them."""
    shape = item.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return [y_up(shape.matrix_world @ vertex.co) for vertex in shape.data.vertices]


def truth(objects, armature):
    """The rest shape and the evaluated frames of every object."""
    scene = bpy.context.scene
    result = {"fps": scene.render.fps, "first_frame": FRAMES[0], "objects": {}}
    armature.data.pose_position = "REST"
    scene.frame_set(FRAMES[0])
    for item in objects:
        keys = item.data.shape_keys
        if keys:
            keys.key_blocks["bulge"].mute = True
        scene.frame_set(FRAMES[0])
        entry = {"rest": evaluated(item), "frames": {}, "corners": []}
        if keys:
            keys.key_blocks["bulge"].mute = False
        if item.data.uv_layers:
            uvs = item.data.uv_layers[0].data
            for polygon in item.data.polygons:
                for loop in polygon.loop_indices:
                    vertex = item.data.loops[loop].vertex_index
                    entry["corners"].append([vertex, *uvs[loop].uv, polygon.material_index])
            entry["triangles"] = sum(len(p.vertices) - 2 for p in item.data.polygons)
            entry["half"] = RINGS // 2 * SEGMENTS
        result["objects"][item.name] = entry
    armature.data.pose_position = "POSE"
    for frame in FRAMES:
        scene.frame_set(frame)
        for item in objects:
            result["objects"][item.name]["frames"][frame] = evaluated(item)
    scene.frame_set(FRAMES[0])
    return result


def export(path, **options):
    bpy.ops.export_scene.fbx(
        filepath=path, object_types={"ARMATURE", "MESH"}, add_leaf_bones=False,
        bake_anim_use_nla_strips=False, bake_anim_use_all_actions=False,
        bake_anim_simplify_factor=0.0, **options)


def main():
    folder = sys.argv[sys.argv.index("--") + 1]
    numpy.bool = bool  # the add-ons of Blender 3.4 use the name that NumPy 1.24 dropped
    addon_utils.enable("io_scene_fbx")
    bpy.ops.object.select_all(action="SELECT")
    bpy.ops.object.delete()
    tube, armature = build_tube(), build_armature()
    bind(tube, armature)
    prop = build_prop(armature)
    animate(tube, armature)
    with open(os.path.join(folder, "truth.json"), "w") as out:
        json.dump(truth([tube, prop], armature), out)
    export(os.path.join(folder, "default.fbx"))
    export(os.path.join(folder, "z_up.fbx"), axis_forward="Y", axis_up="Z",
           apply_scale_options="FBX_SCALE_UNITS")


main()
