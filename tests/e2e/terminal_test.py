#!/usr/bin/env python3
"""What is printed, as terminals show it: its width, colours, the live line, errors as JSON, and commands that it names.

usage: terminal_test.py POET
"""
import fcntl
import json
import os
import pathlib
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
import unittest

POET = str(pathlib.Path(sys.argv.pop()).resolve())
ALL = "POET_TEST_ALL" in os.environ
SMALL = ("--model", "linear", "--platform", "m4", "--time-limit", "0.2s")
PARTS = ("--ram-budget", "128KiB,50%")
COMMANDS = (
    ("models",),
    ("devices",),
    ("devices", "m4"),
    ("solve", *SMALL, "--ram-budget", "50%", "--quiet"),
    ("solve", *SMALL, "--ram-budget", "100KiB,50%", "--quiet"),
    ("solve", *SMALL, "--ram-budget", "20KB", "--persistent", "resident", "--quiet"),
    ("explain", *SMALL, "--ram-budget", "50%", "--all", "--quiet"),
    ("compare", *SMALL, "--quiet"),
    ("compare", "--list"),
    ("run", *SMALL, "--ram-budget", "50%", "--steps", "2", "--report", "--quiet"),
)


def environment(**changes):
    inherited = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR", "POET_CALLED_AS")}
    return {**inherited, "TERM": "xterm", "LC_ALL": "C.UTF-8", **changes}


def piped(*arguments, folder=None, **changes):
    return subprocess.run([POET, *arguments], capture_output=True, text=True, env=environment(**changes), cwd=folder)


def on_terminal(*arguments, columns=72, **changes):
    """What a terminal receives."""
    try:
        child, terminal = pty.fork()
    except OSError:
        raise unittest.SkipTest("no terminal can be had here") from None
    if child == 0:
        os.execve(POET, [POET, *arguments], environment(**changes))
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    received = b""
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # nobody writes any more
            break
        if not part:
            break
        received += part
    os.close(terminal)
    os.waitpid(child, 0)
    return received.decode()


def without_colours(text):
    return re.sub(r"\x1b\[[0-9]*m", "", text)


class Width(unittest.TestCase):
    def check(self, text, columns):
        for line in text.splitlines():
            self.assertLessEqual(len(line), columns, line)

    def test_no_line_is_longer_than_COLUMNS(self):
        for arguments in COMMANDS:
            for columns in (40, 50, 80, 100, 132) if arguments[0] in ("models", "devices") else (80, 100, 132) if ALL else (80,):
                with self.subTest(arguments=arguments, columns=columns):
                    said = piped(*arguments, COLUMNS=str(columns))
                    self.assertIn(said.returncode, (0, 1), said.stderr)
                    self.check(said.stdout, columns)

    def test_no_help_is_wider(self):
        for arguments in ((), ("solve",), ("run",), ("sweep",), ("codegen",)):
            for columns in (40, 50, 59, 63, 64, 80, 100):
                with self.subTest(arguments=arguments, columns=columns):
                    self.check(piped(*arguments, "--help", COLUMNS=str(columns), POET_CALLED_AS="./poet").stdout, columns)

    def test_nor_is_an_error_on_a_terminal(self):
        wrong = ("solve", "--modle", "linear")
        for columns in (40, 80):
            said = without_colours(on_terminal(*wrong, COLUMNS=str(columns), POET_CALLED_AS="./poet"))
            self.assertIn("did you mean --model?", " ".join(said.split()))
            self.check(said.replace("\r\n", "\n"), columns)
        self.assertEqual(piped(*wrong, COLUMNS="40").stderr.count("\n"), 1)  # one line for programs

    def test_a_plan_is_shown_in_40_columns(self):
        with tempfile.TemporaryDirectory() as folder:
            plan = os.path.join(folder, "p")
            piped("solve", *SMALL, "--ram-budget", "50%", "--quiet", "--plan-out", plan)
            for columns in (40, 50, 60, 80):
                with self.subTest(columns=columns):
                    said = piped("show", plan, folder=folder, COLUMNS=str(columns))
                    self.assertIn("Deviations", said.stdout, said.stderr)
                    self.check(said.stdout, columns)

    def test_nor_than_the_terminal(self):
        # The program may ask before the size is set: that of this test's own terminal would do as well.
        said = without_colours(on_terminal("models", COLUMNS="70"))
        self.assertIn("linear", said)
        self.check(said.replace("\r\n", "\n"), 70)

    def test_pipes_get_whole_lines(self):
        self.assertEqual(piped("models").stdout, piped("models", COLUMNS="wide").stdout)
        self.assertGreater(max(map(len, piped("models").stdout.splitlines())), 100)

    def test_the_ends_of_names_stay(self):
        arguments = ("solve", "--model", "transformer", "--platform", "jetsontx2", "--ram-budget", "72%", "--split", "off", "--quiet")
        self.assertRegex(piped(*arguments, COLUMNS="40").stdout, r"\u2026\S*backward_weight")


class Colours(unittest.TestCase):
    SOLVE = ("solve", *SMALL, "--quiet")

    def test_are_for_terminals(self):
        self.assertIn("\x1b[32moptimal\x1b[0m", on_terminal(*self.SOLVE))
        self.assertNotIn("\x1b", piped(*self.SOLVE).stdout)

    def test_can_be_chosen(self):
        self.assertNotIn("\x1b", on_terminal(*self.SOLVE, NO_COLOR="1"))
        self.assertNotIn("\x1b", on_terminal(*self.SOLVE, "--color", "never"))
        self.assertIn("\x1b[32m", piped(*self.SOLVE, "--color", "always", NO_COLOR="1").stdout)
        self.assertIn("\x1b[31mpoet:\x1b[0m", piped("solve", *SMALL, "--ram-budget", "x", "--color", "always").stderr)
        said = piped("solve", *SMALL, "--color", "sometimes")
        self.assertEqual(said.returncode, 2)
        self.assertIn("--color", said.stderr)

    def test_change_nothing_else(self):
        coloured = piped("explain", *SMALL, "--quiet", "--color", "always").stdout
        plain = piped("explain", *SMALL, "--quiet").stdout
        alike = [re.sub(r"[0-9.]+ (s|ms|us)\b", "", text) for text in (without_colours(coloured), plain)]
        self.assertEqual(*alike)


class LiveLine(unittest.TestCase):
    # Searched for a second, in many steps.
    HARD = ("solve", "--model", "transformer", "--platform", "jetsontx2", "--ram-budget", "55MB", "--persistent", "resident", "--split", "off",
            "--gap", "0", "--time-limit", "60s")

    def test_says_what_is_known_and_what_time_is_left(self):
        said = on_terminal(*self.HARD, COLUMNS="120")
        self.assertRegex(said, r"[a-z0-9 ]+, [0-9]+ s left: (best|schedule) [0-9.]+ .*J, bound [0-9.]+ .*J, gap [0-9.]+%")
        # The last is gone before the answer.
        self.assertRegex(said, r"\r\x1b\[K\x1b\[1mNetwork")

    def lines(self, said):
        return [line.strip() for line in re.split(r"\r\x1b\[K", said) if " J" in line]

    def test_keeps_what_matters_on_narrow_terminals(self):
        for columns, kept in ((50, r"^(best|schedule) \S+ m?J, bound \S+ m?J, .*[0-9]+ s left$"), (30, r"^((best|schedule) )?\S+ m?J, bound \S+ m?J$")):
            drawn = self.lines(on_terminal(*self.HARD, COLUMNS=str(columns)))
            self.assertTrue(any(re.search(kept, line) for line in drawn), drawn)
            self.assertFalse([line for line in drawn if line.endswith((",", ":"))], drawn)

    def test_is_of_the_whole_answer(self):
        """Of which searches with several sets of parameters on storage are parts."""
        arguments = ("solve", "--model", "linear", "--platform", "m0", "--ram-budget", "24KiB", "--time-limit", "1s")
        with tempfile.TemporaryDirectory() as folder:
            progress = pathlib.Path(folder, "progress")
            said = piped(*arguments, "--progress-out", str(progress), "--json")
            lines = [json.loads(line) for line in progress.read_text().splitlines()]
        energy = json.loads(said.stdout)["energy_joules"]
        times = [line["elapsed_seconds"] for line in lines]
        self.assertEqual(times, sorted(times))
        plans = [line["plan_joules"] for line in lines if line["plan_joules"]]
        self.assertEqual(plans, sorted(plans, reverse=True))
        for line in lines:
            self.assertLessEqual(line["bound_joules"] or 0, energy * (1 + 1e-9), line)
            self.assertGreaterEqual(line["plan_joules"] or energy, energy * (1 - 1e-9), line)

    def test_names_no_schedule_where_none_is_possible(self):
        said = piped("solve", "--model", "resnet18_cifar", "--platform", "a72", "--ram-budget", "30%", "--runtime-budget", "1.3", "--time-limit", "1s", "--split", "off")
        self.assertEqual(said.returncode, 1, said.stdout)
        self.assertNotIn("schedule", said.stderr)

    def test_is_not_for_pipes(self):
        said = piped(*self.HARD)
        self.assertNotIn("left", said.stderr)
        self.assertNotIn("\r", said.stderr)
        self.assertEqual(piped(*self.HARD, "--quiet").stderr, "")


class Errors(unittest.TestCase):
    def error(self, *arguments):
        said = piped(*arguments, "--json")
        self.assertEqual(said.returncode, 2, said.stdout)
        error = json.loads(said.stdout)["error"]
        self.assertEqual(said.stderr, f"poet: {error['message']}\n")
        return error["kind"], error["field"], error["rule"]

    def test_are_json_where_the_answer_would_be(self):
        self.assertEqual(self.error("solve", *SMALL, "--ram-budget", "x"),
                         ("input", "--ram-budget", '"x" is not an amount of RAM (try 300KiB, 2MB, 737719, 50% or least)'))
        self.assertEqual(self.error("import", "/no/such.onnx")[:2], ("input", "/no/such.onnx"))
        self.assertEqual(self.error("verify", "/no/such.plan")[:2], ("input", "/no/such.plan"))
        self.assertEqual(self.error("solve", "--modle", "x"), ("input", "--modle", "unknown option; did you mean --model?"))
        self.assertEqual(self.error("solve", "--model", "x", "--model", "y"), ("input", "--model", "may be given only once (was given 2 times)"))
        self.assertEqual(self.error("sweep"), ("input", "SPEC.json", "is missing"))
        self.assertEqual(self.error("solve", *SMALL, "--color", "blue"), ("input", "--color", '"blue" is not one of auto, always, never'))
        self.assertEqual(self.error("solve", *SMALL, "--deadline", "1s", "--runtime-budget", "2")[1], "--deadline")
        self.assertEqual(self.error("solve", "--model", "linear"), ("input", "--platform", "is needed with --model: which device"))
        self.assertEqual(self.error("run", *SMALL, "--quiet", "--validate", "nix")[:2], ("input", "--validate"))
        # From the process that solves.
        self.assertEqual(self.error("run", *SMALL, "--ram-budget", "1GB")[:2], ("input", "--ram-budget"))

    def test_name_field_and_rule(self):
        for arguments, field in ((("devices", "foo"), "DEVICE"), (("solve", "--model", "linear", "--platform", "zz"), "--platform"),
                                 (("solve", "--model", "linaer", "--platform", "m0"), "--model"),
                                 (("solve", *SMALL, "--batch-size", "99999999999"), "--batch-size"),
                                 (("profile", "--model", "linear"), "-o")):
            kind, named, rule = self.error(*arguments)
            self.assertEqual((kind, named), ("input", field))
            self.assertTrue(rule)

    def test_answers_that_there_is_no_plan_are_answers(self):
        said = piped("solve", *SMALL, "--ram-budget", "20KB", "--persistent", "resident", "--quiet", "--json")
        self.assertEqual((said.returncode, json.loads(said.stdout)["status"]), (1, "infeasible"))


class Hints(unittest.TestCase):
    """Commands that are named work where they are printed."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def run_all(self, text, called):
        commands = re.findall(r"with: (.*)$", text, re.M) + re.findall(r"\((\S+ (?:\w+ )?(?:--help|devices))", text)
        self.assertTrue(commands, text)
        for command in commands:
            self.assertTrue(command.startswith(called + " "), command)
            done = subprocess.run(command + (" --steps 1" if " run " in command else ""), shell=True, cwd=self.folder.name,
                                  capture_output=True, text=True, env=environment())
            self.assertEqual(done.returncode, 0, command + done.stderr)

    def said(self, *arguments, **changes):
        done = piped(*arguments, folder=self.folder.name, **changes)
        return done.stdout + done.stderr

    def test_as_the_program_was_called(self):
        quiet = (*SMALL, "--quiet")
        self.run_all(self.said("solve", *quiet, "--plan-out", "a plan", COLUMNS="200"), POET)
        self.run_all(self.said("solve", *quiet, "--ram-budget", "100KiB,50%", "--plan-out", "plans's"), POET)
        self.run_all(self.said("solve", *quiet, "--schedule-out", "s.json", COLUMNS="200"), POET)
        self.run_all(self.said("solve", "--modle", "x"), POET)
        self.run_all(self.said("solve", "--model", "linear"), POET)

    def test_from_a_checkout(self):
        os.symlink(POET, pathlib.Path(self.folder.name) / "poet")
        self.run_all(self.said("solve", *SMALL, "--quiet", "--plan-out", "p", POET_CALLED_AS="./poet"), "./poet")

    def test_examples_of_help(self):
        for command in ("solve", "run", "manual", "completion", "compare", "sweep", "codegen"):
            said = piped(command, "--help", POET_CALLED_AS="./poet").stdout
            examples = re.findall(r"(?m)^  (?! )(.*\bpoet .*)$", said.split("Example")[1])
            self.assertTrue(any(f"./poet {command}" in example for example in examples), said)
            for example in examples:
                self.assertNotRegex(example, r"(?<!\./)\bpoet [a-z]")
        self.assertIn("poet solve", piped("manual", "solve", POET_CALLED_AS="./poet").stdout)

    def test_a_plan_that_no_method_has(self):
        said = self.said("compare", "--model", "linear", "--platform", "m0", "--ram-budget", "24KiB", "--time-limit", "0.5s", "--methods", "dtr", "--quiet")
        command = re.search(r"plan:\n  (.*)$", said, re.M).group(1)
        done = subprocess.run(command + " --quiet", shell=True, capture_output=True, text=True, env=environment())
        self.assertEqual(done.returncode, 0, command + done.stderr)

    def test_suggestions(self):
        problem = (*SMALL[:-1], "1s", "--split", "off")  # to try what it suggests
        answer = self.said("solve", *problem, "--ram-budget", "20KB", "--persistent", "resident", "--quiet", COLUMNS="300")
        way = re.search(r"Suggestion +(--\S+ \d+(?: --\S+)*)", answer).group(1)
        done = piped("solve", *problem, "--persistent", "resident", "--quiet", *way.split())
        self.assertEqual(done.returncode, 0, way + done.stderr)


if __name__ == "__main__":
    unittest.main()
