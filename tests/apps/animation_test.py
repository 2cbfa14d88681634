"""Animation files as input: supple convert and supple inspect."""
import json
import shutil
import unittest

from support import TETRAHEDRON, ProgramTest, obj, report, snapshot


class Animations(ProgramTest):
    """Files that exports wrote, as input of convert and inspect."""

    def setUp(self):
        super().setUp()
        self.outputs = ["walk.pc2", "walk.mdd", "walk.usda", "walk.pvd", "walk/"]
        for up in "yz":
            (self.folder / up).mkdir()
            self.succeed("simulate", "wriggler.glb", "--frames", "1001-1004", "--up", up, "-q",
                         *(word for name in self.outputs for word in ("-o", f"{up}/{name}")))

    def facts(self, *arguments):
        return json.loads(self.succeed("inspect", *arguments, "--json"))

    def test_inspect_tells_the_same_of_every_format_and_axis(self):
        size = self.facts("y/walk.usda")["size"]
        for up in "yz":
            for name in self.outputs:
                facts = self.facts(f"{up}/{name}")
                self.assertEqual((facts["kind"], facts["first"], facts["last"], facts["rate"],
                                  facts["frames"], facts["vertices"], facts["triangles"],
                                  facts["damaged"]),
                                 ("animation", 1001, 1004, 24, 4, 186, 368, []), name)
                self.assertEqual(facts["size"], size, (up, name))
                self.assertEqual(facts["name"], "wriggler")
                self.assertIn("1001 to 1004 at 24", self.succeed("inspect", f"{up}/{name}"))
        self.assertIn("Z up", self.succeed("inspect", "z/walk.pc2"))

    def test_every_format_becomes_every_other(self):
        caches = snapshot(self.folder, without=["report.json"])
        for source in self.outputs:
            for up in "yz":
                target = f"new/{up}"
                outputs = ["walk.pc2", "walk.mdd", "walk.usda", "wriggler.glb", "objs/"]
                self.succeed("convert", f"z/{source}", "--up", up, "-q",
                             *(word for name in outputs for word in ("-o", f"{target}/{name}")))
                for name in ("walk.pc2", "walk.mdd"):
                    self.assertEqual((self.folder / target / name).read_bytes(),
                                     (self.folder / up / name).read_bytes(), (source, name))
                self.assertEqual(self.facts(f"{target}/wriggler.glb")["triangles"], 368)
                self.assertEqual(self.facts(f"{target}/objs")["frames"], 4)
                shutil.rmtree(self.folder / "new")
        self.assertEqual(snapshot(self.folder, without=["report.json"]), caches)

    def test_point_caches_without_their_cache(self):
        shutil.copy(self.folder / "z" / "walk.pc2", self.folder / "lone.pc2")
        self.assertEqual(self.facts("lone.pc2")["triangles"], 0)
        self.assertIn("without triangles", self.succeed("inspect", "lone.pc2"))
        for name in ("a.usda", "a.glb", "a.pvd", "a/"):
            self.refuse(3, "convert", "lone.pc2", "-o", name, says=("lone.pc2", "--mesh"))
        self.assertFalse((self.folder / "a.usda").exists())
        self.succeed("convert", "lone.pc2", "-o", "a.mdd", "-q")
        self.succeed("convert", "lone.pc2", "--mesh", "wriggler.glb", "-o", "a.usda", "-q")
        self.assertEqual(self.facts("a.usda")["size"], self.facts("y/walk.usda")["size"])
        self.succeed("convert", "lone.pc2", "--mesh", "z/walk.supple", "-o", "b.usda", "-q")
        self.assertEqual(self.facts("lone.pc2", "--mesh", "wriggler.glb")["triangles"], 368)
        self.succeed("convert", "lone.pc2", "--from-up", "z", "--up", "z", "-o", "b.pc2", "-q")
        self.assertEqual((self.folder / "b.pc2").read_bytes(),
                         (self.folder / "lone.pc2").read_bytes())
        self.succeed("convert", "lone.pc2", "--fps", "30", "-o", "c.mdd", "-q")
        self.assertEqual(self.facts("c.mdd")["rate"], 30)

    def test_mistakes(self):
        (self.folder / "small.obj").write_text(obj(*TETRAHEDRON))
        self.refuse(3, "convert", "y/walk.pc2", "--mesh", "small.obj", "-o", "a.usda",
                    says=("walk.pc2", "186", "small.obj", "4 vertices"))
        self.refuse(3, "convert", "missing.pc2", "-o", "a.usda", says="missing.pc2")
        self.refuse(3, "inspect", "missing.usda", says="missing.usda")
        self.refuse(2, "convert", "y/walk.supple", "--mesh", "wriggler.glb", "-o", "a.pc2",
                    says="--mesh")
        self.refuse(2, "inspect", "wriggler.glb", "--mesh", "small.obj", says="--mesh")
        self.refuse(2, "convert", "y/walk.pc2", "-o", "a.supple", says="simulate")
        self.refuse(2, "convert", "y/walk.pc2", "--fps", "0", "-o", "a.mdd", says="0.001")
        before = snapshot(self.folder)
        for source, target in [("walk.pc2", "walk.pc2"), ("walk.pvd", "walk.pvd"),
                               ("walk.pvd", "walk.vtu"), ("walk/", "walk"),
                               ("walk", "walk/wriggler.obj"), ("walk/wriggler.obj", "walk/")]:
            self.refuse(2, "convert", f"y/{source}", "-o", f"y/{target}", says="input")
        data = (self.folder / "y" / "walk.pc2").read_bytes()
        (self.folder / "y" / "walk.pc2").write_bytes(data[:-5])
        self.refuse(3, "convert", "y/walk.pc2", "-o", "a.mdd", says=("walk.pc2", "cut off"))
        (self.folder / "y" / "walk.pc2").write_bytes(data)
        (self.folder / "y" / "walk" / "wriggler.1002.obj").unlink()
        self.refuse(3, "inspect", "y/walk", says=("frame 1002", "missing"))
        (self.folder / "empty").mkdir()
        self.refuse(3, "inspect", "empty", says=("empty", "OBJ"))
        self.refuse(3, "convert", "empty", "-o", "a.pc2", says=("empty", "OBJ"))
        after = snapshot(self.folder)
        del before["y/walk/wriggler.1002.obj"]
        self.assertEqual(after, before)

    def test_damaged_frames_are_named(self):
        path = self.folder / "y" / "walk_vtu" / "walk_1003.vtu"
        path.write_bytes(path.read_bytes()[:-300])
        damaged = self.facts("y/walk.pvd")["damaged"]
        self.assertEqual(len(damaged), 1)
        self.assertIn("walk_1003.vtu", damaged[0])
        self.refuse(3, "convert", "y/walk.pvd", "-o", "a.pc2", says="walk_1003.vtu")
        self.assertFalse((self.folder / "a.pc2").exists())


if __name__ == "__main__":
    unittest.main()
