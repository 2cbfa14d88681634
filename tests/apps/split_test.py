"""Skins that are split at the cells of voxel bodies, from the command line: caches, exports, resume, mistakes."""
import csv
import json
import struct
import unittest

from support import ProgramTest, cache_files, read_chunk_names

BOX = """v 0 0 0
v 4 0 0
v 0 0.9 0
v 4 0.9 0
v 0 0 0.9
v 4 0 0.9
v 0 0.9 0.9
v 4 0.9 0.9
f 1 5 7 3
f 2 4 8 6
f 1 2 6 5
f 3 7 8 4
f 1 3 4 2
f 5 6 8 7
"""


def read_glb(path):
    """The JSON of a .glb, and the elements of its accessors."""
    data = path.read_bytes()
    length = struct.unpack_from("<I", data, 12)[0]
    document, binary = json.loads(data[20:20 + length]), data[28 + length:]

    def accessor(index):
        entry = document["accessors"][index]
        view = document["bufferViews"][entry["bufferView"]]
        width = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}[entry["type"]]
        letter = {5126: "f", 5125: "I", 5123: "H"}[entry["componentType"]]
        at = view.get("byteOffset", 0) + entry.get("byteOffset", 0)
        values = struct.unpack_from(f"<{width * entry['count']}{letter}", binary, at)
        return [values[i:i + width] for i in range(0, len(values), width)]

    return document, accessor


class SplitTest(ProgramTest):
    def setUp(self):
        super().setUp()
        (self.folder / "box.obj").write_text(BOX)

    def box_scene(self, name="box.json", **voxels):
        ends = [{"select": {"plane": {"point": [x, 0, 0], "normal": [x - 2, 0, 0]}}} for x in (0.5, 3.5)]
        ends[1]["motion"] = [{"rotate": {"axis": [0, 0, 1], "angle": 90, "about": [2, 2, 0]}}]
        scene = {"character": "box.obj",
                 "body": {"type": "voxels", "cells": 4, "dynamic": False, "fixed": ends, "voxels": voxels,
                          "gravity": [0, 0, 0]},
                 "frames": {"first": 1, "last": 5}}
        (self.folder / name).write_text(json.dumps(scene))
        return name

    def index(self, name):
        return json.loads((self.folder / name / "index.json").read_text())

    def test_every_format_is_written(self):
        told = self.succeed("simulate", self.box_scene(split=True), "-o", "a.supple", "-o", "a.glb", "-o", "a.pc2",
                            "-o", "a.mdd", "-o", "a.usda", "-o", "a.pvd", "-o", "objs/")
        vertices = self.index("a.supple")["vertices"]
        self.assertGreater(vertices, 8)
        names = read_chunk_names(self.folder / "a.supple/static.chunk")
        for name in ("split/vertices", "split/weights", "split/triangles"):
            self.assertIn(name, names)
        self.assertIn("a.split.obj", told)
        # The table leads back to the places of the input.
        places = [tuple(map(float, line.split()[1:])) for line in BOX.splitlines() if line.startswith("v")]
        mesh = [tuple(map(float, line.split()[1:]))
                for line in (self.folder / "a.split.obj").read_text().splitlines() if line.startswith("v ")]
        with open(self.folder / "a.split.csv") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), vertices)
        self.assertEqual(len(mesh), vertices)
        for row, place in zip(rows, mesh):
            weights = [float(row[f"weight_{k}"]) for k in range(3)]
            self.assertEqual(sum(weights), 1)
            for axis in range(3):
                mean = sum(w * places[int(row[f"source_{k}"])][axis] for k, w in enumerate(weights))
                self.assertAlmostEqual(mean, place[axis], places=5)
        self.assertEqual([int(row["source_0"]) for row in rows[:8]], list(range(8)))
        points = struct.unpack_from("<i", (self.folder / "a.pc2").read_bytes(), 16)[0]
        self.assertEqual(points, vertices)
        # What was written can be read and looked at again.
        for name in ("a.pc2", "a.mdd", "a.usda", "a.pvd", "objs"):
            self.assertIn(f"{vertices:,}".replace(",", ""), self.succeed("inspect", name).replace(",", ""), name)
        self.succeed("convert", "a.supple", "-o", "b.glb")
        self.assertEqual((self.folder / "a.glb").read_bytes(), (self.folder / "b.glb").read_bytes())

    def test_a_character_keeps_its_file(self):
        self.succeed("simulate", "wriggler.glb", "--body", "voxels", "--cells", "12", "--split", "--frames", "1-3",
                     "-o", "w.glb")
        before, of_input = read_glb(self.folder / "wriggler.glb")
        after, of_output = read_glb(self.folder / "w.glb")
        self.assertEqual(after.get("materials"), before.get("materials"))
        was = before["meshes"][0]["primitives"][0]
        now = after["meshes"][0]["primitives"][0]
        count = after["accessors"][now["attributes"]["POSITION"]]["count"]
        self.assertGreater(count, before["accessors"][was["attributes"]["POSITION"]]["count"])
        for name, index in now["attributes"].items():
            self.assertEqual(after["accessors"][index]["count"], count, name)
        colours, kept = of_input(was["attributes"]["COLOR_0"]), of_output(now["attributes"]["COLOR_0"])
        sources = of_output(now["attributes"]["_SOURCE_VERTICES"])
        weights = of_output(now["attributes"]["_SOURCE_WEIGHTS"])
        for found, vertices, shares in zip(kept, sources, weights):
            for c, value in enumerate(found):
                mean = sum(share * colours[int(v)][c] for v, share in zip(vertices, shares))
                self.assertAlmostEqual(value, mean, places=5)
        largest = max(i[0] for i in of_output(now["indices"]))
        self.assertEqual(largest, count - 1)

    def test_results_do_not_depend_on_threads_or_interruptions(self):
        self.box_scene(split=True)
        self.succeed("simulate", "box.json", "-o", "one.supple", "--threads", "1")
        self.succeed("simulate", "box.json", "-o", "two.supple", "--threads", "2")
        self.assertEqual(cache_files(self.folder / "one.supple"), cache_files(self.folder / "two.supple"))
        for frame in (4, 5):
            (self.folder / f"two.supple/frames/{frame}.chunk").unlink()
        self.succeed("simulate", "box.json", "-o", "two.supple", "--resume")
        self.assertEqual(cache_files(self.folder / "one.supple"), cache_files(self.folder / "two.supple"))

    def test_a_run_is_not_resumed_with_another_skin(self):
        self.succeed("simulate", self.box_scene(split=True), "-o", "a.supple")
        self.refuse(3, "simulate", self.box_scene(split=False), "-o", "a.supple", "--resume",
                    says=["settings.body.voxels.split", "is true there and false now"])
        self.succeed("simulate", "box.json", "-o", "b.supple")
        self.refuse(3, "simulate", "box.json", "--split", "-o", "b.supple", "--resume",
                    says=["settings.body.voxels.split", "is false there and true now"])

    def test_without_it_vertices_are_those_of_the_input(self):
        self.succeed("simulate", self.box_scene(), "-o", "a.supple", "-o", "a.pc2")
        self.assertEqual(self.index("a.supple")["vertices"], 8)
        self.assertNotIn("split/vertices", read_chunk_names(self.folder / "a.supple/static.chunk"))
        self.assertFalse((self.folder / "a.split.obj").exists())

    def test_other_bodies_say_that_nothing_is_split(self):
        code, _, err = self.run_program("simulate", "wriggler.glb", "--body", "skinning", "--split", "--frames", "1-1")
        self.assertEqual(code, 0, err)
        self.assertIn("body.voxels.split is for bodies of type 'voxels'", err)


if __name__ == "__main__":
    unittest.main()
