"""What surrounds the program: full disks, folders that cannot be written, locales, time zones, no HOME or TMPDIR, umasks,
links, odd names, two processes at one file. Whatever it is, the answer is the same or one clear line.

usage: surroundings_test.py POET"""
import contextlib
import itertools
import os
import stat
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from commands import COMMANDS, LINEAR, call, content, lay_out, prepare

POET = os.path.abspath(sys.argv.pop(1))
OLD = b"what was there before\n"
# reproduce writes a folder of many files, which faults_test.py looks at.
WRITING = [name for name, command in COMMANDS.items() if command.outputs and name != "reproduce"]


def poet(arguments, folder, environment=None, **how):
    return subprocess.run([POET, *arguments], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          errors="replace", env={**os.environ, **(environment or {})}, **how)


class Surroundings(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.inputs = cls.enterClassContext(tempfile.TemporaryDirectory())
        prepare(POET, cls.inputs)
        os.chmod(cls.inputs, 0o755)

    def setUp(self):
        self.work = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def laid_out(self, name, place):
        folder = self.work / place
        folder.mkdir()
        lay_out(COMMANDS[name], self.inputs, folder)
        return folder

    def assert_refused(self, done, what):
        self.assertEqual(done.returncode, 2, f"{what}: {done.stderr}")
        self.assertEqual(len(done.stderr.splitlines()), 1, f"{what}: {done.stderr}")

    def test_a_disk_that_fills_up(self):
        """By a limit on the size of files, at several sizes: below it all is written, above it nothing."""
        for name in WRITING:
            for kib in (0, 1, 4):
                with self.subTest(command=name, kib=kib):
                    folder = self.laid_out(name, f"{name}-{kib}")
                    new = [file for file in COMMANDS[name].outputs if file not in COMMANDS[name].inputs]
                    for file in new:
                        if file != "firmware":
                            (folder / file).write_bytes(OLD)
                    before = {file: content(folder / file) for file in COMMANDS[name].outputs}
                    done = subprocess.run(["prlimit", f"--fsize={kib * 1024}", POET, *COMMANDS[name].arguments], cwd=folder,
                                          stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                                          env={**os.environ, "TMPDIR": str(folder)})
                    if done.returncode == 0:
                        continue
                    self.assert_refused(done, name)
                    for file, old in before.items():
                        now = content(folder / file)
                        whole = now is not None and len(now) <= kib * 1024 and now != old
                        self.assertTrue(now == old or whole, f"{name}: {file}")
                    left = {file.name for file in folder.iterdir()}
                    self.assertLessEqual(left, {*COMMANDS[name].outputs, *COMMANDS[name].inputs, *COMMANDS[name].keeps,
                                                "o.sqlite-wal", "o.sqlite-shm", "o.sqlite-journal", "o.sqlite-lock"})

    def test_standard_output_that_is_full(self):
        for arguments in (["models"], ["devices", "m4"], ["solve", *LINEAR, "--json"]):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([POET, *arguments], stdout=full, stderr=subprocess.PIPE, text=True)
            self.assert_refused(done, arguments)

    def test_a_temporary_folder_that_is_full(self):
        full = self.work / "full"
        full.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", full], capture_output=True)
        if mounted.returncode != 0:
            self.skipTest("mounting is not allowed here")
        with contextlib.ExitStack() as stack:
            stack.callback(subprocess.run, ["umount", full], check=True)
            for kind in ("svg", "png", "pdf"):
                folder = self.laid_out(f"show_{kind}", kind)
                for room in (0, 4, 16, 40, 60):
                    filling = full / "filling"
                    filling.write_bytes(bytes((60 - room) * 1024))
                    done = poet(COMMANDS[f"show_{kind}"].arguments, folder, {"TMPDIR": str(full)})
                    filling.unlink()
                    self.assertEqual([file.name for file in full.iterdir()], [])
                    if done.returncode != 0:
                        self.assert_refused(done, kind)
                        self.assertFalse((folder / f"o.{kind}").exists())
                    else:
                        (folder / f"o.{kind}").unlink()

    def test_folders_that_cannot_be_written(self):
        drop = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []
        os.chmod(self.work, 0o755)
        reached = all(subprocess.run([*drop, *line], cwd=self.work, capture_output=True).returncode == 0
                      for line in ([POET, "devices", "m4"], ["ls", self.work, self.inputs]))
        if drop and not reached:
            self.skipTest("another user can reach neither poet nor folders here")
        for name in WRITING:
            if COMMANDS[name].keeps:
                continue  # the file that is kept comes first, and is what the line is about
            with self.subTest(command=name):
                folder = self.laid_out(name, name)
                before = sorted(file.name for file in folder.iterdir())
                os.chmod(folder, 0o555)
                done = subprocess.run([*drop, POET, *COMMANDS[name].arguments], cwd=folder, stdin=subprocess.DEVNULL,
                                      capture_output=True, text=True, env={**os.environ, "HOME": "/nonexistent"})
                self.assert_refused(done, name)
                self.assertEqual(sorted(file.name for file in folder.iterdir()), before)
                os.chmod(folder, 0o755)

    def test_locale_zone_home_and_temporary_folder_change_nothing(self):
        surroundings = [{"LC_ALL": "de_DE.UTF-8", "LANG": "de_DE.UTF-8", "LANGUAGE": "de"}, {"LC_ALL": "C"},
                        {"TZ": "Pacific/Chatham"}, {"TZ": "nowhere"}, {"HOME": ""}, {"TERM": "dumb", "COLUMNS": "3"}]
        for name in ("solve", "show_svg", "show_pdf", "show_json", "import", "codegen", "run"):
            expected = None
            for number, environment in enumerate([{}, *surroundings]):
                with self.subTest(command=name, environment=environment):
                    folder = self.laid_out(name, f"{name}{number}")
                    done = poet(COMMANDS[name].arguments, folder, environment)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    made = {file: content(folder / file) for file in COMMANDS[name].outputs}
                    expected = expected or made
                    self.assertEqual(made.keys(), expected.keys())
                    for file, bytes_ in made.items():
                        self.assertTrue(bytes_ == expected[file], file)

    def test_no_temporary_folder(self):
        for folder in ("/nonexistent", "/proc"):
            for name in ("show_svg",):
                done = poet(COMMANDS[name].arguments, self.laid_out(name, name + folder.strip("/")), {"TMPDIR": folder})
                self.assert_refused(done, name)

    def test_umask(self):
        for mask, mode in ((0o077, 0o600), (0o022, 0o644), (0, 0o666)):
            for name in ("solve", "show_html", "import", "run"):
                folder = self.laid_out(name, f"{name}{mask:o}")
                done = poet(COMMANDS[name].arguments, folder, umask=mask)
                self.assertEqual(done.returncode, 0, done.stderr)
                for file in COMMANDS[name].outputs:
                    self.assertEqual(stat.S_IMODE((folder / file).stat().st_mode), mode, file)

    def test_outputs_that_are_links(self):
        """The link stays, the file behind it is written, whether there was one or not."""
        for name, old in itertools.product(WRITING, (OLD, None)):
            for file in COMMANDS[name].outputs:
                if file == "firmware" or file in COMMANDS[name].inputs:
                    continue
                with self.subTest(command=name, file=file, old=old):
                    folder = self.laid_out(name, f"{name}-{file}-{old is None}")
                    (folder / "elsewhere").mkdir()
                    if old is not None:
                        (folder / "elsewhere" / "it").write_bytes(old)
                    (folder / file).symlink_to("elsewhere/it")
                    done = poet(COMMANDS[name].arguments, folder)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertTrue((folder / file).is_symlink())
                    self.assertNotEqual((folder / "elsewhere" / "it").read_bytes(), OLD)

    def test_links_in_a_circle(self):
        (self.work / "one.plan").symlink_to("two.plan")
        (self.work / "two.plan").symlink_to("one.plan")
        done = poet(["solve", *LINEAR, "--plan-out", "one.plan"], self.work)
        self.assert_refused(done, "links in a circle")
        self.assertIn("one.plan: cannot be written: Too many levels of symbolic links", done.stderr)

    def test_odd_names(self):
        for odd in ("a name with spaces", "new\nline", "-dash", "ünïcode", "quote'\"s", "$(touch x)`y`;&"):
            folder = self.work / odd
            folder.mkdir()
            plan, figure = folder / (odd + ".plan"), folder / (odd + ".svg")
            for arguments in (["solve", *LINEAR, "--plan-out", plan], ["verify", plan], ["show", plan, "-o", figure],
                              ["show", plan, "-o", figure.with_suffix(".html")]):
                done = poet(arguments, folder)
                self.assertEqual(done.returncode, 0, f"{odd!r}: {done.stderr}")
            missing = poet(["verify", folder / (odd + "?")], folder)
            self.assert_refused(missing, odd)

    def test_two_processes_at_one_store(self):
        folder = self.laid_out("sweep", "both")
        both = [subprocess.Popen([POET, *COMMANDS["sweep"].arguments], cwd=folder, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE, text=True) for _ in range(2)]
        for process in both:
            _, said = process.communicate()
            self.assertIn(process.returncode, (0, 2), said)
            self.assertLessEqual(len(said.splitlines()), 1, said)
        self.assertIn(0, [process.returncode for process in both])
        call(POET, COMMANDS["sweep"].arguments, folder)

    def test_two_runs_at_one_page_file(self):
        folder = self.laid_out("run_paged", "both")
        arguments = ["run", "paged", "--steps", "400", "--storage", "pages", "--quiet"]
        both = [subprocess.Popen([POET, *arguments], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                 text=True) for _ in range(2)]
        ends = [(process.communicate()[1], process.returncode) for process in both]
        self.assertIn(0, [code for _, code in ends], ends)
        for said, code in ends:
            self.assertTrue(code == 0 or code == 2 and len(said.splitlines()) == 1, said)

    def test_two_codegens_into_one_folder(self):
        folder = self.laid_out("codegen", "both")
        both = [subprocess.Popen([POET, *COMMANDS["codegen"].arguments], cwd=folder, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE, text=True) for _ in range(2)]
        ends = [(process.communicate()[1], process.returncode) for process in both]
        self.assertIn(0, [code for _, code in ends], ends)
        for said, code in ends:
            self.assertTrue(code == 0 or code == 2 and len(said.splitlines()) == 1, said)
        self.assertEqual(sorted(file.name for file in folder.iterdir()), ["firmware", "plan"])
        again = self.laid_out("codegen", "alone")
        call(POET, COMMANDS["codegen"].arguments, again)
        self.assertEqual(content(folder / "firmware"), content(again / "firmware"))


if __name__ == "__main__":
    unittest.main()
