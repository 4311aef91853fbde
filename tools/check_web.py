#!/usr/bin/env python3
"""Checks the modules of the web pages: what one imports another exports, and nothing is imported that is not used.

usage: check_web.py DATA_FOLDER

Browsers find such a mistake only when they open the page. The server serves DATA_FOLDER/studio at / and DATA_FOLDER/report at /report.
Prints one line per mistake; exit 0 if there is none, 1 otherwise.
"""
import pathlib
import re
import sys

EXPORTED = re.compile(r"^export (?:async )?(?:const|let|class|function\*?) (\w+)", re.M)
LISTED = re.compile(r"^export \{([^}]*)\}", re.M)
IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([^"]+)";', re.M)


def exports_of(text):
    return {*EXPORTED.findall(text), *(name for names in LISTED.findall(text) for name in re.findall(r"\w+", names))}


def main(folder):
    folder = pathlib.Path(folder)
    # By the address that the server gives them.
    modules = {path.name: path for path in (folder / "studio").glob("*.js")}
    modules.update({f"report/{path.name}": path for path in (folder / "report").glob("*.js")})
    texts = {name: path.read_text() for name, path in modules.items()}
    found = 0
    for name, text in texts.items():
        rest = IMPORT.sub("", text)
        for names, source in IMPORT.findall(text):
            source = source if name.count("/") == 0 else f"report/{source}"
            for one in re.findall(r"\w+", names):
                if one not in exports_of(texts.get(source, "")):
                    print(f"{modules[name]}: {source} does not export {one}")
                    found += 1
                if not re.search(rf"\b{one}\b", rest):
                    print(f"{modules[name]}: {one} is imported and not used")
                    found += 1
    print(f"{len(modules)} modules, {found} mistakes")
    return 1 if found or not modules else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
