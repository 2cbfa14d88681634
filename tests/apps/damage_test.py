"""Damaged files through the real program: an answer or one line of error, never a crash or a hang.
SUPPLE_SOAK tries many more."""
import json
import random
import time
import unittest

from support import BVH, SLOW, SOAK, TETRAHEDRON, ProgramTest, obj, rigged_tetrahedron

TRIES = 400 if SOAK else 12
LONGEST = 10 * SLOW  # seconds


class Damage(ProgramTest):
    def damaged(self, whole, luck):
        """A copy cut off, with flipped bits, with bytes overwritten, or with a piece repeated."""
        data = bytearray(whole)
        kind = luck.randrange(4)
        if kind == 0:
            return data[:luck.randrange(len(data))]
        at = luck.randrange(len(data))
        if kind == 1:
            for _ in range(luck.choice((1, 3, 20))):
                data[luck.randrange(len(data))] ^= 1 << luck.randrange(8)
        elif kind == 2:
            data[at:at + 4] = luck.choice((b"\xff\xff\xff\xff", b"\0\0\0\0", b"\xff\xff\xff\x7f"))
        else:
            data[at:at] = data[at:at + luck.randrange(1, 200)]
        return data

    def try_damage(self, name, whole, *commands, codes=(0, 3)):
        # The same damage on every run of `make test`; fresh damage in every soak.
        seed = random.randrange(1 << 32) if SOAK else len(whole)
        luck = random.Random(seed)
        path = self.folder / name
        refused = 0
        for number in range(TRIES):
            data = self.damaged(whole, luck)
            path.write_bytes(data)
            command = commands[number % len(commands)]
            start = time.monotonic()
            code, _, err = self.run_program(*command)
            told = f"seed {seed}, try {number}, {command}: {code} {err}"
            self.assertIn(code, codes, told)
            self.assertLess(time.monotonic() - start, LONGEST, told)
            errors = [line for line in err.splitlines()
                      if not line.startswith(("info: ", "warning: "))]
            self.assertEqual(len(errors), 1 if code else 0, told)
            if code:
                self.assertRegex(errors[0], r"^error: [^:]+: ", told)  # names a file
                refused += 1
        self.assertGreater(refused, 0, "nothing was refused: was anything damaged?")

    def test_glb(self):
        out = ["-o", "x.supple", "-q", "--frames", "1-3"]
        self.try_damage("tet.glb", rigged_tetrahedron(clip="turn"), ["inspect", "tet.glb"],
                        ["simulate", "tet.glb", *out])

    def test_obj(self):
        self.try_damage("tet.obj", obj(*TETRAHEDRON).encode(), ["inspect", "tet.obj"],
                        ["simulate", "tet.obj", "-q", "-o", "x.supple"])

    def test_bvh(self):
        (self.folder / "legs.glb").write_bytes(rigged_tetrahedron())
        self.try_damage("walk.bvh", BVH.encode(), ["inspect", "walk.bvh"],
                        ["simulate", "legs.glb", "--motion", "walk.bvh", "-q", "--frames", "1-3"])

    def test_scene(self):
        scene = json.dumps({"name": "x", "character": {"file": "wriggler.glb", "clip": "wriggle"},
                            "body": {"type": "skinning"}, "frames": {"first": 1, "last": 3},
                            "output": {"files": ["x.supple"], "checkpoint_every": 2}}, indent=1)
        self.try_damage("scene.json", scene.encode(), ["inspect", "scene.json"],
                        ["simulate", "scene.json", "--dry-run", "-q", "--frames", "1-3"],
                        codes=(0, 3, 4))  # 4: a damaged output name that cannot be written

    def test_caches(self):
        self.succeed("simulate", "wriggler.glb", "--frames", "1-3", "-o", "x.supple")
        for name in ("index.json", "static.chunk", "frames/2.chunk"):
            whole = (self.folder / "x.supple" / name).read_bytes()
            self.try_damage("x.supple/" + name, whole,
                            ["convert", "x.supple", "-o", "x.pc2", "-q"])
            (self.folder / "x.supple" / name).write_bytes(whole)


if __name__ == "__main__":
    unittest.main()
