"""A newer PyTorch than Debian's and the newest of other libraries, in an environment of its own.

usage: newer_torch.py FOLDER                makes it there, once
       newer_torch.py FOLDER SCRIPT ARGS... runs the script in it

Exit code 77: it cannot be had here. The environment is for the interpreter that runs this, whose poet._core it can load.
"""

import fcntl
import os
import shutil
import subprocess
import sys

# onnx and onnxscript: what torch.onnx.export writes its files with. transformers, peft, accelerate, lightning: whose modules and trainers are tested.
# matplotlib, networkx, pandas: what the package gives figures, graphs and tables to; mypy: what checks its types.
WANTED = ["torch==2.13.0", "numpy", "onnx", "onnxscript", "transformers", "peft", "accelerate", "lightning", "matplotlib", "networkx", "pandas", "mypy"]
MADE_OF = "\n".join([sys.version, *WANTED])


def is_whole(mark):
    """Whether an installation came to its end, of these for this Python."""
    try:
        with open(mark, encoding="utf-8") as stream:
            return stream.read() == MADE_OF
    except OSError:
        return False


def make(folder, mark):
    shutil.rmtree(folder, ignore_errors=True)
    for what, command in (
        ("an environment (of python3-venv)", [sys.executable, "-m", "venv", folder]),
        (" ".join(WANTED), [os.path.join(folder, "bin", "python"), "-m", "pip", "install", "--no-input", "--retries", "1", *WANTED]),
        ("the PyTorch that was installed", [os.path.join(folder, "bin", "python"), "-c", "import numpy, onnx, onnxscript, peft, torch"]),
    ):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            shutil.rmtree(folder, ignore_errors=True)
            print(f"skipped: {what} cannot be had: {' '.join((done.stderr.strip() or done.stdout.strip()).splitlines()[-1:])}")
            sys.exit(77)
    with open(mark + ".new", "w", encoding="utf-8") as stream:
        stream.write(MADE_OF)
    os.replace(mark + ".new", mark)


def main():
    folder, *script = sys.argv[1:]
    folder = os.path.abspath(folder)
    mark = os.path.join(folder, "made_of")
    if not script:
        with open(folder + ".lock", "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not is_whole(mark):
                make(folder, mark)
    elif is_whole(mark):
        python = os.path.join(folder, "bin", "python")
        os.execv(python, [python, *script])
    else:
        print("skipped: needs " + " ".join(WANTED) + ", which python_torch2_environment installs where an index is reached")
        sys.exit(77)


main()
