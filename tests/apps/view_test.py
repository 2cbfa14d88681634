"""supple view from the command line; the page itself is tested in tests/node."""
import os
import subprocess
import signal
import unittest

from support import PROGRAM, ProgramTest


class View(ProgramTest):
    """What can be said before a page or a browser is needed."""

    def test_mistakes_give_one_line(self):
        self.refuse(2, "view", says=["inputs"])
        self.refuse(3, "view", "none.glb", "--no-open", says=["none.glb"])
        self.refuse(2, "view", "wriggler.glb", "--shot", "a.jpg", says=["a.jpg", ".png"])
        self.refuse(2, "view", "wriggler.glb", "--movie", "a.avi", says=["a.avi", ".mp4"])
        self.refuse(2, "view", "wriggler.glb", "--camera", "front", says=["--camera", "--shot"])
        self.refuse(2, "view", "wriggler.glb", "--shot", "a.png", "--size", "9x9", says=["--size"])
        self.refuse(3, "view", "wriggler.glb", "--no-open", "--clip", "wrigle",
                    says=["wrigle", "wriggle"])

    def test_missing_programs_are_named(self):
        without = dict(os.environ, SUPPLE_BROWSER="/nonexistent")
        self.refuse(4, "view", "wriggler.glb", "--shot", "a.png", env=without, says=["/nonexistent"])
        nothing = {"PATH": "/nonexistent"}
        self.refuse(4, "view", "wriggler.glb", "--movie", "a.mp4", env=nothing, says=["apt install"])

    def test_serves_until_it_is_told_to_stop(self):
        program = subprocess.Popen([PROGRAM, "view", "wriggler.glb", "--no-open"], cwd=self.folder,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(program.kill)
        address = program.stdout.readline().strip()
        self.assertRegex(address, r"^http://127\.0\.0\.1:\d+/[0-9a-f]{32}/$")
        port = address.split(":")[2].split("/")[0]
        self.refuse(4, "view", "wriggler.glb", "--no-open", "--port", port, says=[port])
        program.send_signal(signal.SIGINT)
        self.assertEqual(program.wait(10), 0)
        program.stdout.close()


if __name__ == "__main__":
    unittest.main()
