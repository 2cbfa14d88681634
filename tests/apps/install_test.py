"""The installed library as a C++ programmer meets it: the README's example, built and run as it stands."""
import os
import pathlib
import re
import subprocess
import unittest

from support import SOURCE, ProgramTest

BUILD = pathlib.Path(os.environ["SUPPLE_BUILD"])


def readme_block(language):
    """The README's block of code in that language."""
    text = (SOURCE / "README.md").read_text()
    return re.search(rf"```{language}\n(.*?)```", text, re.DOTALL)[1]


class Install(ProgramTest):
    def call(self, *command):
        result = subprocess.run([str(word) for word in command], cwd=self.folder, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
        self.assertEqual(result.returncode, 0, result.stdout)
        return result.stdout

    def test_the_readme_example_builds_and_runs(self):
        prefix = self.folder / "installed"
        self.call("cmake", "--install", BUILD, "--prefix", prefix)
        project = self.folder / "project"
        project.mkdir()
        (project / "walk.cpp").write_text(readme_block("cpp"))
        (project / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.24)\nproject(walk CXX)\n" + readme_block("cmake"))
        flags = os.environ.get("SUPPLE_SANITIZE", "")
        self.call("cmake", "-S", project, "-B", project / "build", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug",
                  f"-DCMAKE_PREFIX_PATH={prefix}",
                  *([f"-DCMAKE_CXX_FLAGS=-fsanitize={flags}"] if flags else []))
        self.call("cmake", "--build", project / "build")
        (self.folder / "wriggler.glb").rename(self.folder / "hero.glb")
        self.call(project / "build" / "walk")
        self.assertIn("1001 to 1097", self.call(prefix / "bin" / "supple", "inspect", "walk.supple"))


if __name__ == "__main__":
    unittest.main()
