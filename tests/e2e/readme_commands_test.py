#!/usr/bin/env python3
"""Runs the README's commands as they are written.

usage: readme_commands_test.py README.md POET

Of a console block ("$ ./poet ..." and what it prints) every command is run: its exit code is that of the status
printed, and it prints the lines that the README shows, by their labels, with the same status and network. A command in
running text or in a table is run as it stands, "..." being the options of the first block's; one with a placeholder
(FILE, DIR) or without options is checked against the command's --help. SKIPPED names what is neither, with the reason.
"""
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

SKIPPED = {
    "./test": "runs this test",
    "mpirun -n 4 ./poet sweep ...": "needs MPI, which tests of sweeps try where it is",
}
PLACEHOLDER = re.compile(r"\b[A-Z]{2,}\b")
SAME = {"Network", "Device", "Rules", "Status"}  # labels whose text counts up to the first figure or colon


def console_blocks(text):
    """Yields (command, lines that it prints)."""
    for block in re.findall(r"^```\n(.*?)^```$", text, re.S | re.M):
        command, printed = None, []
        for line in block.splitlines():
            if line.startswith("$ "):
                if command:
                    yield command, printed
                command, printed = line[2:], []
            elif command:
                printed.append(line)
        if command:
            yield command, printed


def inline_commands(text):
    """Commands in backquotes outside blocks, each once."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.S | re.M)
    found = re.findall(r"`((?:mpirun [^`]*)?\./(?:poet|test)[^`]*)`", text)
    return list(dict.fromkeys(" ".join(command.split()) for command in found))


def labels(lines):
    """[(label, text)] of an answer's lines that begin one."""
    found = []
    for line in lines:
        match = re.match(r"(\S+(?: \S+)?) {2,}(\S.*)", line)
        if match:
            found.append((match.group(1), match.group(2)))
    return found


def first_words(text):
    return re.split(r"[:;,(0-9]", text)[0].strip()


class Readme:
    def __init__(self, program, folder):
        self.program = program
        self.folder = folder
        self.helps = {}
        self.first = []  # words of the first block's command
        self.wrong = []

    def run(self, arguments):
        return subprocess.run([self.program, *arguments], cwd=self.folder, capture_output=True, text=True)

    def check(self, holds, what):
        if not holds:
            self.wrong.append(what)

    def check_block(self, command, printed):
        words = shlex.split(command)
        self.check(words[0] == "./poet", f"{command}: is no command of poet's")
        self.first = self.first or words
        ran = self.run(words[1:])
        expected = labels(printed)
        status = dict(expected).get("Status", "optimal")
        code = 0 if status.split()[0].rstrip(":;,") in ("optimal", "feasible") else 1
        self.check(ran.returncode == code, f"{command}: exit code {ran.returncode}, not {code}: {ran.stderr[-500:]}")
        found = labels(ran.stdout.splitlines())
        self.check([label for label, _ in found] == [label for label, _ in expected],
                   f"{command}: prints {[label for label, _ in found]}, not {[label for label, _ in expected]}")
        for (label, now), (_, then) in zip(found, expected):
            if label in SAME:
                self.check(first_words(now) == first_words(then), f"{command}: {label} is \"{now}\", not \"{then}\"")

    def check_inline(self, command):
        words = shlex.split(command)
        if "..." in words and words[:2] == self.first[:2]:
            at = words.index("...")
            words[at:at + 1] = self.first[2:]
        if not PLACEHOLDER.search(command) and len(words) > 2:
            ran = self.run(words[1:])
            return self.check(ran.returncode == 0, f"{command}: exit code {ran.returncode}: {ran.stderr[-500:]}")
        subcommand = words[1:2] if len(words) > 1 and re.fullmatch(r"[a-z]+", words[1]) else []
        key = tuple(subcommand)
        if key not in self.helps:
            self.helps[key] = self.run([*subcommand, "--help"])
        help_text = self.helps[key]
        self.check(help_text.returncode == 0, f"{command}: there is no such command")
        for option in (word for word in words[1:] if word.startswith("-")):
            self.check(re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", help_text.stdout),
                       f"{command}: has no option {option}")


def main(readme, program):
    text = pathlib.Path(readme).read_text()
    ran = 0
    with tempfile.TemporaryDirectory() as folder:
        checks = Readme(str(pathlib.Path(program).resolve()), folder)
        for command, printed in console_blocks(text):
            checks.check_block(command, printed)
            ran += 1
        inline = inline_commands(text)
        for command in inline:
            if command not in SKIPPED:
                checks.check_inline(command)
                ran += 1
        checks.check(ran > 0, f"{readme} has no commands")
    for wrong in checks.wrong:
        print(wrong)
    print(f"{ran} commands, {len(checks.wrong)} wrong")
    return 1 if checks.wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
