"""Plays exported caches in Blender and compares every vertex with what was exported.

Run by blender_mesh_cache_test.cpp:
    blender -b --factory-startup --python-exit-code 3 --python mesh_cache_test.py -- CASE.json ...

Each JSON names the rest shape (OBJ), the caches, the first frame, and the expected positions of some
frames. The modifier is set up as docs/formats.md tells users to. Prints "OK" when all agree.
"""

import array
import json
import sys

import bpy


def read_obj(path):
    vertices, faces = [], []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            words = line.split()
            if words[0] == "v":
                vertices.append(list(array.array("f", map(float, words[1:4]))))
            elif words[0] == "f":
                faces.append([int(w.split("/")[0]) - 1 for w in words[1:]])
    return vertices, faces


def make_object(name, vertices, faces):
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(vertices, [], faces)
    result = bpy.data.objects.new(name, mesh)
    bpy.context.collection.objects.link(result)
    return result


def add_mesh_cache(target, path, cache_format, first_frame):
    modifier = target.modifiers.new("Supple", "MESH_CACHE")
    modifier.cache_format = cache_format
    modifier.filepath = path
    modifier.time_mode = "FRAME"
    modifier.play_mode = "SCENE"
    modifier.frame_start = first_frame
    modifier.frame_scale = 1.0
    modifier.interpolation = "LINEAR"
    modifier.forward_axis = "POS_Y"
    modifier.up_axis = "POS_Z"
    return modifier


def positions_at(target, frame):
    bpy.context.scene.frame_set(frame)
    evaluated = target.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return [tuple(v.co) for v in evaluated.data.vertices]


def largest_error(actual, expected):
    """Largest difference of a coordinate, relative to that coordinate."""
    assert len(actual) == len(expected), (len(actual), len(expected))
    pairs = [(x, y) for p, q in zip(actual, expected) for x, y in zip(p, q)]
    return max(abs(x - y) / max(abs(y), 1e-30) for x, y in pairs)


def check_cache(case, cache_format, path, vertices, faces):
    target = make_object(cache_format, vertices, faces)
    modifier = add_mesh_cache(target, path, cache_format, case["first_frame"])
    worst = 0.0
    for number, expected in case["frames"].items():
        error = largest_error(positions_at(target, int(number)), expected)
        worst = max(worst, error)
        assert error <= 1e-6, f"{cache_format} frame {number}: off by {error}"
    # A start that is off by one must show, or the comparison would prove nothing.
    modifier.frame_start = case["first_frame"] + 1
    number, expected = list(case["frames"].items())[-1]
    assert largest_error(positions_at(target, int(number)), expected) > 1e-3
    print(f"{cache_format}: largest relative error {worst:g}")


def check_import(case, vertices):
    """Blender's own OBJ import makes one object and keeps the order of its vertices."""
    before = set(bpy.data.objects)
    bpy.ops.wm.obj_import(filepath=case["obj"], forward_axis="Y", up_axis="Z")
    imported = [o for o in bpy.data.objects if o not in before]
    assert len(imported) == 1, imported
    error = largest_error([tuple(v.co) for v in imported[0].data.vertices], vertices)
    assert error <= 1e-6, f"import moves vertices by {error}"


def check_case(path):
    with open(path, encoding="utf-8") as file:
        case = json.load(file)
    vertices, faces = read_obj(case["obj"])
    assert largest_error(vertices, case["rest"]) == 0
    if hasattr(bpy.types, "WM_OT_obj_import"):
        check_import(case, vertices)
    check_cache(case, "PC2", case["pc2"], vertices, faces)
    check_cache(case, "MDD", case["mdd"], vertices, faces)
    print(f"frames from {case['first_frame']} agree")


def main():
    for path in sys.argv[sys.argv.index("--") + 1 :]:
        check_case(path)
    print("OK")


main()
