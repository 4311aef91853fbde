"""What the tests of the package share: the program next to it, and small problems."""

import json
import os
import subprocess
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ALL = "POET_TEST_ALL" in os.environ  # what is exhaustive, too
PROGRAM = os.environ.get("POET_TEST_PROGRAM", os.path.join(ROOT, "build", "apps", "cli", "poet"))

# Proven in a fifth of a second, with a value that is paged.
SMALL = {"model": "linear", "device": "m4", "batch_size": 64, "persistent": "resident", "split": "off", "ram_budget": 500_000, "beyond_device_ram": True}
PROGRAM_SMALL = ("--model", "linear", "--platform", "m4", "--batch-size", 64, "--beyond-device-ram")
RESIDENT = ("--persistent", "resident", "--split", "off")


def until_there_is_a_plan(_phase, incumbent, *_others):
    """For progress=: the search ends with the first plan."""
    return incumbent is None


def program(*arguments):
    """What the program answers, as JSON; its exit code is 0 or 1."""
    done = subprocess.run([PROGRAM, *map(str, arguments), "--json"], capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


def python(code, **options):
    """A process of its own."""
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def main():
    """As unittest.main(), and 77 where every test was skipped."""
    result = unittest.main(exit=False).result
    for why in sorted({why for _, why in result.skipped}):
        print(f"skipped: {why}")
    if not result.wasSuccessful():
        sys.exit(1)
    sys.exit(77 if result.testsRun and len(result.skipped) == result.testsRun else 0)
