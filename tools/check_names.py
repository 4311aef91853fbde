#!/usr/bin/env python3
"""Checks that no name is defined twice where that breaks a build or the one-definition rule.

usage: check_names.py FOLDER...

1. Types of a named namespace are defined in one file of all FOLDERs: two definitions violate the one-definition rule, and the
   linker does not notice.
2. Anonymous namespaces of one library share no name, so that its sources compile together (unity builds). Every folder in a
   FOLDER is a library; the runtime's kernels are several.

Prints one line per name that a second file defines; exit 1 if there is one. Relies on clang-format's layout. Aliases may be
repeated as they are.
"""
import pathlib
import re
import sys

TYPE = re.compile(r"(?:struct|class|enum class|enum|union) (\w+)\b(?!.*;\s*$)")
NAMED_TYPE = re.compile(r"(?:struct|class|enum class|enum|union) (\w+(?:::\w+)*)(?: final)?(?: ?:[^:].*| ?\{.*)?$")
CONSTANT = re.compile(r"(?:constexpr|const|static|inline|thread_local)\b[^()=]*?\b(\w+)(?:\[[^\]]*\])* ?(?:=|\{)")
FUNCTION = re.compile(r"[A-Za-z_][\w:<>,*& ]*?[ *&](\w+)\(([^{;]*)")
ALIAS = re.compile(r"using (\w+) = (.*);")
OPENED = re.compile(r"(?:inline )?namespace ?([\w:]*) ?\{(?:  //.*)?$")

CLASHES_FOR_TESTS = "name_clashes"


def signature(name, parameters):
    return f"{name}({re.sub(r' ?[A-Za-z_]+(?=,|[)]|$)', '', parameters)}"


def lines_with_namespace(source):
    """Yields (line number, line, names of the namespaces around it); an anonymous one has the name ""."""
    around = []
    for number, line in enumerate(source.read_text().splitlines(), 1):
        if match := OPENED.match(line):
            around.append(match[1])
        elif line.startswith("}  // namespace"):
            del around[-1:]
        else:
            yield number, line, around


def anonymous_names(source):
    """Yields (name, line number, what an alias stands for); of functions the name has the types of the parameters on that line."""
    for number, line, around in lines_with_namespace(source):
        if "" not in around or line.startswith((" ", "template")):
            continue
        if match := TYPE.match(line) or CONSTANT.match(line):
            yield match[1], number, ""
        elif match := ALIAS.match(line):
            yield match[1], number, match[2]
        elif match := FUNCTION.match(line):
            yield signature(*match.groups()), number, ""


def named_types(source):
    """Yields (qualified name, line number) of the types that the file defines in named namespaces."""
    for number, line, around in lines_with_namespace(source):
        if around and "" not in around and not line.endswith(";") and (match := NAMED_TYPE.match(line)):
            yield "::".join([*around, match[1]]), number


def library_of(path):
    return path.parts[:3] if path.parts[:2] == ("runtime", "kernels") else path.parts[:1]


def main(*folders):
    known = {}
    clashes = checked = 0

    def define(scope, name, source, number, stands_for=""):
        nonlocal clashes
        other = known.setdefault((scope, name), (source, number, stands_for))
        if other[0] != source and not (stands_for and other[2] == stands_for):
            print(f"{source}:{number}: {name} is in {other[0]}:{other[1]}, too")
            clashes += 1

    for folder in map(pathlib.Path, folders):
        for source in sorted(path for path in folder.rglob("*") if path.suffix in (".h", ".cc")):
            if CLASHES_FOR_TESTS in source.relative_to(folder).parts:
                continue
            checked += 1
            for name, number in named_types(source):
                define("types", name, source, number)
            if source.suffix == ".cc":
                library = (folder, library_of(source.relative_to(folder)))
                for name, number, stands_for in anonymous_names(source):
                    define(library, name, source, number, stands_for)
    print(f"{checked} files, {clashes} clashes")
    return 1 if clashes or not checked else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
