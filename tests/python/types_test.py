"""The package's types, by mypy: Debian's and, where this Python has another one, that too, each with this Python's libraries."""

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

from support import ROOT, main

DEBIANS = shutil.which("mypy", path="/usr/bin:" + os.environ.get("PATH", ""))
HAS_ONE = sys.prefix != "/usr" and importlib.util.find_spec("mypy") is not None


class Types(unittest.TestCase):
    def check(self, *mypy):
        with tempfile.TemporaryDirectory() as cache:
            done = subprocess.run([*mypy, "--config-file", "pyproject.toml", "--python-executable", sys.executable, "--cache-dir", cache],
                                  cwd=ROOT, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    @unittest.skipUnless(DEBIANS, "mypy is absent")
    def test_by_debians_mypy(self):
        self.check(DEBIANS)

    @unittest.skipUnless(HAS_ONE, "this Python has no mypy of its own")
    def test_by_this_pythons_mypy(self):
        self.check(sys.executable, "-m", "mypy")


if __name__ == "__main__":
    main()
