#!/usr/bin/env python3
"""Counts small reports.

usage: count_tests_test.py COUNT_TESTS
"""
import pathlib
import subprocess
import sys
import tempfile

CTEST = '<testsuite><testcase name="golden_a" status="run"/><testcase name="e2e_b" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/></testcase></testsuite>'
CASES = '<testsuites><testsuite><testcase name="One" classname="A" status="run"/>{}</testsuite></testsuites>'
SKIPPED = '<testcase name="Two" classname="A" status="run"><skipped message="a_test.cc:3&#x0A;{} is absent"/></testcase>'


def counted(program, reports, *options):
    """(exit code, last line) of a count."""
    done = subprocess.run([sys.executable, program, *options, reports], capture_output=True, text=True)
    return done.returncode, done.stdout.splitlines()[-1]


def main(program):
    with tempfile.TemporaryDirectory() as folder:
        reports = pathlib.Path(folder) / "reports"
        data = pathlib.Path(folder) / "shared"
        reports.mkdir()
        (reports / "ctest.xml").write_text(CTEST)
        (reports / "golden_a.xml").write_text(CASES.format(SKIPPED.format(data / "models" / "net.onnx")))
        assert counted(program, reports) == (0, "1 passed, 0 failed, 2 skipped")
        # Without the folder its data may be missing, with it they may not.
        assert counted(program, reports, "--present", data) == (0, "1 passed, 0 failed, 2 skipped")
        data.mkdir()
        assert counted(program, reports, "--present", data) == (1, "1 passed, 1 failed, 1 skipped")
        (reports / "golden_a.xml").write_text(CASES.format(SKIPPED.format("/usr/share/libonnx-testdata")))
        assert counted(program, reports, "--present", data) == (0, "1 passed, 0 failed, 2 skipped")
        # Without its report a program counts as one; a report of nothing is a mistake.
        (reports / "golden_a.xml").unlink()
        assert counted(program, reports) == (0, "1 passed, 0 failed, 1 skipped")
        (reports / "golden_a.xml").write_text("<testsuites/>")
        assert counted(program, reports) == (1, "0 passed, 1 failed, 1 skipped")


if __name__ == "__main__":
    main(sys.argv[1])
