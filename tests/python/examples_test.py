"""Every example runs, and says something; those with PyTorch where it is installed."""

import glob
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import unittest

import poet
from support import ROOT, main


class Examples(unittest.TestCase):
    def test_run(self):
        files = sorted(glob.glob(os.path.join(ROOT, "examples", "*.py")))
        self.assertTrue(files)
        for file in files:
            if os.path.basename(file).startswith("torch_") and importlib.util.find_spec("torch") is None:
                continue
            with self.subTest(file=file), tempfile.TemporaryDirectory() as folder:
                done = subprocess.run([sys.executable, file], cwd=folder, capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertTrue(done.stdout)

    def test_of_the_documents(self):
        """The first call of README, docs and help is one and the same, and its plan pages and recomputes."""
        calls = set()
        for text in (open(os.path.join(ROOT, "README.md"), encoding="utf-8").read(),
                     open(os.path.join(ROOT, "docs", "python.md"), encoding="utf-8").read(), poet.__doc__, poet.solve.__doc__):
            calls.add(re.search(r"result = (poet\.solve\(.*\))", text).group(1))
        self.assertEqual(len(calls), 1, calls)
        result = eval(calls.pop(), {"poet": poet})
        self.assertEqual(result.status, "optimal")
        self.assertGreater(result.figures["recomputations"], 0)
        self.assertGreater(result.figures["page_ins"], 0)


if __name__ == "__main__":
    main()
