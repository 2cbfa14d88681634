"""Bodies of surfaces from the command line: falling out of the box, many objects, detailed meshes, threads, mistakes."""
import json
import unittest

from support import ProgramTest, cache_files


class SurfaceTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.succeed("example", "duck", ".", "--vertices", "300", "--quiet")

    def test_a_mesh_falls_on_the_floor(self):
        self.succeed("simulate", "duck.glb", "--body", "surface", "--frames", "1-8", "-o", "a.supple", "--threads", "1")
        self.succeed("simulate", "duck.glb", "--body", "surface", "--frames", "1-8", "-o", "b.supple", "--threads", "2")
        self.assertEqual(cache_files(self.folder / "a.supple"), cache_files(self.folder / "b.supple"))
        report = json.loads((self.folder / "a.supple" / "report.json").read_text())
        self.assertLess(max(frame["residual"] for frame in report["frames"]), 1e-3)
        self.assertIn("step/contact", report["frames"][-1]["stages"])

    def test_objects_become_one_skin(self):
        scene = {"objects": [{"file": "duck.glb", "copies": [2, 2, 1], "apart": [0.4, 0.4, 0], "tumble": True}],
                 "frames": {"first": 1, "last": 4, "rate": 25}}
        (self.folder / "four.json").write_text(json.dumps(scene))
        self.succeed("simulate", "four.json", "-o", "four.supple", "-o", "four.glb")
        self.assertTrue((self.folder / "four.glb").exists())
        self.assertEqual(json.loads((self.folder / "four.supple" / "report.json").read_text())["status"], "done")

    def test_a_detailed_mesh_is_shown(self):
        self.succeed("example", "duck", "fine", "--vertices", "2000", "--quiet")
        self.succeed("simulate", "duck.glb", "--body", "surface", "--detail-mesh", "fine/duck.glb", "--frames", "1-3",
                     "-o", "d.supple")
        index = json.loads((self.folder / "d.supple" / "index.json").read_text())
        self.assertGreater(index["vertices"], 1800)

    def test_mistakes_name_field_and_range(self):
        for fields, says in (({"surface": {"stiffness": 2}}, "body.surface.stiffness"),
                             ({"surface": {"region_width": -1}}, "body.surface.region_width"),
                             ({"surface": {"region_width": 0}}, "1 to 32"),
                             ({"surface": {"step": 0}}, "body.surface.step"),
                             ({"dynamic": False}, "body.dynamic")):
            scene = {"character": "duck.glb", "body": {"type": "surface", **fields}}
            (self.folder / "bad.json").write_text(json.dumps(scene))
            self.refuse(3, "simulate", "bad.json", says=says)


if __name__ == "__main__":
    unittest.main()
