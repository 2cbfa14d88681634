"""Elastic bodies from the command line: scenes with simple solids and meshes, examples, resume, mistakes."""
import json
import signal
import subprocess
import unittest

from support import PROGRAM, ProgramTest, read_chunk_names


def bar(**body):
    """A small bar whose ends are held, the right one twisted."""
    ends = [{"select": {"plane": {"point": [x, 0, 0], "normal": [x, 0, 0]}}} for x in (-0.5, 0.5)]
    ends[1]["motion"] = [{"rotate": {"axis": [1, 0, 0], "angle": 90}}]
    return {"character": {"shape": {"type": "box", "size": [1, 0.25, 0.25], "edge": 0.0625}},
            "body": {"type": "lattice", "cells": 8, "fixed": ends, **body},
            "frames": {"first": 1001, "last": 1006, "rate": 24}}


class FleshTest(ProgramTest):
    def test_a_character_gets_flesh_by_itself(self):
        told = self.run_program("simulate", "wriggler.glb", "--body", "automatic", "--budget", "800", "--frames",
                                "1-6")
        self.assertEqual(told[0], 0, told[2])
        report = json.loads((self.folder / "wriggler.supple/report.json").read_text())
        self.assertEqual([frame["warnings"] for frame in report["frames"]], [[]] * 6)
        volumes = [frame["volume"] for frame in report["frames"]]
        self.assertLess(max(volumes) / min(volumes), 1.03)
        names = read_chunk_names(self.folder / "wriggler.supple/frames/4.chunk")
        for name in ("mesh/nodes", "map/stretch", "map/distance", "map/contact"):
            self.assertIn(name, names)

    def test_flesh_goes_on_where_it_stopped(self):
        self.scene("a.json", body={"budget": 800}, frames={"last": 8})
        self.succeed("simulate", "a.json", "-o", "whole.supple")
        self.scene("a.json", body={"budget": 800}, frames={"last": 8}, output={"checkpoint_every": 3})
        process = subprocess.Popen([PROGRAM, "simulate", "a.json", "-o", "part.supple", "--progress=json"],
                                   cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        for line in process.stdout:
            if json.loads(line).get("frame") == 4:
                process.send_signal(signal.SIGINT)
                break
        process.communicate(timeout=120)
        self.succeed("simulate", "a.json", "-o", "part.supple", "--resume")
        for frame in range(1, 9):
            name = f"frames/{frame}.chunk"
            self.assertEqual((self.folder / "whole.supple" / name).read_bytes(),
                             (self.folder / "part.supple" / name).read_bytes(), name)

    def test_characters_with_eight_points(self):
        self.scene("a.json", body={"type": "lattice", "budget": 800, "solver": {"quadrature": "eight_point"}},
                   frames={"last": 6})
        self.succeed("simulate", "a.json")
        report = json.loads((self.folder / "a.supple/report.json").read_text())
        self.assertEqual([frame["warnings"] for frame in report["frames"]], [[]] * 6)
        volumes = [frame["volume"] for frame in report["frames"]]
        self.assertLess(max(volumes) / min(volumes), 1.03)

    def test_inspect_tells_what_lengths_are_taken_for(self):
        self.scene("big.json", character={"file": "wriggler.glb", "scale": 100}, body={"budget": 500})
        told = self.succeed("inspect", "big.json")
        self.assertIn("metres per unit", told)

    def test_colliders_and_mistakes(self):
        scene = {"budget": 500, "contact": {"colliders": [{"type": "plane", "centre": [0, -1, 0], "friction": 0.5}]}}
        self.scene("a.json", body=scene, frames={"last": 3})
        self.succeed("simulate", "a.json")
        scene["contact"]["colliders"][0]["joint"] = "nobody"
        self.scene("b.json", body=scene)
        self.refuse(3, "simulate", "b.json", says=["body.contact.colliders[0].joint", "nobody"])
        scene["contact"]["colliders"] = [{"type": "mesh", "file": "missing.obj"}]
        self.scene("c.json", body=scene)
        self.refuse(3, "simulate", "c.json", says="missing.obj")


class LatticeTest(ProgramTest):
    def write(self, scene, name="bar.json"):
        (self.folder / name).write_text(json.dumps(scene))
        return name

    def test_a_scene_becomes_a_cache_with_cells_and_stretch(self):
        self.succeed("simulate", self.write(bar()))
        report = json.loads((self.folder / "bar.supple/report.json").read_text())
        self.assertEqual(report["status"], "done")
        self.assertEqual(len(report["frames"]), 6)
        self.assertGreater(report["frames"][3]["iterations"], 0)
        self.assertLess(report["frames"][3]["residual"], 1e-3)
        self.assertEqual(report["frames"][3]["warnings"], [])
        self.assertIn("mesh/hexahedra", read_chunk_names(self.folder / "bar.supple/static.chunk"))
        names = read_chunk_names(self.folder / "bar.supple/frames/1004.chunk")
        self.assertIn("mesh/nodes", names)
        self.assertIn("map/stretch", names)
        self.assertNotIn("mesh/hexahedra", names)
        self.succeed("convert", "bar.supple", "-o", "bar.glb", "-o", "bar.pc2", "-o", "bar.usda", "-o", "objs/")

    def test_inspect_tells_cells_spacing_and_memory(self):
        told = self.succeed("inspect", self.write(bar()))
        for word in ("a box", "cells     32", "spacing   0.125 m", "memory"):
            self.assertIn(word, told)
        facts = json.loads(self.succeed("inspect", "bar.json", "--json"))["body"]
        self.assertEqual(facts["cells"], 32)

    def test_resume_and_threads_give_the_same_bytes(self):
        for dynamic in (False, True):
            scene = bar(dynamic=dynamic, substeps=2)
            self.write(scene)
            self.succeed("simulate", "bar.json", "-o", "one.supple", "--threads", "1")
            self.succeed("simulate", "bar.json", "-o", "two.supple", "--threads", "2", "--checkpoint-every", "2")
            frames = sorted((self.folder / "one.supple/frames").iterdir())
            self.assertEqual(len(frames), 6)
            for frame in frames:
                self.assertEqual(frame.read_bytes(), (self.folder / "two.supple/frames" / frame.name).read_bytes())
            # What a killed run leaves: an early checkpoint, and a frame that is gone.
            self.kill_run_after(3)
            self.succeed("simulate", "bar.json", "-o", "cut.supple", "--resume")
            for frame in frames:
                self.assertEqual(frame.read_bytes(), (self.folder / "cut.supple/frames" / frame.name).read_bytes())

    def test_every_quadrature_is_a_scene(self):
        ends = set()
        for quadrature in ("stabilised", "one_point", "eight_point"):
            for dynamic in (False, True):
                self.write(bar(dynamic=dynamic, solver={"quadrature": quadrature}))
                for threads in ("1", "2", "8"):
                    self.succeed("simulate", "bar.json", "-o", threads + ".supple", "--threads", threads,
                                 "--discard-cache")
                frames = sorted((self.folder / "1.supple/frames").iterdir())
                self.assertEqual(len(frames), 6)
                for frame in frames:
                    for threads in ("2", "8"):
                        self.assertEqual(frame.read_bytes(),
                                         (self.folder / f"{threads}.supple/frames" / frame.name).read_bytes())
                ends.add(frames[-1].read_bytes())
                # One point leaves modes without stiffness, along which a solve need not end.
                if quadrature != "one_point":
                    report = json.loads((self.folder / "1.supple/report.json").read_text())
                    self.assertEqual([frame["warnings"] for frame in report["frames"]], [[]] * 6)
        self.assertEqual(len(ends), 6)
        self.refuse(3, "simulate", self.write(bar(solver={"quadrature": "eight_points"})),
                    says=["body.solver.quadrature", "did you mean 'eight_point'"])
        self.refuse(3, "simulate", self.write(bar(type="voxels", solver={"quadrature": "eight_point"})),
                    says=["body.solver.quadrature", "is for bodies of type 'lattice'"])

    def kill_run_after(self, count):
        """A run of the same scene that is interrupted by its own progress."""
        run = subprocess.Popen([PROGRAM, "simulate", "bar.json", "-o", "cut.supple", "--progress", "plain"],
                               cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        for _ in range(count):
            run.stdout.readline()
        run.send_signal(signal.SIGTERM)
        run.communicate()

    def test_meshes_are_filled_too(self):
        self.succeed("convert", self.cache_of_a_box(), "-o", "objs/")
        mesh = sorted((self.folder / "objs").glob("*.obj"))[0]
        scene = bar()
        scene["character"] = str(mesh)
        self.succeed("simulate", self.write(scene, "mesh.json"))
        self.succeed("inspect", "mesh.supple")

    def cache_of_a_box(self):
        scene = bar()
        scene["frames"]["last"] = 1001
        self.succeed("simulate", self.write(scene, "box.json"))
        return "box.supple"

    def test_mistakes_name_the_field_and_the_body(self):
        scene = bar()
        scene["body"]["fixed"][0]["select"]["plane"]["point"] = [-3, 0, 0]
        self.refuse(3, "simulate", self.write(scene), says=["bar.json", "body.fixed[0].select", "catches no node",
                                                           "from -0.5 -0.125 -0.125"])
        self.refuse(3, "simulate", self.write(bar(young=-1)), says=["body.young", "-1"])
        self.refuse(3, "simulate", self.write(bar(yung=1)), says=["body.yung", "did you mean 'young'"])
        self.refuse(3, "simulate", self.write(bar(fixed=[])), says=["body.fixed", "against gravity"])
        scene = bar()
        scene["character"]["file"] = "wriggler.glb"
        self.refuse(3, "simulate", self.write(scene), says=["character.shape", "wriggler.glb"])
        scene["character"] = {"shape": {"type": "tube", "radius": 2, "ring": 1}}
        self.refuse(3, "simulate", self.write(scene), says=["character.shape.radius"])

    def test_examples_run(self):
        listed = self.succeed("example", "--list")
        for name in ("bar", "jelly"):
            self.assertIn(name, listed)
            self.succeed("example", name)
            path = self.folder / name / f"{name}.json"
            scene = json.loads(path.read_text())
            scene["body"]["cells"] = 8
            scene["frames"]["last"] = 4
            self.write(scene, f"{name}.json")
            self.succeed("simulate", f"{name}.json")
            self.succeed("inspect", str(path))
            self.succeed("example", name)  # again, over what it wrote
            path.write_text("{}")
            self.refuse(4, "example", name, says=[f"{name}.json"])
        self.refuse(2, "example", "bar", "new", "--vertices", "9000", says=["--vertices"])


if __name__ == "__main__":
    unittest.main()
