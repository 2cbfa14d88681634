"""Runs that are stopped, killed, resumed and doubled: the cache is always whole, and in the end the
same bytes as if nothing had happened. SUPPLE_SOAK kills a hundred runs instead of five."""
import json
import os
import random
import signal
import subprocess
import time
import unittest

from support import LIMIT, PROGRAM, SOAK, WRIGGLER, ProgramTest, cache_files, report, snapshot

FRAMES = 100
KILLS = 100 if SOAK else 5


class InterruptTest(ProgramTest):
    place = None  # a disk: runs must last long enough to be interrupted

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        model = cls.models.name + "/wriggler.glb"
        subprocess.run([WRIGGLER, model, "150"], check=True)
        cls.command = [PROGRAM, "simulate", "scene.json", "--progress=json", "-o", "x.supple"]
        with open(cls.models.name + "/scene.json", "w", encoding="utf-8") as scene:
            json.dump({"character": "wriggler.glb", "body": "skinning", "frames": {"last": FRAMES}},
                      scene)
        start = time.monotonic()
        subprocess.run(cls.command, cwd=cls.models.name, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=True)
        cls.duration = time.monotonic() - start
        cls.expected = cache_files(cls.models.name + "/x.supple")

    def setUp(self):
        super().setUp()
        self.scene(frames={"last": FRAMES})
        self.cache = self.folder / "x.supple"

    def start(self):
        return subprocess.Popen(self.command, cwd=self.folder, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def stop_at(self, frame, number):
        """Starts a run, sends a signal once a frame is done; returns exit code and messages."""
        process = self.start()
        for line in process.stdout:
            if json.loads(line).get("frame") == frame:
                process.send_signal(number)
                break
        _, err = process.communicate(timeout=LIMIT)
        return process.returncode, err.decode()

    def resume(self, *more):
        return self.succeed("simulate", "scene.json", "-o", "x.supple", "--resume", *more)

    def expect_whole(self, at_least=0):
        facts = json.loads(self.succeed("inspect", "x.supple", "--json"))
        self.assertEqual(facts["damaged"], [])
        self.assertGreaterEqual(facts["frames"], at_least)
        return facts["frames"]


class Signals(InterruptTest):
    def test_a_signal_ends_the_run_after_the_frame_at_hand(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number):
                code, err = self.stop_at(17, number)
                self.assertEqual(code, 130)
                self.assertIn("--resume", err)
                frames = self.expect_whole(at_least=17)
                self.assertLess(frames, FRAMES)
                self.assertEqual(report(self.cache)["status"], "interrupted")
                out = self.resume()
                # Nothing is simulated twice.
                self.assertTrue(out.startswith(f"frame {frames + 1} ({frames + 1} of {FRAMES})"))
                self.assertEqual(cache_files(self.cache), self.expected)
                told = report(self.cache)
                self.assertEqual((told["status"], told["resumed_from"]), ("done", frames + 1))
                self.assertEqual([frame["frame"] for frame in told["frames"]],
                                 list(range(1, FRAMES + 1)))

    def test_what_the_caller_ignores_stays_ignored(self):
        process = subprocess.Popen(["bash", "-c", 'trap "" HUP; exec "$@"', "bash", *self.command],
                                   cwd=self.folder, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL)
        process.stdout.readline()
        process.send_signal(signal.SIGHUP)
        process.communicate(timeout=LIMIT)
        self.assertEqual(process.returncode, 0)
        self.assertEqual(cache_files(self.cache), self.expected)

    def test_a_signal_during_an_export_leaves_no_half_file(self):
        self.succeed("simulate", "scene.json", "-o", "x.supple")
        before = snapshot(self.folder)
        process = subprocess.Popen([PROGRAM, "convert", "x.supple", "-o", "objs/"],
                                   cwd=self.folder, stderr=subprocess.PIPE,
                                   stdout=subprocess.DEVNULL)
        while process.poll() is None and not (self.folder / "objs").exists():
            time.sleep(0.001)
        time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=LIMIT)
        self.assertEqual(process.returncode, 130, err)
        self.assertIn(b"not written", err)
        self.assertEqual(snapshot(self.folder), before)
        self.assertFalse((self.folder / "objs").exists())


class Kills(InterruptTest):
    def test_a_killed_run_can_always_be_resumed(self):
        seed = random.randrange(1 << 32)
        moments = random.Random(seed)
        for number in range(KILLS):
            with self.subTest(seed=seed, number=number):
                process = self.start()
                time.sleep(moments.uniform(0, 1.05 * self.duration))
                process.kill()
                process.communicate(timeout=LIMIT)
                if (self.cache / "index.json").exists():
                    self.expect_whole()
                self.resume("-q")
                self.assertEqual(cache_files(self.cache), self.expected)
                self.assertEqual(report(self.cache)["status"], "done")
                subprocess.run(["rm", "-r", self.cache], check=True)

    def test_remains_of_a_run_killed_before_its_index_was_written(self):
        (self.cache / "frames").mkdir(parents=True)
        (self.cache / "static.chunk").write_bytes(b"half")
        (self.cache / "index.json.77.0.tmp~").write_bytes(b"half")
        self.resume("-q")
        self.assertEqual(cache_files(self.cache), self.expected)

    def test_a_new_run_over_the_remains_of_a_killed_one(self):
        self.stop_at(30, signal.SIGKILL)
        (self.cache / "frames" / "31.chunk.9.9.tmp~").write_bytes(b"half")
        (self.cache / "checkpoint.chunk.9.9.tmp~").write_bytes(b"half")
        self.succeed("simulate", "scene.json", "-o", "x.supple", "-q")
        self.assertEqual(cache_files(self.cache), self.expected)


class Resume(InterruptTest):
    def test_a_finished_run_is_left_as_it_is(self):
        self.resume("-q")  # there is no cache yet: starts afresh
        before = snapshot(self.cache)
        self.assertEqual(cache_files(self.cache), self.expected)
        start = time.monotonic()
        code, out, err = self.run_program("simulate", "scene.json", "-o", "x.supple", "--resume",
                                          "-o", "x.pc2")
        self.assertEqual(code, 0, err)
        self.assertLess(time.monotonic() - start, max(1.0, 0.5 * self.duration))
        self.assertIn("there already", err)
        self.assertNotIn("frame 1 ", out)
        self.assertIn("wrote x.pc2", out)
        self.assertEqual(snapshot(self.cache), before)

    def test_changed_settings_are_named(self):
        self.stop_at(12, signal.SIGINT)
        before = snapshot(self.cache)
        for says, *change in [("character.skinning", "--skinning", "dual_quaternion"),
                              ("frames.rate", "--fps", "48"), ("frames.last", "--frames", "1-50"),
                              ("character.scale", "--scale", "2"),
                              ("frames.preroll", "--preroll", "3")]:
            self.refuse(3, "simulate", "scene.json", "-o", "x.supple", "--resume", *change,
                        says=["x.supple", says, "--resume"])
        subprocess.run([WRIGGLER, self.folder / "wriggler.glb", "30"], check=True)
        self.refuse(3, "simulate", "scene.json", "-o", "x.supple", "--resume", says="changed")
        self.assertEqual(snapshot(self.cache), before)

    def test_where_and_how_often_does_not_matter(self):
        self.stop_at(12, signal.SIGINT)
        os.rename(self.cache, self.folder / "y.supple")
        self.succeed("simulate", "scene.json", "-o", "y.supple", "--resume", "--threads", "1",
                     "--checkpoint-every", "7", "-q")
        self.assertEqual(cache_files(self.folder / "y.supple"), self.expected)


class TwoAtOnce(InterruptTest):
    def test_the_second_run_is_refused_and_the_first_goes_on(self):
        first = self.start()
        first.stdout.readline()
        first.send_signal(signal.SIGSTOP)  # so that it cannot finish meanwhile
        try:
            for more in ([], ["--resume"]):
                self.refuse(4, "simulate", "scene.json", "-o", "x.supple", *more,
                            says=["x.supple", "another run"])
            self.expect_whole(at_least=1)  # looking is allowed
        finally:
            first.send_signal(signal.SIGCONT)
        first.communicate(timeout=LIMIT)
        self.assertEqual(first.returncode, 0)
        self.assertEqual(cache_files(self.cache), self.expected)


if __name__ == "__main__":
    unittest.main()
