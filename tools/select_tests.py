#!/usr/bin/env python3
"""Finds the tests that names stand for.

usage: select_tests.py REPOSITORY BUILD NAME... <(ctest --show-only=json-v1)

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

# Folders and files of the repository -> the labels or beginnings of names of the tests that are theirs.
HOMES = {
    "src/poet/": "compile",  # compile() and its passes, in no folder of a component
    "apps/shared/": "shared", "apps/cli/": "cli", "apps/server/": "server", "apps/device/": "e2e_device_program",
    "firmware/": "firmware", "data/studio/": "e2e_studio", "tests/e2e/studio/": "e2e_studio", "web/": "e2e_studio", "python/": "python",
    "tools/": "tools", "data/devices/": "cost", "README.md": "e2e_readme_commands", "docs/examples.md": "e2e_examples_commands",
    "docs/tutorial.md": "e2e_tutorial", "tests/e2e/faults/": "e2e_faults",
}


def labels_of(test):
    return next((p["value"] for p in test.get("properties", []) if p["name"] == "LABELS"), [])


def tests_of_word(word, tests):
    """By label, name, name without its label, beginning of names."""
    ways = [lambda t: word in labels_of(t), lambda t: t["name"] == word, lambda t: t["name"].partition("_")[2] == word,
            lambda t: t["name"].startswith(word + "_"), lambda t: t["name"].partition("_")[2].startswith(word + "_")]
    return next((found for way in ways if (found := [t for t in tests if way(t)])), [])


def tests_of_file(path, tests):
    """`path` is below the repository."""
    stem = os.path.basename(path).partition(".")[0].removesuffix("_test")
    if path.startswith("tests/"):
        named = [t for t in tests if any(argument.endswith("/" + path) for argument in t.get("command", []))]
        name = f"{path.split('/')[1]}_{stem}"
        named = named or [t for t in tests if t["name"] == name]
        if named:
            return named
    component = re.match(r"src/poet/([a-z_]+)/", path)
    if component:
        return tests_of_word(component[1], tests)
    home = max((home for home in HOMES if path.startswith(home)), key=len, default=None)
    return tests_of_word(HOMES[home], tests) if home else []


def files_called(name, repository):
    """The files of the repository that `name` may be, as it is seen from here, or by its last part."""
    here = os.path.relpath(os.path.realpath(name), os.path.realpath(repository))
    if os.path.exists(name) and not here.startswith(".."):
        return [here + "/" if os.path.isdir(name) else here]
    listed = subprocess.run(["git", "-C", repository, "ls-files", "--cached", "--others", "--exclude-standard"], capture_output=True, text=True).stdout
    return [path for path in listed.splitlines() if path.endswith("/" + name)]


def targets_of(test, build):
    """What a test needs: its own program, and those of the build that its command or environment name."""
    words = [*test.get("command", []), *(value for p in test.get("properties", []) if p["name"] == "ENVIRONMENT" for value in p["value"])]
    targets = set()
    for word in words:
        program = re.search(re.escape(build) + r"/tests/bin/(tests_\w+)$", word)
        if program:
            targets.add(program[1])
        elif word.endswith("/apps/cli/poet"):
            targets.add("poet")
        elif word == f"PYTHONPATH={build}/python":
            targets.add("poet_python")
        elif "libpoet_fault" in word:
            targets.add("poet_fault")
        elif re.search(r"package_test\.sh$|install_test\.cmake$", word):
            targets.add("all")
    return targets


def main(repository, build, *names):
    tests = json.load(sys.stdin)["tests"]
    build = os.path.abspath(build)
    said, chosen = [], {}
    for name in names:
        found = tests_of_word(name.rstrip("/"), tests)
        if not found:
            files = files_called(name, repository)
            if len(files) > 1:
                sys.exit(refusal(f"{name} may be {', '.join(files)}: name one"))
            found = tests_of_file(files[0], tests) if files else []
            if files and not found:
                sys.exit(refusal(f"{files[0]} has no tests of its own: ./test runs all"))
        if not found:
            labels = sorted({label for t in tests for label in labels_of(t)})
            sys.exit(refusal(f"{name} is no component, test or file; components and labels: {', '.join(labels)}"))
        chosen.update((t["name"], t) for t in found)
        shown = [t["name"] for t in found]
        said.append(f"{name}: {len(shown)} test{'s' * (len(shown) > 1)}: {', '.join(shown[:12])}{', ...' * (len(shown) > 12)}")
    needed = set().union(*(targets_of(t, build) for t in chosen.values()))
    print("; ".join(said))
    print(" ".join(sorted(needed)))
    print("^(" + "|".join(re.escape(name) for name in chosen) + ")$")
    return 0


def refusal(text):
    print(f"poet: {text}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    if len(sys.argv) < 4:
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        sys.exit(2)
    sys.exit(main(*sys.argv[1:]))
