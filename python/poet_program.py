"""The command poet of an installed package: the C++ program, which is in poet._core. Beside the package, not in it, to come first."""

import os
import shutil
import signal
import sys

# Threads that a BLAS starts when numpy or CBC come would take the signals that the program waits for, and memory for nothing.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from poet import _core  # noqa: E402


def main() -> int:
    """Runs the command line in sys.argv; returns the exit code."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the program has its own way with Ctrl-C
    file = os.path.abspath(sys.argv[0])
    name = os.path.basename(file)
    called_as = name if shutil.which(name) == file else sys.argv[0]
    return _core.program([called_as, *sys.argv[1:]], file)
