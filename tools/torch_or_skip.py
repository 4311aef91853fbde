"""import torch, from whichever interpreter has it; without it the program that imports this says so and ends with 77."""

import importlib.util
import os
import subprocess
import sys


def need(*modules):
    """Those are there from here on: in this interpreter, or in the system's, which then runs the program instead."""
    if all(importlib.util.find_spec(module) for module in modules):
        return
    debian = "/usr/bin/python3"  # where the system's packages are, when this is another interpreter
    is_debian = os.path.realpath(sys.executable) == os.path.realpath(debian) and sys.prefix == sys.base_prefix
    if os.path.exists(debian) and not is_debian:
        if subprocess.run([debian, "-c", "import " + ", ".join(modules)], capture_output=True).returncode == 0:
            os.execv(debian, [debian] + sys.argv)
    print("skipped: not installed: " + ", ".join("python3-" + module for module in modules))
    sys.exit(77)
