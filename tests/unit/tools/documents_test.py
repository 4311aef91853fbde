#!/usr/bin/env python3
"""What documents name is there: targets of links, paths, scripts and their options; files for GitHub, pre-commit and editors parse.

usage: documents_test.py REPOSITORY

1. Links between the pages of the repository lead to files and headings.
2. Paths in backquotes in CONTRIBUTING.md, docs/architecture.md and the files below exist, where NAME or COMPONENT stands for any
   name; commands of scripts of the repository name scripts that may be executed, and options that stand in them.
3. .devcontainer, .pre-commit-config.yaml and .github have the form that their readers expect, and their commands are valid shell.

Prints one line per mistake; exit 1 if there is one. Without PyYAML the last is left out but for JSON: exit 77.
"""
import json
import os
import pathlib
import re
import subprocess
import sys

PATHS_OF = ["CONTRIBUTING.md", "docs/architecture.md"]
BELOW = ["", "src/poet", "src", "data", "tests", "docs"]  # what paths in documents are relative to
ANY = re.compile(r"(?<![A-Z])(NAME|COMPONENT|COMMAND|MODEL|PLATFORM)(?![A-Z])")
MADE = ("build", "share/", "bin/", "lib/", "include/poet")  # by a build or an installation
ELEMENTS = {"markdown", "textarea", "input", "dropdown", "checkboxes"}


def headings(text):
    """The anchors of a page's headings, as GitHub makes them."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.S | re.M)
    found = []
    for heading in re.findall(r"^#+ +(.+?) *$", text, re.M):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        anchor = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        found.append(f"{anchor}-{found.count(anchor)}" if anchor in found else anchor)
    return set(found)


class Documents:
    def __init__(self, root):
        self.root = root
        self.wrong = []
        self.checked = 0

    def check(self, holds, what):
        self.checked += 1
        if not holds:
            self.wrong.append(what)

    def text(self, file):
        return (self.root / file).read_text()

    def links(self, page):
        text = re.sub(r"^```.*?^```$|`[^`\n]*`", "", page.read_text(), flags=re.S | re.M)
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if re.match(r"\w+:", target):
                continue
            path, _, anchor = target.partition("#")
            file = (page.parent / path) if path else page
            name = f"{page.relative_to(self.root)}: the link to {target}"
            self.check(file.exists(), f"{name} leads nowhere")
            if anchor and file.suffix == ".md" and file.exists():
                self.check(anchor in headings(file.read_text()), f"{name} names no heading")

    def is_there(self, path):
        pattern = ANY.sub("*", path.rstrip("/"))
        return any(any((self.root / below).glob(pattern)) for below in BELOW)

    def paths(self, file):
        """Paths in backquotes. One with a folder is checked; a name alone may be of a folder that was named before."""
        for path in re.findall(r"`(?:\./)?([\w.*-]+(?:/[\w.*{},-]+)+/?)`", self.text(file)):
            if not path.startswith(MADE) and not any(c in path for c in "{}"):
                self.check(self.is_there(path), f"{file}: there is no {path}")

    def command(self, where, line):
        """A command line: its script, if it is one of the repository, the script's options, and files that it names."""
        words = line.split(" #")[0].split()
        while words and re.fullmatch(r"[A-Z_]+=\S*", words[0]):
            words.pop(0)
        if words and words[0] in ("python3", "bash", "time"):
            words.pop(0)
        if not words or not re.fullmatch(r"(\./)?(poet|test)|[.\w]+/[\w./-]+", words[0]) or words[0].startswith(MADE):
            return
        script = self.root / words[0]
        self.check(script.is_file() and os.access(script, os.X_OK), f"{where}: {words[0]} is no program")
        for word in words[1:]:
            if word.startswith("--") and script.is_file() and script.name not in ("poet", "solve_bench"):
                self.check(word.split("=")[0] in script.read_text(), f"{where}: {words[0]} has no option {word}")
            elif re.fullmatch(r"[\w-]+(/[\w.-]+)+", word) and not word.startswith(MADE):
                self.check(self.is_there(word), f"{where}: there is no {word}")

    def shell(self, where, text):
        done = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True)
        self.check(done.returncode == 0, f"{where}: {done.stderr.strip()}")
        for line in re.split(r"\n|&&|\|\||;", text):
            self.command(where, line.strip().strip("'"))

    def commands_of_page(self, file):
        for block in re.findall(r"^```(?:sh|console)?\n(.*?)^```$", self.text(file), re.S | re.M):
            self.shell(file, block)
        for command in re.findall(r"`((?:\./test|\./poet|tools/|bench/|\.ci/)[^`]*)`", self.text(file)):
            if "NAME" not in command:
                self.command(file, command)

    def container(self, file):
        container = json.loads(self.text(file))
        self.check((self.root / file).with_name(container["build"]["dockerfile"]).is_file(), f"{file}: no such Containerfile")
        self.shell(file, container["onCreateCommand"])

    def hooks(self, file, config):
        for repository in config["repos"]:
            self.check(repository["repo"] == "local", f"{file}: {repository['repo']} is fetched")
            for hook in repository["hooks"]:
                where = f"{file}: {hook['id']}"
                self.check(hook["language"] == "system" and hook["name"], where)
                re.compile(hook.get("files", ""))
                inner = re.fullmatch(r"bash -c '(.*)'(?: --)?", hook["entry"])
                self.shell(where, inner[1] if inner else hook["entry"])

    def workflow(self, file, workflow):
        self.check(workflow.get("name") and (True in workflow or "on" in workflow), f"{file}: name, on")  # YAML: on is true
        for name, job in workflow["jobs"].items():
            self.check(job.get("runs-on") and job["steps"], f"{file}: {name}")
            for step in job["steps"]:
                self.check(("run" in step) != ("uses" in step), f"{file}: a step of {name} runs or uses one thing")
                run = step.get("run", "")
                for choice in re.findall(r"'(\S+ ?[^']*)'", run) if "${{" in run else []:
                    if choice.startswith("."):
                        self.command(file, choice)
                self.shell(f"{file}: {name}", re.sub(r"\$\{\{.*?\}\}", "true", run))

    def form(self, file, form):
        self.check(form["name"] and form["description"] and form["body"], f"{file}: name, description, body")
        ids = [element["id"] for element in form["body"] if element["type"] != "markdown"]
        self.check(len(ids) == len(set(ids)), f"{file}: an id is there twice")
        for element in form["body"]:
            text = "value" if element["type"] == "markdown" else "label"
            self.check(element["type"] in ELEMENTS and element["attributes"].get(text), f"{file}: {element}")


def main(root):
    documents = Documents(pathlib.Path(root).resolve())
    pages = [*documents.root.glob("*.md"), *documents.root.glob("docs/**/*.md"), *documents.root.glob("*/README.md")]
    for page in pages:
        documents.links(page)
    for file in PATHS_OF:
        documents.paths(file)
    documents.commands_of_page("CONTRIBUTING.md")
    documents.container(".devcontainer/devcontainer.json")
    try:
        import yaml
    except ImportError:
        yaml = None
    if yaml:
        read = {file: yaml.safe_load(documents.text(file)) for file in
                [".pre-commit-config.yaml", *(str(f.relative_to(documents.root)) for f in documents.root.glob(".github/**/*.yml"))]}
        for file, content in read.items():
            if file.startswith(".pre-commit"):
                documents.hooks(file, content)
            elif "/workflows/" in file:
                documents.workflow(file, content)
            elif not file.endswith("/config.yml"):
                documents.form(file, content)
    for wrong in documents.wrong:
        print(wrong)
    print(f"{len(pages)} pages, {documents.checked} checks, {len(documents.wrong)} wrong")
    if documents.wrong:
        return 1
    if not yaml:
        print("skipped: forms, workflow and hooks need PyYAML (python3-yaml)")
        return 77
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
