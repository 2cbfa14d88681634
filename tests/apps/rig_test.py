"""Characters from the command line: supple rig and supple example."""
import json
import os
import re
import shutil
import unittest

from support import BVH, ProgramTest, obj, snapshot

SHORT = ["--frames", "1-4"]


class Example(ProgramTest):
    ACTORS = ["pomelo", "forearm", "shoulder", "wriggler", "worm", "fish", "starfish", "wrestler",
              "elephant"]
    PROPS = {"rabbit": ["tired"], "dragon": [], "letter": [], "shirt": [], "rope": [], "blocks": [],
             "sunflower": ["sunflower_stvk"], "jellyfish": ["jellyfish_inertia"],
             "pudding": ["pudding_slow"]}
    TOYS = ["duck", "creatures", "ducks", "balls", "twirl", "press", "recover", "cube"]
    SLOW = ["sunflower", "jellyfish", "pudding"]  # some frames will do
    SOLIDS = ["bar", "jelly"]
    SCENES = {"pomelo": ["crouch", "ball", "jiggle", "wobble"], "forearm": ["sudden"], "starfish": ["escape", "reach"],
              "wrestler": ["wrestler_slow"], "elephant": ["elephant_adjusted"]}

    def test_the_list_has_one_line_each(self):
        lines = self.succeed("example", "--list").splitlines()
        self.assertEqual([line.split()[0] for line in lines], self.ACTORS + list(self.PROPS) + self.TOYS + self.SOLIDS)
        for line in lines:
            self.assertLessEqual(len(line), 80)

    def test_solids_are_ready_to_simulate(self):
        for name in self.SOLIDS:
            out = self.succeed("example", name)
            self.assertEqual(os.listdir(self.folder / name), [name + ".json"])
            self.assertIn(f"supple simulate {name}/{name}.json", out)
            self.succeed("simulate", f"{name}/{name}.json", *SHORT)
            self.assertTrue((self.folder / name / (name + ".supple")).is_dir())

    def test_props_are_ready_to_simulate(self):
        for name, more in self.PROPS.items():
            few = [] if name in self.SLOW else ["--vertices", "400"]
            out = self.succeed("example", name, *few)
            model = name + (".obj" if name == "rope" else ".glb")
            scenes = [name] + more
            self.assertEqual(sorted(os.listdir(self.folder / name)),
                             sorted([model] + [scene + ".json" for scene in scenes]))
            self.assertIn(f"supple simulate {name}/{name}.json", out)
            for scene in scenes:
                self.succeed("simulate", f"{name}/{scene}.json", *(SHORT if name in self.SLOW else []))
                report = json.loads((self.folder / name / (scene + ".supple") / "report.json").read_text())
                self.assertEqual([frame["warnings"] for frame in report["frames"] if frame["warnings"]], [])
            # Again over what it wrote, and not over what somebody changed.
            self.succeed("example", name, *few)
            (self.folder / name / (name + ".json")).write_text("{}")
            self.refuse(4, "example", name, says=name + ".json")

    def test_toys_are_ready_to_simulate(self):
        for name in self.TOYS:
            out = self.succeed("example", name)
            self.assertIn(f"supple simulate {name}/{name}.json", out)
            self.succeed("simulate", f"{name}/{name}.json", "--frames", "1-2")
            self.assertTrue((self.folder / name / (name + ".supple")).is_dir())

    def test_a_prop_alone_falls_on_the_ground(self):
        self.succeed("example", "rabbit", "--vertices", "500")
        code, _, err = self.run_program("simulate", "rabbit/rabbit.glb", "--body", "voxels", "--cells", "6",
                                        "--levels", "2", "-o", "prop.supple")
        self.assertEqual(code, 0, err)
        self.assertNotIn("one frame", err)
        facts = json.loads(self.succeed("inspect", "prop.supple", "--json"))
        self.assertEqual(facts["frames"], 49)
        self.refuse(2, "simulate", "rabbit/rabbit.glb", "--body", "voxels", "--cells", "0", says="--cells")
        self.refuse(2, "simulate", "rabbit/rabbit.glb", "--body", "voxel", says="voxels")

    def test_every_actor_is_ready_to_simulate(self):
        for name in self.ACTORS:
            out = self.succeed("example", name, "--vertices", "5000")
            scenes = [name] + self.SCENES.get(name, [])
            self.assertEqual(sorted(os.listdir(self.folder / name)),
                             sorted([name + ".glb"] + [scene + ".json" for scene in scenes]))
            self.assertIn(f"supple simulate {name}/{name}.json", out)
            for scene in scenes:
                self.assertIn(f"wrote {name}/{scene}.json", out)
                self.succeed("simulate", f"{name}/{scene}.json", *SHORT)
                self.assertTrue((self.folder / name / (scene + ".supple")).is_dir())
            scene = json.loads((self.folder / name / (name + ".json")).read_text())
            facts = json.loads(self.succeed("inspect", f"{name}/{name}.glb", "--json"))
            clips = {clip["name"]: clip for clip in facts["clips"]}
            self.assertIn(scene["character"]["clip"], clips)
            whole = json.loads(self.succeed("inspect", f"{name}/{name}.json", "--json"))
            self.assertEqual(whole["last"], scene["frames"]["last"])

    def test_animals_have_the_vertices_of_their_papers(self):
        for name, vertices, joints in (("worm", 262, 4), ("fish", 958, 4), ("starfish", 1162, 16)):
            self.assertIn(f"{vertices} vertices, {joints} joints", self.succeed("example", name))

    def test_vertices_and_folders(self):
        few = self.succeed("example", "wriggler", "a/b", "--vertices", "5000")
        many = self.succeed("example", "wriggler", "a/c", "--vertices", "50000")
        self.assertTrue((self.folder / "a/b/wriggler.json").exists())
        count = [int(re.search(r"(\d+) vertices", out)[1]) for out in (few, many)]
        self.assertAlmostEqual(count[0], 5000, delta=500)
        self.assertAlmostEqual(count[1], 50000, delta=5000)
        self.assertEqual(self.succeed("example", "wriggler", "quiet", "-q"), "")

    def test_own_files_are_replaced_and_no_others(self):
        self.succeed("example", "wriggler")
        before = snapshot(self.folder / "wriggler")
        self.succeed("example", "wriggler", "--vertices", "20000")
        self.assertNotEqual(snapshot(self.folder / "wriggler"), before)
        scene = self.folder / "wriggler" / "wriggler.json"
        mine = scene.read_text().replace("24", "25")
        scene.write_text(mine)
        after = snapshot(self.folder / "wriggler")
        self.refuse(4, "example", "wriggler", says=["wriggler.json", "changed"])
        self.assertEqual(snapshot(self.folder / "wriggler"), after)
        scene.unlink()
        # A model that another command wrote, a folder and a dangling link are in the way too.
        (self.folder / "other").mkdir()
        shutil.copy(self.folder / "wriggler.glb", self.folder / "other")
        self.refuse(4, "example", "wriggler", "other", says="other/wriggler.glb")
        (self.folder / "third" / "wriggler.json").mkdir(parents=True)
        self.refuse(4, "example", "wriggler", "third", says="third/wriggler.json")
        (self.folder / "fourth").mkdir()
        os.symlink("nowhere", self.folder / "fourth" / "wriggler.glb")
        self.refuse(4, "example", "wriggler", "fourth", says="fourth/wriggler.glb")
        self.assertEqual(os.listdir(self.folder / "fourth"), ["wriggler.glb"])

    def test_mistakes(self):
        self.refuse(2, "example", "pomello", says=["'pomello'", "did you mean 'pomelo'?"])
        self.refuse(2, "example", "somebody", says=["'somebody'", "--list"])
        self.refuse(2, "example", says="--list")
        self.refuse(2, "example", "wriggler", "--vertices", "10", says="from 100")
        self.refuse(2, "example", "wriggler", "--vertices", "1000", says="needs 5000")
        self.refuse(2, "example", "starfish", "--vertices", "1000", says="needs 1162")
        self.refuse(2, "example", "wriggler", "a", "b", says="'b'")
        self.refuse(4, "example", "wriggler", "wriggler.glb", says="wriggler.glb")
        self.refuse(4, "example", "wriggler", "/proc/here", says="/proc/here")
        self.assertEqual(os.listdir(self.folder), ["wriggler.glb"])


def bar(segments=16, size=0.1, height=1.0):
    """A square bar along y as an OBJ file, standing on y = 0."""
    points = [(x, height * k / segments, z) for k in range(segments + 1)
              for x, z in ((-size, -size), (size, -size), (size, size), (-size, size))]
    triangles = [(0, 1, 2), (0, 2, 3)]
    for k in range(segments):
        for c in range(4):
            a, b = 4 * k + c, 4 * k + (c + 1) % 4
            triangles += [(a, a + 4, b + 4), (a, b + 4, b)]
    top = 4 * segments
    triangles += [(top, top + 2, top + 1), (top, top + 3, top + 2)]
    return obj(points, triangles)


class Rig(ProgramTest):
    def setUp(self):
        super().setUp()
        (self.folder / "bar.obj").write_text(bar())
        (self.folder / "walk.bvh").write_text(BVH)

    def test_a_mesh_and_motion_capture_make_a_character(self):
        out = self.succeed("rig", "bar.obj", "--skeleton", "walk.bvh", "-o", "bar.glb")
        for words in ("2 of 3 joints carry the skin", "clip      walk", "scaled by", "+Y",
                      "bar.glb: rigged"):
            self.assertIn(words, out)
        facts = json.loads(self.succeed("inspect", "bar.glb", "--json"))
        self.assertEqual((facts["vertices"], facts["bones"]), (68, 2))
        self.assertLessEqual(facts["most_influences"], 4)
        self.assertEqual([clip["name"] for clip in facts["clips"]], ["walk"])
        self.succeed("simulate", "bar.glb", "-o", "bar.supple")

    def test_the_rig_of_another_character(self):
        self.succeed("rig", "wriggler.glb", "--skeleton", "wriggler.glb", "-o", "anew.glb")
        old = json.loads(self.succeed("inspect", "wriggler.glb", "--json"))
        new = json.loads(self.succeed("inspect", "anew.glb", "--json"))
        for fact in ("vertices", "triangles"):
            self.assertEqual(old[fact], new[fact])
        self.assertEqual([clip["name"] for clip in old["clips"]],
                         [clip["name"] for clip in new["clips"]])
        self.assertGreater(new["bones"], 2)

    def test_threads_do_not_matter(self):
        for threads in (1, 3):
            self.succeed("rig", "wriggler.glb", "--skeleton", "wriggler.glb", "-q", "--threads",
                         threads, "-o", f"{threads}.glb")
        self.assertEqual((self.folder / "1.glb").read_bytes(),
                         (self.folder / "3.glb").read_bytes())

    def test_options_change_what_they_should(self):
        def rigged(*options):
            self.succeed("rig", "bar.obj", "--skeleton", "walk.bvh", "-q", "-o", "x.glb", *options)
            return (self.folder / "x.glb").read_bytes()
        plain = rigged()
        self.assertEqual(plain, rigged("--fit", "on", "--influences", 4, "--smoothness", 1,
                                       "--up", "y", "--scale", 1, "--clip", "walk"))
        for options in (("--fit", "size"), ("--influences", 1), ("--smoothness", 3),
                        ("--resolution", 20), ("--leave-out", "knee"), ("--scale", 2),
                        ("--up", "z")):
            self.assertNotEqual(plain, rigged(*options), options)

    def test_mistakes(self):
        rig = ("rig", "bar.obj", "--skeleton", "walk.bvh", "-o")
        (self.folder / "points.obj").write_text("v 0 0 0\nv 1 0 0\n")
        self.refuse(2, *rig, "bar.pc2", says=("bar.pc2", ".glb"))
        self.refuse(2, *rig, "a.glb", "-o", "b.glb", says="one file")
        self.refuse(2, "rig", "bar.obj", "-o", "a.glb", says="--skeleton")
        self.refuse(2, *rig, "a.glb", "--fit", "maybe", says="on, size, off")
        self.refuse(2, "rig", "wriggler.glb", "--skeleton", "walk.bvh", "-o", "wriggler.glb",
                    says="it is the input")
        self.refuse(3, "rig", "points.obj", "--skeleton", "walk.bvh", "-o", "a.glb",
                    says=("points.obj", "no faces"))
        self.refuse(3, "rig", "bar.obj", "--skeleton", "bar.obj", "-o", "a.glb",
                    says=("bar.obj", "no bones"))
        self.refuse(3, "rig", "bar.obj", "--skeleton", "none.bvh", "-o", "a.glb", says="none.bvh")
        self.refuse(3, *rig, "a.glb", "--clip", "run", says=("walk.bvh", "'run'", "'walk'"))
        self.refuse(3, *rig, "a.glb", "--leave-out", "kne", says="did you mean 'knee'?")
        (self.folder / "far.obj").write_text(bar(height=0.01, size=0.001))
        self.refuse(3, "rig", "far.obj", "--skeleton", "walk.bvh", "--fit", "off", "-o", "a.glb",
                    "--scale", 0.001, says=("walk.bvh", "outside the mesh of far.obj"))
        self.assertFalse((self.folder / "a.glb").exists())


if __name__ == "__main__":
    unittest.main()
