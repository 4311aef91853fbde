"""The package as pip makes it: what is in the wheel of this build and in the sources, that both are whole, what is said where a library is missing."""

import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest
import venv
import zipfile

import poet

from support import ROOT, main

HERE = pathlib.Path(__file__).parent / "wheel"
REPOSITORY = pathlib.Path(ROOT)
BUILD = pathlib.Path(poet.__file__).parents[2]
ALONE = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "POET_"))}


def files_below(folder, *suffixes):
    """Relative to the repository."""
    found = (file.relative_to(REPOSITORY) for file in (REPOSITORY / folder).rglob("*") if file.is_file() and "__pycache__" not in file.parts)
    return {str(file) for file in found if not suffixes or file.suffix in suffixes}


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.folder = pathlib.Path(cls.scratch.name)
        # With Debian's numpy: only pip's tools come from an index.
        venv.create(cls.folder / "environment", with_pip=True, system_site_packages=True)
        cls.python = str(cls.folder / "environment" / "bin" / "python")
        fetched = cls.run_python("-m", "pip", "install", "--no-input", "--retries", "1", "scikit-build-core>=0.11")
        if fetched.returncode:
            raise unittest.SkipTest("scikit-build-core cannot be had: " + (fetched.stderr.strip().splitlines() or [""])[-1])

    @classmethod
    def run_python(cls, *arguments):
        return subprocess.run([cls.python, *map(str, arguments)], capture_output=True, text=True, env=ALONE, cwd=cls.folder)

    def check(self, done):
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_wheel_of_this_build_is_whole_and_works(self):
        self.check(self.run_python(
            "-m", "pip", "wheel", "--no-index", "--no-build-isolation", "--no-deps", "--wheel-dir", self.folder, "--config-settings", f"cmake.source-dir={HERE}",
            "--config-settings", f"cmake.define.POET_BUILD={BUILD}", "--config-settings", "build.targets=all", ROOT))
        (file,) = self.folder.glob(f"poet-{poet.__version__}-*.whl")
        names = set(zipfile.ZipFile(file).namelist())
        pages = [name.name for name in (BUILD / "web").glob("*.min.js")]
        wanted = {name.removeprefix("python/") for name in files_below("python/poet")} | {"poet_program.py"}
        wanted |= {f"poet/{name}" for folder in ("devices", "published", "report", "reproduction") for name in files_below(f"data/{folder}")}
        wanted |= {f"poet/data/{name}" for name in files_below("firmware")} | {f"poet/data/report/{name}" for name in pages}
        wanted |= {"poet/data/firmware_memory.json"}
        found = {name for name in names if ".dist-info/" not in name}
        extra = found - wanted - {f"poet/data/report/{name.replace('.min.js', '.txt')}" for name in pages}
        self.assertEqual(wanted - found, set())
        self.assertRegex("".join(extra), r"^poet/_core\.[^/]*\.so$")

        self.check(self.run_python("-m", "pip", "install", "--no-index", "--no-deps", file))
        self.check(self.run_python(HERE / "installed.py", *(["--pages"] if len(pages) == 2 else [])))

    def test_the_sources_are_whole(self):
        done = subprocess.run([self.python, "-c", f"from scikit_build_core import build; print(build.build_sdist({str(self.folder)!r}))"],
                              capture_output=True, text=True, env=ALONE, cwd=ROOT)
        self.check(done)
        name = f"poet-{poet.__version__}"
        with tarfile.open(self.folder / f"{name}.tar.gz") as archive:
            found = {member.name.partition("/")[2] for member in archive.getmembers()}
            archive.extractall(self.folder)
        wanted = files_below("src") | files_below("python") | files_below("firmware") | files_below("cmake") | files_below("apps/cli") | files_below("apps/shared")
        self.assertEqual(wanted - found, set())
        for unwanted in ("build", "node_modules", ".git", "__pycache__", "tests", "docs", ".so", ".o"):
            self.assertFalse([file for file in found if unwanted in pathlib.Path(file).parts or file.endswith(unwanted + "/")], unwanted)
        self.assertLess(len(found), 2500)

        configure = ["cmake", "-S", self.folder / name, "-G", "Ninja", "-DSKBUILD=ON", "-DPOET_BUILD_TESTS=OFF", "-DPOET_MPI=OFF", "-DPOET_SERVER=OFF",
                     f"-DPython3_EXECUTABLE={sys.executable}"]
        self.check(subprocess.run([*configure, "-B", self.folder / "build"], capture_output=True, text=True, env=ALONE))
        known = subprocess.run(["ninja", "-C", self.folder / "build", "-n", "poet_python"], capture_output=True, text=True, env=ALONE)
        self.check(known)
        lacking = subprocess.run([*configure, "-B", self.folder / "lacking", "-DCMAKE_DISABLE_FIND_PACKAGE_fmt=ON", "-DCMAKE_DISABLE_FIND_PACKAGE_CLI11=ON"],
                                 capture_output=True, text=True, env=ALONE)
        self.assertEqual(lacking.returncode, 1)
        self.assertIn("poet needs fmt (Debian: libfmt-dev), CLI11 (Debian: libcli11-dev); ./poet installs what is missing\n", lacking.stderr)


if __name__ == "__main__":
    main()
