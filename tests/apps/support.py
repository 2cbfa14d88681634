"""What the tests of the command line share: running the program, and small files to feed it."""
import hashlib
import json
import os
import pathlib
import shutil
import struct
import subprocess
import tempfile
import unittest

PROGRAM = os.path.abspath(os.environ.get("SUPPLE_PROGRAM", "build/release/supple"))
WRIGGLER = os.path.abspath(os.environ.get("SUPPLE_WRIGGLER", "build/release/make_wriggler"))
SOAK = bool(os.environ.get("SUPPLE_SOAK"))
SOURCE = pathlib.Path(__file__).resolve().parents[2]
# Memory instead of a disk where there is some: caches are synced frame by frame.
FAST = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
SLOW = 10 if os.environ.get("SUPPLE_SANITIZE") else 1  # how many times longer a sanitizer may take
LIMIT = 60 * SLOW  # seconds any single command may take


class ProgramTest(unittest.TestCase):
    """Every test runs in a fresh working folder that holds wriggler.glb."""

    place = FAST

    @classmethod
    def setUpClass(cls):
        cls.models = tempfile.TemporaryDirectory(dir=cls.place)
        subprocess.run([WRIGGLER, cls.models.name + "/wriggler.glb", "24"], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.models.cleanup()

    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir=self.place)
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        shutil.copy(self.models.name + "/wriggler.glb", self.folder)

    def run_program(self, *arguments, folder=None, **options):
        """Runs supple; returns exit code, standard output and standard error. What is tested here
        is the way of files and frames: characters get no flesh unless a test asks for it."""
        if arguments[:1] == ("simulate",) and "--body" not in arguments and len(arguments) > 1:
            if pathlib.Path(str(arguments[1])).suffix in (".glb", ".gltf", ".fbx"):
                arguments = (*arguments[:2], "--body", "skinning", *arguments[2:])
        result = subprocess.run([PROGRAM, *map(str, arguments)], cwd=folder or self.folder,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, timeout=LIMIT, **options)
        return (result.returncode, result.stdout.decode(errors="replace"),
                result.stderr.decode(errors="replace"))

    def succeed(self, *arguments, **options):
        """Runs supple, which must succeed; returns standard output."""
        code, out, err = self.run_program(*arguments, **options)
        self.assertEqual(code, 0, f"{arguments}: {err}")
        return out

    def refuse(self, expected, *arguments, says=(), **options):
        """Runs supple, which must end with that code and one line that says all of `says`."""
        code, _, err = self.run_program(*arguments, **options)
        lines = [line for line in err.splitlines() if not line.startswith(("info:", "warning:"))]
        self.assertEqual((code, len(lines)), (expected, 1), f"{arguments}: {err}")
        self.assertTrue(lines[0].startswith("error: "), lines[0])
        for word in [says] if isinstance(says, str) else says:
            self.assertIn(word, lines[0])
        return lines[0]

    def scene(self, name="scene.json", **fields):
        """Writes a scene around wriggler.glb."""
        content = {"character": "wriggler.glb", "body": "skinning"}
        content.update(fields)
        (self.folder / name).write_text(json.dumps(content))
        return name


def snapshot(folder, without=()):
    """Checksums of all files below a folder, by relative name."""
    folder = pathlib.Path(folder)
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(folder.rglob("*"))
            if path.is_file() and path.name not in without}


def cache_files(folder):
    """A cache's files but the report, which holds times."""
    return snapshot(folder, without=("report.json",))


def report(folder):
    """report.json of a cache."""
    return json.loads((pathlib.Path(folder) / "report.json").read_text())


def read_chunk_names(path):
    """The names of a chunk's arrays."""
    data = pathlib.Path(path).read_bytes()
    count, names, at = struct.unpack_from("<I", data, 12)[0], [], 32
    for _ in range(count):
        names.append(data[at + 1:at + 1 + data[at]].decode())
        at += 1 + data[at] + 21
    return names


def glb(document, binary):
    """A .glb file from its JSON and its buffer."""
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    binary += b"\0" * (-len(binary) % 4)
    length = 12 + 8 + len(text) + 8 + len(binary)
    return (struct.pack("<III", 0x46546C67, 2, length) + struct.pack("<II", len(text), 0x4E4F534A) +
            text + struct.pack("<II", len(binary), 0x004E4942) + binary)


TETRAHEDRON = ([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)],
               [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])


def obj(points, triangles):
    """An OBJ file."""
    lines = ["v %g %g %g" % tuple(p) for p in points]
    lines += ["f %d %d %d" % tuple(i + 1 for i in t) for t in triangles]
    return "\n".join(lines) + "\n"


def rigged_tetrahedron(bone_length=0.5, scale=1.0, joints=("hip", "knee"), clip=None):
    """A .glb of a tetrahedron on two bones; `clip` names an animation that turns the second."""
    points, triangles = TETRAHEDRON
    positions = b"".join(struct.pack("<3f", *(scale * c for c in p)) for p in points)
    indices = b"".join(struct.pack("<3H", *t) for t in triangles)
    bones = b"".join(struct.pack("<4B", 0, 1, 0, 0) for _ in points)
    weights = b"".join(struct.pack("<4f", 0.5, 0.5, 0, 0) for _ in points)
    times = struct.pack("<2f", 0, 0.5)
    turns = struct.pack("<8f", 0, 0, 0, 1, 0, 0, 0.7071068, 0.7071068)
    blocks = [positions, indices, bones, weights, times, turns]
    kinds = [(5126, 4, "VEC3"), (5123, 12, "SCALAR"), (5121, 4, "VEC4"), (5126, 4, "VEC4"),
             (5126, 2, "SCALAR"), (5126, 2, "VEC4")]
    binary, views, accessors = b"", [], []
    for block, (component, count, kind) in zip(blocks, kinds):
        views.append({"buffer": 0, "byteOffset": len(binary), "byteLength": len(block)})
        accessors.append({"bufferView": len(views) - 1, "componentType": component, "count": count,
                          "type": kind})
        binary += block + b"\0" * (-len(block) % 4)
    accessors[0].update(min=[0, 0, 0], max=[scale] * 3)
    accessors[4].update(min=[0], max=[0.5])
    document = {
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0, 1]}],
        "nodes": [{"name": "mesh", "mesh": 0, "skin": 0}, {"name": joints[0], "children": [2]},
                  {"name": joints[1], "translation": [0, bone_length * scale, 0]}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "JOINTS_0": 2, "WEIGHTS_0": 3},
                                    "indices": 1}]}],
        "skins": [{"joints": [1, 2]}], "buffers": [{"byteLength": len(binary)}],
        "bufferViews": views, "accessors": accessors}
    if clip is not None:
        document["animations"] = [{
            "name": clip, "samplers": [{"input": 4, "output": 5}],
            "channels": [{"sampler": 0, "target": {"node": 2, "path": "rotation"}}]}]
    return glb(document, binary)


BVH = """HIERARCHY
ROOT hip
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT knee
  {
    OFFSET 0 -0.5 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {
      OFFSET 0 -0.5 0
    }
  }
}
MOTION
Frames: 3
Frame Time: 0.041666667
0 1 0 0 0 0 0 0 0
0 1 0.1 0 0 0 10 0 0
0 1 0.2 0 0 0 20 0 0
"""
