#!/usr/bin/env python3
"""Completion of shells, as users press Tab.

usage: completion_test.py POET

bash is typed into on a terminal of its own; what it offers for every command and option is compared with their --help.
zsh and fish are tried where they are installed.
"""
import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

POET = str(pathlib.Path(sys.argv[1]).resolve())
PATIENCE = 600  # seconds for what does appear: on a busy machine, too
wrong = []


def check(holds, what):
    if not holds:
        wrong.append(what)
        print("wrong:", what)


def poet(*arguments):
    return subprocess.run([POET, *arguments], capture_output=True, text=True, check=True).stdout


def commands():
    return re.findall(r"^  ([a-z]+) ", poet("--help").split("Subcommands:")[1], re.M)


def options_of(command):
    """Every option that the help of a command begins a line with."""
    found = set()
    for line in re.findall(r"^  (-\S+)", poet(*command, "--help"), re.M):
        found.update(line.split(","))
    return found


class Terminal:
    """A shell on a terminal, as in a window."""

    def __init__(self, command, folder, start):
        self.process, self.screen = pty.fork()
        if self.process == 0:
            os.chdir(folder)
            environment = {"PATH": os.path.dirname(POET) + ":/usr/bin:/bin", "HOME": folder, "TERM": "dumb", "PS1": "", "LC_ALL": "C.UTF-8"}
            os.execvpe(command[0], command, environment)
        self.type(start + " echo rea''dy\n")
        self.wait_for("ready")

    def type(self, text):
        os.write(self.screen, text.encode())

    def wait_for(self, text):
        """What appeared until `text` did."""
        seen, end = "", time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if select.select([self.screen], [], [], 0.1)[0]:
                seen += os.read(self.screen, 65536).decode(errors="replace").replace("\x07", "")  # without bells
                if text in seen:
                    return seen
        raise TimeoutError(f"{text!r} did not appear in {seen!r}")

    def completed(self, line, expected):
        """Types a line and Tab, and waits for what is to follow; then drops the line."""
        self.type(line + "\t")
        try:
            self.wait_for(line + expected)
        except TimeoutError as error:
            check(False, f"{line!r}: {error}")
        self.type("\x15")

    def close(self):
        os.close(self.screen)
        os.waitpid(self.process, 0)


def has_terminals():
    try:
        for end in pty.openpty():
            os.close(end)
        return True
    except OSError:
        return False


def try_terminal(command, folder, start):
    terminal = Terminal(command, folder, start)
    for line, expected in [
        ("poet ver", "ify "),
        ("poet solve --mod", "el"),
        ("poet solve --model resnet5", "0"),
        ("poet solve --model=vgg16_", "cifar"),
        ("poet solve --platform jets", "ontx2"),
        ("poet solve --platform my_", "board.json"),
        ("poet show --axis st", "ep"),
        ("poet verify a_pl", "an.plan"),
        ("poet reproduce -o fol", "der/"),
        ("poet devices jets", "ontx2"),
        ("poet completion fi", "sh"),
        ("poet help so", "lve"),
        ("poet manual so", "lve"),
        ("poet hel", "p"),
    ]:
        terminal.completed(line, expected)
    terminal.close()


def offered_by_bash(words):
    script = """source <("$0" completion bash); COMP_WORDS=(poet "$@"); COMP_CWORD=$#; _poet; printf '%s\\n' "${COMPREPLY[@]}" """
    done = subprocess.run(["bash", "--norc", "-c", script, POET, *words], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def try_every_option():
    """What bash offers is what the command line takes."""
    names = commands()
    check(len(names) > 10, f"commands: {names}")
    offered = offered_by_bash([""])
    known = {*names, "help"} | options_of([])
    check(offered == known, f"poet: {sorted(offered ^ known)}")
    for command in ("help", "manual"):
        check(offered_by_bash([command, "so"]) == {"solve"}, f"{command}: {offered_by_bash([command, 'so'])}")
    for name in names:
        offered, there = offered_by_bash([name, "-"]), options_of([name])
        check(offered == there, f"{name}: bash offers {sorted(offered - there)} too much, {sorted(there - offered)} not")
    models = set(re.findall(r"^  ([a-z0-9_]+) ", poet("models"), re.M))
    check(offered_by_bash(["run", "--model", ""]) >= {"linear", "bert"}, f"models: {models}")


def try_fish(folder):
    script = f"source ({POET} completion fish | psub)\n" + "\n".join(
        f"complete -C '{line}'; echo" for line in ["poet ver", "poet solve --platform m", "poet verify a_pl", "poet solve --mod", "poet help so", "poet manual so"])
    environment = {**os.environ, "HOME": folder}
    done = subprocess.run(["fish", "--no-config", "-c", script], cwd=folder, env=environment, capture_output=True, text=True)
    groups = [[line.split("\t")[0] for line in group.splitlines()] for group in done.stdout.split("\n\n")]
    check(groups[0] == ["verify"], f"fish: {done.stdout} {done.stderr}")
    check({"m0", "m4", "my_board.json"} <= set(groups[1]), f"fish: {groups}")
    check(groups[2] == ["a_plan.plan"] and "--model" in groups[3], f"fish: {groups}")
    check(groups[4:6] == [["solve"], ["solve"]], f"fish: {groups}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name in ["my_board.json", "my_board.txt", "a_plan.plan"]:
            pathlib.Path(folder, name).write_text("")
        pathlib.Path(folder, "folder").mkdir()
        try_every_option()
        bash = "bind 'set bell-style none'; bind 'set enable-bracketed-paste off';"
        terminals = has_terminals()
        if terminals:
            try_terminal(["bash", "--norc", "--noprofile", "-i"], folder, bash + " source <(poet completion bash);")
        else:
            print("not tested: typing into bash and zsh, as no terminal can be had here")
        tried = ["bash"]
        if terminals and shutil.which("zsh"):
            start = "unsetopt zle_bracketed_paste prompt_sp; autoload -Uz compinit; compinit -u -D; source <(poet completion zsh);"
            try_terminal(["zsh", "-f", "-i", "-o", "no_prompt_cr"], folder, start)
            tried.append("zsh")
        if shutil.which("fish"):
            try_fish(folder)
            tried.append("fish")
    print(f"{', '.join(tried)}: {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
