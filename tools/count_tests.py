#!/usr/bin/env python3
"""Counts a test run and prints one closing line: `N passed, N failed` and, when so, `, N skipped`.

usage: count_tests.py [--present DATA] FOLDER...

FOLDER/ctest.xml is ctest's report; a folder without one counts as a failure. A program made of GoogleTest cases leaves
FOLDER/NAME.xml besides, and its cases count one by one; any other test counts as one. A program that ctest calls failed
although none of its recorded cases failed (a crash, a time-out, a sanitizer's finding at exit) counts as one failure
more, and one whose report has no case, since its filter fits nothing, as a failure.
With --present, and if the folder DATA exists, a case that was skipped with a message that names a path below DATA counts
as failed: its data should be there.
Exit 0 if nothing failed and something ran, 1 otherwise.
"""
import argparse
import os
import sys
import xml.etree.ElementTree as ElementTree


def cases_of(path, present):
    """(passed, failed, skipped) of a GoogleTest report; zeros when the program died before writing it."""
    try:
        cases = list(ElementTree.parse(path).getroot().iter("testcase"))
    except (OSError, ElementTree.ParseError):
        return 0, 0, 0
    failed = sum(case.find("failure") is not None for case in cases)
    skipped = 0
    for case in cases:
        if case.find("failure") is not None or (case.find("skipped") is None and case.get("status") != "notrun"):
            continue
        message = skip_message(case) or ""
        if present and present + os.sep in message:
            print(f"{case.get('classname')}.{case.get('name')} was skipped although {present} is there: {message.strip()}")
            failed += 1
        else:
            skipped += 1
    return len(cases) - failed - skipped, failed, skipped


def count(folder, present):
    """(passed, failed, skipped) of a folder."""
    passed = failed = skipped = 0
    try:
        tests = list(ElementTree.parse(os.path.join(folder, "ctest.xml")).getroot().iter("testcase"))
    except (OSError, ElementTree.ParseError):
        return 0, 1, 0
    for test in tests:
        p, f, s = cases_of(os.path.join(folder, test.get("name") + ".xml"), present)
        status = test.get("status")  # ctest writes: run, fail, notrun (skipped or not startable), disabled
        if status == "fail" and f == 0:
            f += 1
        elif p + f + s == 0:
            if status == "run" and not os.path.exists(os.path.join(folder, test.get("name") + ".xml")):
                p = 1
            elif status == "disabled" or "SKIP" in (skip_message(test) or ""):
                s = 1
            else:
                f = 1
        passed, failed, skipped = passed + p, failed + f, skipped + s
    return passed, failed, skipped


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--present", metavar="DATA")
    parser.add_argument("folders", nargs="+")
    arguments = parser.parse_args()
    present = arguments.present and os.path.abspath(arguments.present)
    if present and not os.path.isdir(present):
        present = None
    passed, failed, skipped = (sum(counts) for counts in zip(*(count(folder, present) for folder in arguments.folders)))
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 0 if failed == 0 and passed > 0 else 1


def skip_message(test):
    element = test.find("skipped")
    return None if element is None else element.get("message")


if __name__ == "__main__":
    sys.exit(main())
