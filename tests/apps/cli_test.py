"""The command line as a demanding user meets it: every command, every output, every mistake."""
import json
import os
import pty
import re
import shutil
import subprocess
import unittest

from support import (BVH, LIMIT, PROGRAM, SOURCE, TETRAHEDRON, ProgramTest, cache_files, obj,
                     report, rigged_tetrahedron, snapshot)

COMMANDS = ["simulate", "view", "inspect", "convert", "rig", "example", "schema", "completion", "version"]
SHORT = ["--frames", "1-4"]


class Help(ProgramTest):
    def test_every_command_explains_itself_within_80_columns(self):
        for command in [[], *([name] for name in COMMANDS)]:
            text = self.succeed(*command, "--help")
            self.assertIn("EXAMPLES", text)
            self.assertIn("EXIT CODES", text)
            self.assertIn("130 interrupted", text)
            if command:
                self.assertIn("supple " + command[0], text.split("EXAMPLES")[1])
            for line in text.splitlines():
                self.assertLessEqual(len(line), 80, line)

    def test_examples_name_options_that_exist(self):
        for command in COMMANDS:
            text = self.succeed(command, "--help")
            for example in re.findall(r"^  supple (.*)$", text.split("EXAMPLES")[1], re.M):
                words = example.split("   ")[0].split()
                known = self.succeed(words[0], "--help").split("EXAMPLES")[0]
                for flag in (word for word in words if word.startswith("-")):
                    self.assertIn(flag, known, example)

    def test_version(self):
        short = self.succeed("--version")
        self.assertRegex(short, r"^supple \d+\.\d+\.\d+\n$")
        self.assertTrue(self.succeed("version").startswith(short))

    def test_schema_is_the_documented_one(self):
        schema = self.succeed("schema")
        self.assertIn("properties", json.loads(schema))
        documented = SOURCE / "docs" / "scene.schema.json"
        if documented.exists():
            self.assertEqual(json.loads(schema), json.loads(documented.read_text()))


class Usage(ProgramTest):
    def test_mistakes_on_the_command_line(self):
        for says, *arguments in [
                ("a command is required",),
                ("did you mean 'simulate'?", "simulat", "wriggler.glb"),
                ("input is required", "simulate"),
                ("'simulate --help'"[1:-1], "simulate"),
                ("did you mean '--frames'?", "simulate", "wriggler.glb", "--frmaes", "3"),
                ("'more'", "simulate", "wriggler.glb", "more"),
                ("name is empty", "simulate", ""),
                ("name is empty", "simulate", "wriggler.glb", "-o", ""),
                ("--output", "simulate", "wriggler.glb", "-o"),
                ("--output is required", "convert", "x.supple"),
                ("not FIRST", "simulate", "wriggler.glb", "--frames", "abc"),
                ("before the first", "simulate", "wriggler.glb", "--frames", "10-5"),
                ("greater than 0", "simulate", "wriggler.glb", "--scale", "0"),
                ("greater than 0", "simulate", "wriggler.glb", "--scale", "nan"),
                ("from 0.001", "simulate", "wriggler.glb", "--fps", "0"),
                ("from 0.001", "simulate", "wriggler.glb", "--fps", "inf"),
                ("--threads", "simulate", "wriggler.glb", "--threads", "-1"),
                ("did you mean 'linear'?", "simulate", "wriggler.glb", "--skinning", "liner"),
                ("one of y, z", "simulate", "wriggler.glb", "--up", "x"),
                ("skinning", "simulate", "wriggler.glb", "--body", "jelly"),
                ("one of bash, zsh", "completion", "fish"),
                (".pc2", "simulate", "wriggler.glb", "-o", "x.abc"),
                (".usda", "simulate", "wriggler.glb", "-o", "x.usdc"),
                (".glb", "simulate", "wriggler.glb", "-o", "x.fbx"),
                ("two caches", "simulate", "wriggler.glb", "-o", "a.supple", "-o", "b.supple")]:
            self.refuse(2, *arguments, says=says)
        self.assertEqual(os.listdir(self.folder), ["wriggler.glb"])

    def test_the_input_is_never_overwritten(self):
        before = snapshot(self.folder)
        self.refuse(2, "simulate", "wriggler.glb", "-o", "./wriggler.glb", says="input")
        self.assertEqual(snapshot(self.folder), before)
        os.symlink("wriggler.glb", self.folder / "link.glb")
        self.refuse(2, "simulate", "wriggler.glb", "-o", "link.glb", says="input")
        self.succeed("simulate", "wriggler.glb", *SHORT)
        self.refuse(2, "convert", "wriggler.supple", "-o", "wriggler.glb", says="input")
        self.assertEqual(snapshot(self.folder)["wriggler.glb"], before["wriggler.glb"])


class BadInput(ProgramTest):
    def test_files_that_are_not_there_or_something_else(self):
        (self.folder / "text.glb").write_text("hello\n")
        (self.folder / "text.obj").write_text("hello\n")
        (self.folder / "text.bvh").write_text("hello\n")
        (self.folder / "text.json").write_text("hello\n")
        (self.folder / "text.fbx").write_text("hello\n")
        (self.folder / "text.xyz").write_text("hello\n")
        for extension in ("glb", "obj", "json", "fbx"):
            (self.folder / ("empty." + extension)).write_bytes(b"")
        (self.folder / "folder.glb").mkdir()
        for name in ("missing.glb", "missing", "missing.json", "text.glb", "text.obj", "text.json",
                     "text.fbx", "text.xyz", "empty.glb", "empty.obj", "empty.json", "empty.fbx",
                     "folder.glb", "text.bvh"):
            self.refuse(3, "simulate", name, says=name)
            self.refuse(3, "inspect", name, says=name)
        self.refuse(3, "simulate", "wriggler.glb", "--motion", "missing.bvh", says="missing.bvh")
        self.refuse(3, "simulate", "wriggler.glb", "--motion", "text.bvh", says="text.bvh")
        self.refuse(3, "convert", "missing.supple", "-o", "a.pc2", says="missing.supple")
        self.refuse(3, "convert", "wriggler.glb", "-o", "a.pc2", says="not a cache")
        self.refuse(3, "simulate", "text.bvh", says="--motion")

    def test_a_misspelt_clip(self):
        self.refuse(3, "simulate", "wriggler.glb", "--clip", "wrigle",
                    says=["wriggler.glb", "'wriggle'"])
        self.refuse(3, "simulate", "wriggler.glb", "--clip", "nothing like it", says="wriggle")

    def test_unknown_fields_of_scenes(self):
        self.scene(frame={"last": 3})
        self.refuse(3, "simulate", "scene.json", says=["scene.json", "'frames'"])
        self.scene(frames={"lsat": 3})
        self.refuse(3, "simulate", "scene.json", says=["frames.lsat", "'last'"])
        self.scene(body="skining")
        self.refuse(3, "simulate", "scene.json", says=["body", "'skinning'"])
        self.scene(frames={"rate": -1})
        self.refuse(3, "simulate", "scene.json", says="frames.rate")
        self.scene(output={"files": ["x.abc"]})
        self.refuse(3, "simulate", "scene.json", says=["output.files", "Alembic"])

    def test_a_failed_run_leaves_everything_as_it_was(self):
        self.succeed("simulate", "wriggler.glb", *SHORT, "-o", "old.pc2")
        (self.folder / "bad.glb").write_text("hello\n")
        before = snapshot(self.folder)
        self.refuse(3, "simulate", "bad.glb", "-o", "old.pc2")
        self.refuse(3, "simulate", "wriggler.glb", "--clip", "none", "-o", "old.pc2")
        self.refuse(2, "simulate", "wriggler.glb", "-o", "old.pc2", "-o", "new.abc")
        self.refuse(4, "simulate", "wriggler.glb", "-o", "old.pc2", "-o", "bad.glb/new.pc2")
        self.assertEqual(snapshot(self.folder), before)


class CannotWrite(ProgramTest):
    def test_places_that_cannot_be_written(self):
        for place in ("wriggler.glb/x.pc2", "wriggler.glb/x.supple", "/proc/x.pc2",
                      "/proc/x.supple", "/proc/new/x.usda", "wriggler.glb/"):
            self.refuse(4, "simulate", "wriggler.glb", "-o", place)
            self.refuse(4, "simulate", "wriggler.glb", "-o", place, "--dry-run")
        self.refuse(4, "simulate", "wriggler.glb", "-o", "x" * 300 + ".pc2", says="too long")
        (self.folder / "taken.pc2").mkdir()
        self.refuse(4, "simulate", "wriggler.glb", "-o", "taken.pc2", says="folder")
        self.assertEqual(sorted(os.listdir(self.folder)), ["taken.pc2", "wriggler.glb"])

    def test_exports_are_checked_before_the_first_frame(self):
        code, out, _ = self.run_program("simulate", "wriggler.glb", "-o", "a.supple",
                                        "-o", "/proc/x.pc2")
        self.assertEqual((code, out), (4, ""))
        self.assertFalse((self.folder / "a.supple").exists())

    def test_a_folder_that_is_not_a_cache_is_left_alone(self):
        precious = self.folder / "wriggler.supple"
        precious.mkdir()
        (precious / "thesis.txt").write_text("years of work")
        (precious / "frames").mkdir()
        (precious / "frames" / "1.png").write_text("picture")
        before = snapshot(precious)
        for extra in ([], ["--resume"], ["--dry-run"], ["-o", "wriggler.pc2"]):
            self.refuse(4, "simulate", "wriggler.glb", *extra, says="not a cache")
        self.assertEqual(snapshot(precious), before)
        shutil.rmtree(precious)
        precious.write_text("a file")
        self.refuse(4, "simulate", "wriggler.glb", says="wriggler.supple")
        self.assertEqual(precious.read_text(), "a file")

    def test_standard_output_on_a_full_disk(self):
        with open("/dev/full", "wb") as full:
            for arguments in (["inspect", "wriggler.glb"], ["schema"], ["--help"]):
                result = subprocess.run([PROGRAM, *arguments], cwd=self.folder, stdout=full,
                                        stderr=subprocess.PIPE, timeout=LIMIT)
                self.assertEqual(result.returncode, 4, arguments)
                self.assertIn(b"standard output", result.stderr)


class Simulate(ProgramTest):
    def test_a_character_alone(self):
        out = self.succeed("simulate", "wriggler.glb")
        self.assertIn("wrote wriggler.supple: 97 frames", out)
        self.assertEqual(sorted(os.listdir(self.folder)), ["wriggler.glb", "wriggler.supple"])
        self.assertEqual(len(os.listdir(self.folder / "wriggler.supple" / "frames")), 97)

    def test_every_kind_of_export_at_once(self):
        names = ["a.glb", "b.pc2", "c.mdd", "d.usda", "e.pvd", "objs/", "named.obj", "new/f/g.pc2"]
        outputs = [word for name in names for word in ("-o", name)]
        out = self.succeed("simulate", "wriggler.glb", *SHORT, *outputs)
        for name in names:
            self.assertIn("wrote " + name, out)
        for name in ("a.glb", "b.pc2", "c.mdd", "d.usda", "e.pvd", "objs/wriggler.0001.obj",
                     "named.0004.obj", "new/f/g.pc2", "a.supple/index.json"):
            self.assertTrue((self.folder / name).is_file(), name)
        # Made later from the cache, they are the same bytes.
        (self.folder / "later").mkdir()
        moved = [word for name in names for word in ("-o", "later/" + name)]
        self.succeed("convert", "a.supple", *moved)
        later = snapshot(self.folder / "later")
        first = {name: value for name, value in snapshot(self.folder).items()
                 if not name.startswith(("later/", "a.supple/", "wriggler.glb"))}
        self.assertEqual(later, first)
        self.assertGreater(len(later), 12)

    def test_names_of_caches(self):
        for outputs, cache in [(["walk.pc2"], "walk.supple"), (["take.1/"], "take.1.supple"),
                               (["objs"], "objs.supple"), (["./"], "wriggler.supple"),
                               (["deep/er/x.pc2", "y.supple"], "y.supple"),
                               (["hero.v2.pc2"], "hero.v2.supple")]:
            self.succeed("simulate", "wriggler.glb", *SHORT,
                         *(word for name in outputs for word in ("-o", name)))
            self.assertTrue((self.folder / cache / "index.json").is_file(), cache)
            shutil.rmtree(self.folder / cache)

    def test_frames(self):
        for given, first, count in [("1001-1010", 1001, 10), ("1001", 1001, 97), ("-5-2", -5, 8),
                                    ("-5--2", -5, 4), ("-3:1", -3, 5), ("7-7", 7, 1)]:
            self.succeed("simulate", "wriggler.glb", "-q", "--frames", given, "-o", "x.supple")
            facts = json.loads(self.succeed("inspect", "x.supple", "--json"))
            self.assertEqual((facts["first"], facts["frames"]), (first, count), given)

    def test_fps(self):
        self.succeed("simulate", "wriggler.glb", "-q", "--fps", "12")
        facts = json.loads(self.succeed("inspect", "wriggler.supple", "--json"))
        self.assertEqual((facts["rate"], facts["frames"]), (12, 49))

    def positions(self, *arguments):
        self.succeed("simulate", "wriggler.glb", "-q", "--frames", "1-49", "-o", "x.pc2",
                     *arguments)
        import struct
        data = (self.folder / "x.pc2").read_bytes()
        count = struct.unpack_from("<i", data, 16)[0]
        return [struct.unpack_from("<3f", data, len(data) - 12 * (i + 1)) for i in range(count)]

    def test_scale_up_and_skinning_change_what_they_should(self):
        plain = self.positions()
        for point, scaled in zip(plain, self.positions("--scale", "2")):
            for a, b in zip(point, scaled):
                self.assertAlmostEqual(2 * a, b, places=4)
        for (x, y, z), turned in zip(plain, self.positions("--up", "z")):
            for a, b in zip((x, -z, y), turned):
                self.assertAlmostEqual(a, b, places=5)
        dual = self.positions("--skinning", "dual_quaternion")
        apart = max(abs(a - b) for p, q in zip(plain, dual) for a, b in zip(p, q))
        self.assertGreater(apart, 1e-3)
        self.assertLess(apart, 0.2)

    def test_threads_do_not_matter(self):
        seen = []
        for threads in (1, 2, 5):
            self.succeed("simulate", "wriggler.glb", "-q", "--threads", threads, "-o", "x.supple")
            seen.append(cache_files(self.folder / "x.supple"))
        self.assertEqual(seen[0], seen[1])
        self.assertEqual(seen[0], seen[2])
        self.assertGreater(len(seen[0]), 97)

    def test_discard_cache(self):
        self.succeed("simulate", "wriggler.glb", *SHORT, "-o", "x.pc2", "--discard-cache")
        self.assertEqual(sorted(os.listdir(self.folder)), ["wriggler.glb", "x.pc2"])

    def test_dry_run_writes_nothing_and_estimates(self):
        out = self.succeed("simulate", "wriggler.glb", "--dry-run", "-o", "new/x.pc2")
        for word in ("time", "memory", "disk", "97 (1 to 97)", "new/x.supple", "new/x.pc2"):
            self.assertIn(word, out)
        self.assertEqual(os.listdir(self.folder), ["wriggler.glb"])

    def test_motion_capture(self):
        (self.folder / "legs.glb").write_bytes(rigged_tetrahedron())
        (self.folder / "walk.bvh").write_text(BVH)
        code, _, err = self.run_program("simulate", "legs.glb", "--motion", "walk.bvh", "-v")
        self.assertEqual(code, 0, err)
        self.assertIn("hip follows hip", err)
        self.assertIn("knee follows knee", err)
        facts = json.loads(self.succeed("inspect", "legs.supple", "--json"))
        self.assertEqual(facts["frames"], 3)

    def test_meshes_without_animation(self):
        (self.folder / "tet.obj").write_text(obj(*TETRAHEDRON))
        code, out, err = self.run_program("simulate", "tet.obj")
        self.assertEqual(code, 0, err)
        self.assertIn("1 frames", out)
        self.assertIn("no animation", err)

    def test_names_with_spaces_umlauts_and_links(self):
        folder = self.folder / "Bäume & Co"
        folder.mkdir()
        (folder / "Läufer 1.glb").write_bytes(rigged_tetrahedron(clip="läuft 走る"))
        os.symlink(folder / "Läufer 1.glb", self.folder / "link.glb")
        self.succeed("simulate", "Bäume & Co/Läufer 1.glb", "-o", "neu er/Größe.pc2")
        self.succeed("simulate", "link.glb", "--clip", "läuft 走る")
        self.assertIn("läuft 走る", self.succeed("inspect", "link.glb"))
        self.assertTrue((self.folder / "neu er" / "Größe.supple" / "index.json").is_file())
        self.assertTrue((self.folder / "link.supple" / "index.json").is_file())

    def test_a_cache_reached_through_a_link(self):
        (self.folder / "disk").mkdir()
        os.symlink("disk", self.folder / "x.supple")
        self.succeed("simulate", "wriggler.glb", *SHORT, "-o", "x.supple")
        self.assertTrue((self.folder / "disk" / "index.json").is_file())


class Scenes(ProgramTest):
    def test_paths_are_relative_to_the_scene_file(self):
        (self.folder / "elsewhere").mkdir()
        self.scene(frames={"first": 1001, "last": 1003},
                   output={"files": ["out/x.pc2", "out/objs/"]})
        self.succeed("simulate", "../scene.json", folder=self.folder / "elsewhere")
        for name in ("x.pc2", "x.supple/index.json", "objs/wriggler.1001.obj"):
            self.assertTrue((self.folder / "out" / name).is_file(), name)
        self.assertEqual(os.listdir(self.folder / "elsewhere"), [])

    def test_the_command_line_overrides_the_scene(self):
        self.scene(frames={"first": 1001, "last": 1003}, output={"files": ["x.pc2"]})
        self.succeed("simulate", "scene.json", "--frames", "5-6", "-o", "y.mdd")
        self.assertEqual(sorted(os.listdir(self.folder)),
                         ["scene.json", "wriggler.glb", "y.mdd", "y.supple"])
        facts = json.loads(self.succeed("inspect", "y.supple", "--json"))
        self.assertEqual((facts["first"], facts["last"]), (5, 6))

    def test_a_scene_and_the_same_on_the_command_line_give_the_same_frames(self):
        self.scene("wriggler.json", character={"file": "wriggler.glb", "skinning":
                                               "dual_quaternion"}, frames={"last": 5})
        self.succeed("simulate", "wriggler.json", "-o", "a.supple")
        self.succeed("simulate", "wriggler.glb", "--frames", "1-5", "--skinning",
                     "dual_quaternion", "-o", "b.supple")
        self.assertEqual(cache_files(self.folder / "a.supple"),
                         cache_files(self.folder / "b.supple"))


class Progress(ProgramTest):
    def test_json_lines(self):
        out = self.succeed("simulate", "wriggler.glb", "--frames", "1001-1010", "--progress=json",
                           "-o", "x.pc2")
        lines = [json.loads(line) for line in out.splitlines()]
        frames = [line for line in lines if line["event"] == "frame"]
        self.assertEqual([line["frame"] for line in frames], list(range(1001, 1011)))
        self.assertEqual([line["done"] for line in frames], list(range(1, 11)))
        self.assertEqual({line["total"] for line in frames}, {10})
        self.assertEqual([line["file"] for line in lines if line["event"] == "wrote"],
                         ["x.pc2", "x.supple"])

    def test_plain_lines_where_there_is_no_terminal(self):
        out = self.succeed("simulate", "wriggler.glb", *SHORT)
        self.assertEqual(len(re.findall(r"^frame \d+ \(\d of 4\) [\d.]+ s$", out, re.M)), 4)
        self.assertNotIn("\r", out)
        self.assertNotIn("\033", out)

    def test_quiet(self):
        self.assertEqual(self.run_program("simulate", "wriggler.glb", *SHORT, "-q", "-o", "x.pc2"),
                         (0, "", ""))
        self.assertEqual(self.run_program("convert", "x.supple", "-o", "y.mdd", "-q"), (0, "", ""))

    def test_a_bar_on_a_terminal(self):
        try:
            main, side = pty.openpty()
        except OSError as problem:
            self.skipTest(f"no pseudo-terminals here: {problem}")
        process = subprocess.Popen([PROGRAM, "simulate", "wriggler.glb", "--body", "skinning"], cwd=self.folder,
                                   stdin=side, stdout=side, stderr=side)
        os.close(side)
        shown = b""
        while True:
            try:
                piece = os.read(main, 65536)
            except OSError:  # the other side is closed
                break
            if not piece:
                break
            shown += piece
        os.close(main)
        self.assertEqual(process.wait(60), 0)
        text = shown.decode()
        self.assertRegex(text, r"\rx?\033\[Kframe 97 \[#{24}\] 97/97 [\d.]+ frames/s, 0:00 left")
        self.assertRegex(text, r"frame 48 \[#+\.+\] 48/97")
        self.assertNotIn("frame 48 (48 of 97)", text)

    def test_nobody_listens(self):
        for arguments in (["inspect", "wriggler.glb", "--json"], ["schema"],
                          ["simulate", "wriggler.glb", "--body", "skinning"]):
            read, write = os.pipe()
            os.close(read)
            result = subprocess.run([PROGRAM, *arguments], cwd=self.folder, stdout=write,
                                    stderr=subprocess.PIPE, timeout=LIMIT)
            os.close(write)
            self.assertEqual(result.returncode, 0, arguments)
            self.assertNotIn(b"error", result.stderr)
        facts = json.loads(self.succeed("inspect", "wriggler.supple", "--json"))
        self.assertEqual(facts["frames"], 97)

    def test_closed_streams(self):
        command = f'"{PROGRAM}" simulate wriggler.glb --body skinning -o x.supple <&- >&- 2>&-'
        self.assertEqual(subprocess.run(["bash", "-c", command], cwd=self.folder).returncode, 0)
        self.succeed("simulate", "wriggler.glb", "-o", "y.supple")
        self.assertEqual(cache_files(self.folder / "x.supple"),
                         cache_files(self.folder / "y.supple"))


class Report(ProgramTest):
    def test_what_a_run_tells_about_itself(self):
        self.succeed("simulate", "wriggler.glb", "--frames", "1001-1005", "--skinning",
                     "dual_quaternion")
        told = report(self.folder / "wriggler.supple")
        self.assertEqual(told["status"], "done")
        self.assertIn(told["supple"], self.succeed("--version"))
        for fact in ("processor", "cores", "threads", "simd", "memory_gib", "peak_memory_bytes"):
            self.assertTrue(told["machine"][fact], fact)
        self.assertEqual(told["settings"]["character"]["skinning"], "dual_quaternion")
        self.assertEqual(told["settings"]["frames"]["first"], 1001)
        self.assertEqual([frame["frame"] for frame in told["frames"]], list(range(1001, 1006)))
        for frame in told["frames"]:
            self.assertLessEqual({"pose", "drive", "step", "skin", "write"}, set(frame["stages"]))
            self.assertGreater(frame["seconds"], 0)
            self.assertTrue(0.02 < frame["volume"] < 0.2, frame["volume"])  # cubic metres
            self.assertEqual(frame["warnings"], [])


class Inspect(ProgramTest):
    def facts(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        words = self.succeed("inspect", name)
        facts = json.loads(self.succeed("inspect", name, "--json"))
        for problem in facts.get("problems", []):
            self.assertIn(problem["message"], words)
        return facts, {problem["code"] for problem in facts.get("problems", [])}, words

    def test_a_sound_character(self):
        facts = json.loads(self.succeed("inspect", "wriggler.glb", "--json"))
        self.assertEqual((facts["kind"], facts["closed"], facts["shells"], facts["bones"]),
                         ("character", True, 1, 8))
        self.assertEqual([clip["name"] for clip in facts["clips"]], ["wriggle"])
        self.assertEqual(facts["problems"], [])
        self.assertIn("No problems found", self.succeed("inspect", "wriggler.glb"))

    def test_open_edges(self):
        points, triangles = TETRAHEDRON
        facts, problems, words = self.facts("open.obj", obj(points, triangles[1:]))
        self.assertIn("open_edges", problems)
        self.assertEqual((facts["open_edges"], facts["holes"], facts["closed"]), (3, 1, False))
        self.assertIn("3 open edges around 1 hole", words)

    def test_several_shells(self):
        points, triangles = TETRAHEDRON
        two = [(x + 3, y, z) for x, y, z in points]
        facts, problems, _ = self.facts(
            "two.obj", obj(points + two, triangles + [[i + 4 for i in t] for t in triangles]))
        self.assertIn("several_shells", problems)
        self.assertEqual(facts["shells"], 2)

    def test_rigs(self):
        facts, problems, _ = self.facts("still.glb", rigged_tetrahedron())
        self.assertIn("no_animation", problems)
        self.assertEqual(facts["clips"], [])
        _, problems, words = self.facts("short.glb", rigged_tetrahedron(bone_length=0, clip="a"))
        self.assertIn("zero_length_bones", problems)
        self.assertIn("'hip'", words)
        self.assertNotIn("no_animation", problems)
        _, problems, words = self.facts("large.glb", rigged_tetrahedron(scale=170, clip="a"))
        self.assertIn("large_scale", problems)
        self.assertIn("--scale 0.01", words)
        self.assertIn("taken for centimetres: 1.7 m", words)
        large = json.loads(self.succeed("inspect", "large.glb", "--json"))
        self.assertAlmostEqual(large["metres_per_unit"], 0.01)
        sound = json.loads(self.succeed("inspect", "large.glb", "--scale", "0.01", "--json"))
        self.assertNotIn("large_scale", {problem["code"] for problem in sound["problems"]})
        self.assertAlmostEqual(sound["size"][1], 1.7, places=5)

    def test_motions_scenes_and_caches(self):
        facts, _, words = self.facts("walk.bvh", BVH)
        self.assertEqual((facts["kind"], facts["joints"]), ("motion", 3))
        self.assertIn("a motion", words)
        facts, _, words = self.facts("scene.json", json.dumps(
            {"character": "wriggler.glb", "frames": {"first": 11}}))
        self.assertEqual((facts["kind"], facts["last"]), ("scene", 107))
        self.assertIn("11 to 107", words)
        self.succeed("simulate", "scene.json", "--frames", "11-14")
        facts = json.loads(self.succeed("inspect", "scene.supple", "--json"))
        self.assertEqual((facts["kind"], facts["frames"], facts["damaged"]), ("cache", 4, []))
        self.assertIn("4 of 4 (11 to 14", self.succeed("inspect", "scene.supple"))


class DamagedCaches(ProgramTest):
    def setUp(self):
        super().setUp()
        self.succeed("simulate", "wriggler.glb", *SHORT, "-o", "x.supple")
        self.cache = self.folder / "x.supple"

    def flip(self, name):
        data = bytearray((self.cache / name).read_bytes())
        data[len(data) // 2] ^= 0x10
        (self.cache / name).write_bytes(data)

    def test_damage_is_found(self):
        for name in ("frames/3.chunk", "static.chunk"):
            whole = (self.cache / name).read_bytes()
            self.flip(name)
            self.refuse(3, "convert", "x.supple", "-o", "a.pc2", says="x.supple")
            self.assertFalse((self.folder / "a.pc2").exists())
            (self.cache / name).write_bytes(whole[:-7])
            self.refuse(3, "convert", "x.supple", "-o", "a.pc2", says="x.supple")
            (self.cache / name).write_bytes(whole)
        self.flip("frames/3.chunk")
        facts = json.loads(self.succeed("inspect", "x.supple", "--json"))
        self.assertEqual(len(facts["damaged"]), 1)
        self.assertIn("3.chunk", facts["damaged"][0])
        (self.cache / "index.json").write_text("{}")
        self.refuse(3, "inspect", "x.supple", says="index.json")

    def test_resume_repairs_damaged_frames(self):
        before = cache_files(self.cache)
        self.flip("frames/3.chunk")
        self.succeed("simulate", "wriggler.glb", *SHORT, "-o", "x.supple", "--resume")
        self.assertEqual(cache_files(self.cache), before)


class Completion(ProgramTest):
    def complete(self, *words):
        quoted = " ".join("'%s'" % word for word in words)
        script = (f'source <("{PROGRAM}" completion bash); COMP_WORDS=({quoted}); '
                  f'COMP_CWORD={len(words) - 1}; _supple; printf "%s\\n" "${{COMPREPLY[@]}}"')
        result = subprocess.run(["bash", "--norc", "-c", script], cwd=self.folder,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        return [line for line in result.stdout.decode().split("\n") if line]

    def test_bash(self):
        script = self.succeed("completion", "bash")
        subprocess.run(["bash", "-n"], input=script.encode(), check=True)
        self.assertLessEqual(set(COMMANDS), set(self.complete("supple", "")))
        self.assertEqual(self.complete("supple", "sim"), ["simulate"])
        self.assertEqual(self.complete("supple", "simulate", "--re"), ["--resume"])
        self.assertEqual(self.complete("supple", "simulate", "--up", ""), ["y", "z"])
        self.assertEqual(self.complete("supple", "simulate", "--progress", "=", "js"), ["json"])
        self.assertEqual(self.complete("supple", "simulate", "--skinning", "="),
                         ["linear", "dual_quaternion"])
        self.assertEqual(self.complete("supple", "rig", "--fit", ""), ["on", "size", "off"])
        self.assertEqual(self.complete("supple", "completion", "z"), ["zsh"])
        self.assertEqual(self.complete("supple", "inspect", "wrig"), ["wriggler.glb"])
        (self.folder / "two words.glb").write_text("")
        self.assertEqual(self.complete("supple", "inspect", "two"), ["two words.glb"])

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh(self):
        script = self.succeed("completion", "zsh")
        subprocess.run(["zsh", "-n"], input=script.encode(), check=True)
        (self.folder / "_supple").write_text(script)
        loaded = subprocess.run(
            ["zsh", "-f", "-c", "fpath=($PWD $fpath); autoload -Uz compinit && compinit -u -D; "
             "print -r -- $_comps[supple]"], cwd=self.folder, stdout=subprocess.PIPE, check=True)
        self.assertEqual(loaded.stdout.strip(), b"_supple")
        for flag in ("--resume[", "--up[", "(y z)", "(bash zsh)"):
            self.assertIn(flag, script)


if __name__ == "__main__":
    unittest.main()
