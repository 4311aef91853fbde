"""Builds the Python package: CMake makes the module poet._core, and the data that poet comes with goes beside it.

pip install . needs what ./poet needs, the headers of its Python and, without build isolation, pybind11 (from PyPI or Debian's
pybind11-dev). Without a network: python3 -m pip install --no-build-isolation --no-deps .
POET_CMAKE_ARGS has further arguments for CMake.
"""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

try:
    import pybind11
except ImportError:  # Debian's pybind11-dev is where CMake looks
    pybind11 = None

ROOT = pathlib.Path(__file__).resolve().parent


class BuildWithCMake(build_ext):
    def build_extension(self, ext):
        build = pathlib.Path(self.build_temp).resolve()
        build.mkdir(parents=True, exist_ok=True)
        arguments = [f"-DPython3_EXECUTABLE={sys.executable}", "-DPOET_BUILD_APPS=OFF", "-DPOET_BUILD_TESTS=OFF", "-DPOET_PYTHON=ON", "-DPOET_MPI=OFF"]
        if pybind11:
            arguments.append(f"-Dpybind11_DIR={pybind11.get_cmake_dir()}")
        arguments += shlex.split(os.environ.get("POET_CMAKE_ARGS", ""))
        try:
            subprocess.run(["cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", *arguments], check=True)
            subprocess.run(["cmake", "--build", build, "--target", "poet_python"], check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            sys.exit(f"poet: {error}\npoet: the package is built from C++; `./poet --version` in {ROOT} installs what that needs")
        package = pathlib.Path(self.get_ext_fullpath(ext.name)).resolve().parent
        package.mkdir(parents=True, exist_ok=True)
        shutil.copy2(next((build / "python" / "poet").glob("_core*.so")), self.get_ext_fullpath(ext.name))
        data = package / "data"
        for folder in ("devices", "published", "report"):
            shutil.copytree(ROOT / "data" / folder, data / folder, dirs_exist_ok=True)
        for file in ("echarts.min.js", "echarts.txt", "dagre.min.js", "dagre.txt"):  # absent where npm is: then pages say what to do
            if (build / "web" / file).exists():
                shutil.copy2(build / "web" / file, data / "report" / file)


version = re.search(r"set\(POET_VERSION (\S+)\)", (ROOT / "cmake" / "PoetVersion.cmake").read_text())[1]
setup(version=version, ext_modules=[Extension("poet._core", sources=[])], cmdclass={"build_ext": BuildWithCMake})
