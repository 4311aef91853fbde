"""The package as a whole: its version, its files, its documentation."""

import inspect
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import poet

from support import ROOT, main


class Package(unittest.TestCase):
    def test_version_is_the_librarys(self):
        with open(os.path.join(ROOT, "cmake", "PoetVersion.cmake"), encoding="utf-8") as stream:
            self.assertIn(f"set(POET_VERSION {poet.__version__})", stream.read())

    def test_everything_is_documented(self):
        for name in poet.__all__:
            thing = getattr(poet, name)
            self.assertTrue(inspect.getdoc(thing), name)
            if inspect.isclass(thing):
                for member, value in vars(thing).items():
                    if not member.startswith("_") and (inspect.isfunction(value) or isinstance(value, property)):
                        self.assertTrue(inspect.getdoc(value), f"{name}.{member}")
        self.assertEqual(sorted(poet.__all__), poet.__all__)

    def test_another_python_is_told_what_it_is_built_for(self):
        with tempfile.TemporaryDirectory() as folder:
            package = os.path.join(folder, "poet")
            shutil.copytree(os.path.join(ROOT, "python", "poet"), package)
            for built, said in (("_core.cpython-27.so", "_core.cpython-27.so"), (None, "missing")):
                if built:
                    open(os.path.join(package, built), "wb").close()
                done = subprocess.run([sys.executable, "-c", "import poet"], env=os.environ | {"PYTHONPATH": folder}, capture_output=True, text=True)
                self.assertEqual(done.returncode, 1)
                self.assertIn(f"poet is not built for this Python ({sys.executable}", done.stderr)
                self.assertIn(f"its module is {said};", done.stderr)
                self.assertNotIn("circular", done.stderr)
                if built:
                    os.remove(os.path.join(package, built))

    def test_the_documents_code_runs(self):
        for document in ("docs/python.md",):
            with open(os.path.join(ROOT, document), encoding="utf-8") as stream:
                blocks = re.findall(r"```python\n(.*?)```", stream.read(), re.S)
            self.assertTrue(blocks)
            with tempfile.TemporaryDirectory() as folder:
                for block in blocks:
                    done = subprocess.run([sys.executable, "-c", "import poet\n" + block], cwd=folder, capture_output=True, text=True)
                    self.assertEqual(done.returncode, 0, f"{block}\n{done.stderr}")


if __name__ == "__main__":
    main()
