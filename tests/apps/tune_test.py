"""supple tune: measuring and turning dials from the command line, and the same inside simulate."""
import json
import unittest

from support import ProgramTest


def post(frames=60, **adjust):
    """A post whose foot is jerked aside."""
    return {"character": {"shape": {"type": "box", "centre": [0, 0.4, 0], "size": [0.16, 0.8, 0.16], "edge": 0.08}},
            "body": {"type": "tets", "young": 4e5, "poisson": 0.3, "size": 0.8,
                     "tets": {"elements": 150, "law": "linear", "dynamics": "implicit", "stiffness_damping": 0.01},
                     "gravity": [3, -9, 0],
                     "fixed": [{"select": {"plane": {"point": [0, 0.12, 0], "normal": [0, -1, 0]}},
                                "motion": [{"translate": [0.3, 0, 0], "keys": [[0, 0], [0.25, 1]],
                                            "ramp": "linear"}]}],
                     "adjust": adjust},
            "frames": {"first": 1, "last": frames, "rate": 48}}


class TuneTest(ProgramTest):
    def write(self, name, scene):
        (self.folder / name).write_text(json.dumps(scene))

    def test_tunes_and_simulates(self):
        self.write("post.json", post())
        told = self.run_program("tune", "post.json", "--frequency", "0.5x", "--sag", "50%", "-o", "slow.json",
                                "--plot", "swing.csv")
        self.assertEqual(told[0], 0, told[2])
        rows = {line.split()[0]: line.split() for line in told[1].splitlines()}
        for name, ratio in (("frequency", 0.5), ("amplitude", 1), ("sag", 0.5), ("half-life", 1)):
            self.assertAlmostEqual(float(rows[name][4].rstrip("x")), ratio, delta=0.02 * ratio, msg=told[1])
        tuned = json.loads((self.folder / "slow.json").read_text())["body"]["adjust"]
        self.assertEqual((tuned["frequency"], tuned["sag"]), (0.5, 0.5))
        self.assertGreater(tuned["inertia"], 0)
        self.assertGreater(len((self.folder / "swing.csv").read_text().splitlines()), 50)
        # What was tuned, and what tunes itself, are the same frames.
        self.write("self.json", post(frequency=0.5, sag=0.5))
        self.succeed("simulate", "slow.json", "-o", "a.supple")
        self.succeed("simulate", "self.json", "-o", "b.supple")
        for frame in (1, 20, 60):
            name = f"frames/{frame}.chunk"
            self.assertEqual((self.folder / "a.supple" / name).read_bytes(),
                             (self.folder / "b.supple" / name).read_bytes())

    def test_tunes_what_stiffens_as_it_bends(self):
        scene = post(frames=150)
        scene["body"]["tets"]["law"] = "stvk"
        scene["body"]["young"] = 2e6
        scene["body"]["fixed"][0]["motion"][0]["translate"] = [0.6, 0, 0]
        self.write("post.json", scene)
        told = self.run_program("tune", "post.json", "--half-life", "0.5x", "--amplitude", "1.5x")
        self.assertEqual(told[0], 0, told[2])
        rows = {line.split()[0]: line.split() for line in told[1].splitlines()}
        for name, ratio, within in (("frequency", 1, 0.1), ("amplitude", 1.5, 0.03), ("half-life", 0.5, 0.1)):
            self.assertAlmostEqual(float(rows[name][4].rstrip("x")), ratio, delta=within * ratio, msg=told[1])

    def test_tunes_lattices_and_says_why_not_voxels(self):
        scene = post(frames=90)
        del scene["body"]["tets"]
        # A twentieth of the jerk: small swings of cells are linear.
        scene["body"].update({"type": "lattice", "spacing": 0.08, "gravity": [0.15, -0.45, 0],
                              "lattice": {"integrator": "tr_bdf2", "stiffness_damping": 0.01}})
        scene["body"]["fixed"][0]["motion"][0]["translate"] = [0.015, 0, 0]
        self.write("post.json", scene)
        told = self.run_program("tune", "post.json", "--frequency", "1.5x", "-o", "quick.json")
        self.assertEqual(told[0], 0, told[2])
        rows = {line.split()[0]: line.split() for line in told[1].splitlines()}
        for name, ratio in (("frequency", 1.5), ("amplitude", 1), ("sag", 1), ("half-life", 1)):
            self.assertAlmostEqual(float(rows[name][4].rstrip("x")), ratio, delta=0.02 * ratio, msg=told[1])
        self.succeed("simulate", "quick.json", "--frames", "1-5", "-o", "quick.supple")
        scene["body"]["type"] = "voxels"
        scene["body"]["adjust"] = {"frequency": 2, "inertia": 1}
        self.write("voxels.json", scene)
        status, _, told = self.run_program("simulate", "voxels.json")
        self.assertNotEqual(status, 0)
        self.assertIn("one linear solve", told)

    def test_refuses_with_the_reason(self):
        self.write("post.json", post(frames=4))
        for options, words in ((["--frequency", "0"], "frequency"), (["--frequency=-1x"], "greater than 0"),
                               (["--sag", "much"], "not a ratio"), (["--half-life", "0"], "half-life")):
            status, _, told = self.run_program("tune", "post.json", *options)
            self.assertNotEqual(status, 0)
            self.assertIn(words, told)
        for options, words in ((["--inertia", "-1x"], "0 or more"), (["--inertia", "2", "--amplitude", "2"], "--inertia"),
                               (["--frames", "6-2"], "--frames"), (["--frames", "now"], "--frames")):
            status, _, told = self.run_program("tune", "post.json", *options)
            self.assertNotEqual(status, 0)
            self.assertIn(words, told)
        still = post(frames=4)
        del still["body"]["fixed"][0]["motion"]
        self.write("still.json", still)
        status, _, told = self.run_program("tune", "still.json", "--amplitude", "2x")
        self.assertNotEqual(status, 0)
        self.assertIn("does not move", told)
        loose = post(frames=4)
        del loose["body"]["fixed"]
        self.write("loose.json", loose)
        status, _, told = self.run_program("tune", "loose.json")
        self.assertNotEqual(status, 0)
        self.assertIn("nothing holds the body", told)


if __name__ == "__main__":
    unittest.main()
