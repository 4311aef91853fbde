#!/usr/bin/env python3
"""Checks that anonymous namespaces of one library hold no two things of one name, so that its sources compile together.

usage: check_names.py FOLDER...

Every folder in a FOLDER is a library; the runtime's kernels are several. Prints one line per name that a second source has; exit
1 if there is one. Found by how clang-format leaves declarations; aliases may be repeated.
"""
import pathlib
import re
import sys

TYPE = re.compile(r"(?:struct|class|enum class|enum|union) (\w+)\b(?!.*;\s*$)")
CONSTANT = re.compile(r"(?:constexpr|const|static|inline|thread_local)\b[^()=]*?\b(\w+)(?:\[[^\]]*\])* ?(?:=|\{)")
FUNCTION = re.compile(r"[A-Za-z_][\w:<>,*& ]*?[ *&](\w+)\(([^{;]*)")


def signature(name, parameters):
    return f"{name}({re.sub(r' ?[A-Za-z_]+(?=,|[)]|$)', '', parameters)}"


def anonymous_names(source):
    """Yields (name, line number); of functions with the types of the parameters on that line."""
    inside = False
    for number, line in enumerate(source.read_text().splitlines(), 1):
        if line in ("namespace {", "}  // namespace"):
            inside = line == "namespace {"
        elif inside and not line.startswith((" ", "template")):
            if match := TYPE.match(line) or CONSTANT.match(line):
                yield match[1], number
            elif match := FUNCTION.match(line):
                yield signature(*match.groups()), number


def library_of(path):
    return path.parts[:3] if path.parts[:2] == ("runtime", "kernels") else path.parts[:1]


def main(*folders):
    known = {}
    clashes = checked = 0
    for folder in map(pathlib.Path, folders):
        for source in sorted(folder.rglob("*.cc")):
            checked += 1
            for name, number in anonymous_names(source):
                key = (folder, library_of(source.relative_to(folder)), name)
                other = known.setdefault(key, (source, number))
                if other[0] != source:
                    print(f"{source}:{number}: {name} is in {other[0]}:{other[1]}, too")
                    clashes += 1
    print(f"{checked} sources, {clashes} clashes")
    return 1 if clashes or not checked else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
