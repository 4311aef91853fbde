"""Every example runs, and says something; those with PyTorch where it is installed."""

import glob
import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest

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


if __name__ == "__main__":
    main()
