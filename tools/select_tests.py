#!/usr/bin/env python3
"""Finds the tests that names stand for.

usage: ctest --show-only=json-v1 | select_tests.py REPOSITORY NAME...

A NAME is a component (optimize, cli), a label (property), a test (unit_cbc, studio), the beginning of several (e2e_server), or a
file: a test's own (cbc_test.cc), or a source, which stands for its component's unit tests. Prints three lines: what will run, the
targets to build first, and a regular expression of the tests' names for ctest. Exit 2 with a line that says why where a name
stands for nothing.
"""
import json
import os
import re
import subprocess
import sys

# Folders and files of the repository -> the label, name or beginning of names of the tests that are theirs; for those below tests/
# that are no tests themselves, too. Components of src/poet and folders of tests/ need no entry.
HOMES = {
    "src/poet/": "compile",  # compile() and its passes, in no folder of a component
    "apps/shared/": "shared", "apps/cli/": "cli", "apps/server/": "server", "apps/device/": "e2e_device_program",
    "firmware/": "firmware", "data/studio/": "e2e_studio", "data/report/": "e2e_html_page", "web/": "e2e_studio", "python/": "python",
    "examples/": "python_examples", "tools/": "tools", "tools/firmware_objects.py": "e2e_firmware", "data/devices/": "cost",
    "README.md": "e2e_readme_commands", "docs/examples.md": "e2e_examples_commands", "docs/tutorial.md": "e2e_tutorial",
    "tests/e2e/consumer/": "e2e_install", "tests/e2e/package_chroot.sh": "e2e_package", "tests/e2e/faults/": "e2e_faults",
    "tests/e2e/firmware/": "e2e_firmware", "tests/e2e/server/": "e2e_server", "tests/e2e/studio/": "e2e_studio",
}


def property_of(test, name):
    return next((p["value"] for p in test.get("properties", []) if p["name"] == name), [])


def tests_of_word(word, tests):
    """By label, name, name without its label, beginning of names."""
    ways = [lambda t: word in property_of(t, "LABELS"), lambda t: t["name"] == word, lambda t: t["name"].partition("_")[2] == word,
            lambda t: t["name"].startswith(word + "_"), lambda t: t["name"].partition("_")[2].startswith(word + "_")]
    return next((found for way in ways if (found := [t for t in tests if way(t)])), [])


def tests_of_file(path, tests):
    """`path` is below the repository; a folder's ends with /."""
    named = [t for t in tests if any(argument.endswith("/" + path) for argument in t.get("command", []))]
    if named:
        return named
    source = re.fullmatch(r"tests/(?:unit/[a-z_]+|([a-z0-9]+))/([a-z0-9_]+)_test\.cc", path)
    if source:  # the same source may be run in more than one way
        name = f"{source[1] or 'unit'}_{source[2]}"
        same = [filter_of(t) for t in tests if t["name"] == name]
        return [t for t in tests if t["name"] == name or (filter_of(t) and filter_of(t) in same)]
    home = max((home for home in HOMES if path.startswith(home)), key=len, default="")
    folder = re.match(r"(src/poet|tests/unit|tests)/([a-z0-9_]+)/", path)
    if folder and folder[2] != "unit" and len(folder[0]) > len(home):
        return tests_of_word(folder[2], tests)
    if path == "tests/unit/":
        return tests_of_word("unit", tests)
    return tests_of_word(HOMES[home], tests) if home else []


def filter_of(test):
    return next((word for word in test.get("command", []) if word.startswith("--gtest_filter=")), None)


def files_called(name, repository):
    """The files of the repository that `name` may be, as it is seen from here, or by its last part."""
    here = os.path.relpath(os.path.realpath(name), os.path.realpath(repository))
    if os.path.exists(name) and not here.startswith(".."):
        return [here + "/" if os.path.isdir(name) else here]
    try:
        listed = subprocess.run(["git", "-C", repository, "ls-files", "--cached", "--others", "--exclude-standard"], capture_output=True, text=True)
    except FileNotFoundError:
        return []
    return [path for path in listed.stdout.splitlines() if path.endswith("/" + name)]


def targets_of(test):
    """What is to be built for a test, as tests/functions.cmake has it say."""
    needs = (value for value in property_of(test, "ENVIRONMENT") if value.startswith("POET_TEST_NEEDS="))
    return {target for value in needs for target in value.partition("=")[2].split()}


def main(repository, *names):
    tests = json.load(sys.stdin)["tests"]
    said, chosen = [], {}
    for name in names:
        found = tests_of_word(name.rstrip("/"), tests)
        if not found:
            files = files_called(name, repository)
            if len(files) > 1:
                return refusal(f"{name} may be {', '.join(files)}: name one")
            found = tests_of_file(files[0], tests) if files else []
            if files and not found:
                return refusal(f"{files[0]} has no tests of its own: ./test runs all")
        if not found:
            labels = sorted({label for t in tests for label in property_of(t, "LABELS")})
            return refusal(f"{name} is no component, test or file; components and labels: {', '.join(labels)}")
        chosen.update((t["name"], t) for t in found)
        shown = [t["name"] for t in found]
        said.append(f"{name}: {len(shown)} test{'s' * (len(shown) > 1)}: {', '.join(shown[:12])}{', ...' * (len(shown) > 12)}")
    needed = set().union(*(targets_of(t) for t in chosen.values()))
    print("; ".join(said))
    print(" ".join(sorted(needed)))
    print("^(" + "|".join(re.escape(name) for name in chosen) + ")$")
    return 0


def refusal(text):
    print(f"poet: {text}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    if len(sys.argv) < 3:
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        sys.exit(2)
    sys.exit(main(*sys.argv[1:]))
