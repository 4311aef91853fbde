"""Fails the n-th allocation, write, fsync, ... of every command, for n = 1, 2, ... until a run has no n-th: whatever fails,
there is one clear line, an exit code that is documented, every output as it was or whole, nothing temporary and nobody left,
and the next run goes on from what there is.

usage: faults_test.py POET LIBRARY [--every [STEP] | --places FILE | --few] [--first N] [--command NAME]... [--kind NAME]...
Without --every a sample of the n: the first ones, and then ever fewer; with --every all of them from N on, or each STEP-th;
with --places those that come from where none came before, in any command: of every stack of callers the first (FILE keeps
which have been dealt with, and the next call goes on from there); with --few one n of every other pair of a command and a kind, of slow commands of every eighth."""
import argparse
import contextlib
import errno
import itertools
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import serving
from commands import COMMANDS, call, content, environment, lay_out, left_over, prepare

# What fails, with what; "short": a transfer of half the bytes, after which everything has to go on as if nothing was.
KINDS = {
    "malloc": ("malloc", errno.ENOMEM), "open": ("open", errno.EMFILE), "read": ("read", errno.EIO),
    "write": ("write", errno.ENOSPC), "sync": ("sync", errno.EIO), "rename": ("rename", errno.EACCES),
    "fork": ("fork", errno.EAGAIN), "mmap": ("mmap", errno.ENOMEM), "thread": ("thread", errno.EAGAIN),
    "space": ("space", errno.ENOSPC), "folder": ("folder", errno.EROFS),
    "read_short": ("read", 0), "write_short": ("write", 0),
    "read_interrupted": ("read", errno.EINTR), "write_interrupted": ("write", errno.EINTR),
}
HARMLESS = ("read_short", "write_short", "read_interrupted", "write_interrupted")
SCARCE = ("fork", "thread")  # that the system has none left is no internal error
OLD = b"what was there before\n"
SECONDS = 600  # after which it does not end, on any machine
FEW = (1, 2, 3, 5, 1, 8, 4)


def at_work(group):
    """Whether a process of the group is no zombie: one that nobody waits for stays in it for ever."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            # "pid (name) state parent group ..."; the name may hold anything.
            fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
            # While its other threads end, the first one is a zombie already.
            if int(fields[2]) == group and (fields[0] != "Z" or int(fields[17]) > 1):
                return True
    return False


def group_is_empty(group):
    """Whoever is on the way out is waited for."""
    end = time.monotonic() + SECONDS
    while at_work(group):
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def kill_group(group):
    with contextlib.suppress(ProcessLookupError):  # it may have ended by itself meanwhile
        os.killpg(group, signal.SIGKILL)


class Driver:
    def __init__(self, poet, library, inputs):
        self.poet, self.library, self.inputs = poet, library, inputs
        self.whole = {}  # command -> outputs of a run without a fault
        self.injected, self.failures = 0, []

    def environment(self, name, temporary):
        return environment(COMMANDS[name], self.inputs, temporary)

    def served(self, name, work, temporary):
        """What a server does that no fault is put into."""
        process = subprocess.Popen([self.poet, *COMMANDS[name].arguments], cwd=work, stdin=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True, errors="replace",
                                   env=self.environment(name, temporary))
        said, _, result = serving.talk(process)
        return process.returncode, said, result

    def expected(self, name):
        if name not in self.whole:
            with tempfile.TemporaryDirectory() as work, tempfile.TemporaryDirectory() as temporary:
                lay_out(COMMANDS[name], self.inputs, work)
                if COMMANDS[name].serves:
                    code, said, self.whole[name] = self.served(name, work, temporary)
                    assert code == 0 and self.whole[name] is not None, f"poet serve: {code} {said}"
                    return self.whole[name]
                call(self.poet, COMMANDS[name].arguments, work, env=self.environment(name, temporary))
                self.whole[name] = {file: content(Path(work) / file) for file in COMMANDS[name].outputs}
        return self.whole[name]

    def started(self, name, request, work, temporary, note):
        return subprocess.Popen(
            [self.poet, *COMMANDS[name].arguments], cwd=work, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True,
            env={**self.environment(name, temporary), "LD_PRELOAD": self.library, "POET_FAULT": request,
                 "POET_FAULT_NOTE": note.name})

    def places(self, name, kind):
        """Of the calls that come from where none came before in their process the n, and a hash of their callers."""
        with tempfile.TemporaryDirectory() as work, tempfile.TemporaryDirectory() as temporary, \
                tempfile.NamedTemporaryFile() as note:
            lay_out(COMMANDS[name], self.inputs, work)
            process = self.started(name, f"{KINDS[kind][0]}:places", work, temporary, note)
            said = serving.talk(process)[0] if COMMANDS[name].serves else process.communicate()[1]
            assert process.returncode == 0, f"{name}: exit code {process.returncode}: {said}"
            return [(int(n), callers) for n, callers in map(str.split, Path(note.name).read_text().splitlines())]

    def one(self, name, kind, n, old):
        """Whether there was an n-th call to fail."""
        command = COMMANDS[name]
        with tempfile.TemporaryDirectory() as work, tempfile.TemporaryDirectory() as temporary, \
                tempfile.NamedTemporaryFile() as note:
            work = Path(work)
            lay_out(command, self.inputs, work)
            if old:
                for file in command.outputs:
                    if file not in command.inputs and file != "firmware":
                        (work / file).parent.mkdir(exist_ok=True)
                        (work / file).write_bytes(OLD)
            before = {file: content(work / file) for file in command.outputs}
            call_kind, number = KINDS[kind]
            process = self.started(name, f"{call_kind}:{n}:{number}", work, temporary, note)
            said, problem, served = "", None, ()
            try:
                if command.serves:
                    said, *served = serving.talk(process, serving.PATIENCE if kind in HARMLESS else serving.SECONDS)
                else:
                    _, said = process.communicate(timeout=SECONDS)
            except subprocess.TimeoutExpired:
                problem = "it does not end"
                kill_group(process.pid)
                process.communicate()
            if not os.path.getsize(note.name):
                return False
            self.injected += 1
            if command.serves:
                problem = problem or self.judge_server(name, kind, process, said, served, work, temporary)
            else:
                problem = problem or self.judge(name, kind, process, said, work, temporary, before)
            if problem:
                self.failures.append(f"{name}, {kind} {n}{' over old files' if old else ''}: {problem}")
                print(self.failures[-1], flush=True)
            return True

    def judge(self, name, kind, process, said, work, temporary, before):
        command, whole, code = COMMANDS[name], self.expected(name), process.returncode
        if not group_is_empty(process.pid):
            kill_group(process.pid)
            return "a child is left"
        lines = [line for line in said.splitlines() if line]
        if code not in (0, 1, 2, 3):
            return f"exit code {code}: {said[-300:]!r}"
        if code in (2, 3) and not 1 <= len(lines) <= command.processes:
            return f"exit code {code} with {len(lines)} lines: {said[-400:]!r}"
        if code != 0 and kind in HARMLESS or code == 3 and kind in SCARCE:
            return f"exit code {code}: {said[-300:]!r}"
        for file in command.outputs:
            now = content(work / file)
            new = now == whole[file] if command.repeats else now not in (None, OLD) and now.endswith(b"\n")
            if code == 0 and not new:
                return f"exit code 0, and {file} is not written: {said[-300:]!r}"
            if not new and now != before[file]:
                # Of checkpoints on the way each is whole; it is gone on from below.
                if not (file.endswith(".safetensors") and now is not None):
                    return f"{file} is neither old nor new (exit code {code}): {said[-300:]!r}"
        left = left_over(command, work) + [f"TMPDIR/{file.name}" for file in Path(temporary).iterdir()]
        if not all(name.endswith(("sqlite-wal", "sqlite-shm", "sqlite-journal", "sqlite-lock")) for name in left):
            return f"left: {left} (exit code {code}): {said[-300:]!r}"
        return None if code == 0 else self.goes_on(name, work, temporary)

    def judge_server(self, name, kind, process, said, served, work, temporary):
        wanted = self.expected(name)
        if not group_is_empty(process.pid):
            kill_group(process.pid)
            return "a child is left"
        problem = serving.judge(process.returncode, said, *served, wanted, kind in HARMLESS)
        if problem or list(Path(temporary).iterdir()):
            return problem or f"left: {list(Path(temporary).iterdir())}"
        code, said, result = self.served(name, work, temporary)
        return None if code == 0 and result == wanted else f"the next server: exit code {code}: {said[-300:]!r} {str(result)[:300]}"

    def goes_on(self, name, work, temporary):
        """The next run, in which nothing fails, makes the same of what there is; of a checkpoint by going on from it."""
        command = COMMANDS[name]
        if not command.outputs and not command.keeps:
            return None  # it leaves nothing that another run could find
        if command.outputs and all(content(work / file) == whole for file, whole in self.expected(name).items()):
            return None  # what failed came after everything was written
        arguments = list(command.arguments)
        checkpoint = work / "o.safetensors"
        pages = work / "pages"
        if name == "run" and checkpoint.exists() and checkpoint.read_bytes() != OLD:
            arguments += ["--resume", "o.safetensors"]
        if name == "run_paged" and pages.exists():
            arguments += ["--resume", "pages"]
        done = subprocess.run([self.poet, *arguments], cwd=work, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              errors="replace", env=self.environment(name, temporary))
        if done.returncode != 0 and "--resume" in arguments and name == "run_paged":
            # Nothing of the run had been written: then the file is taken over by one that begins anew.
            done = subprocess.run([self.poet, *command.arguments], cwd=work, stdin=subprocess.DEVNULL, capture_output=True,
                                  text=True, errors="replace", env=self.environment(name, temporary))
        if done.returncode != 0:
            return f"the next run: exit code {done.returncode}: {done.stderr[-300:]!r}"
        for file in command.outputs if command.repeats else ():
            # Where it was resumed after its end the checkpoint may be of more steps: asked for are those of the first run.
            if content(work / file) != self.expected(name)[file] and name != "run_resume":
                return f"the next run makes another {file}"
        return None


def sample(kind):
    """1 to 6, then about 1.6 times as much each time; allocations, of which there are thousands, 4 times."""
    n = 0
    while True:
        n = n + 1 if n < (2 if kind == "malloc" else 6) else int(n * (5 if kind == "malloc" else 1.6))
        yield n


def put_in_places(driver, pairs, file):
    """A place is common to all commands that come through it by the same callers; FILE has a line for each that was dealt with."""
    with open(file, "a+", encoding="ascii") as tried:
        tried.seek(0)
        known = set(tried)
        for name, kind in pairs:
            for n, callers in driver.places(name, kind):
                place = f"{kind} {callers}\n"
                if place in known:
                    continue
                failures = len(driver.failures)
                known.add(place)
                if driver.one(name, kind, n, old=len(known) % 2 == 1) and len(driver.failures) == failures:
                    tried.write(place)
                    tried.flush()


def put_in(driver, options):
    pairs = [(name, kind) for name in options.command or COMMANDS for kind in options.kind or KINDS]
    if options.places:
        return put_in_places(driver, pairs, options.places)
    for number, (name, kind) in enumerate(pairs):
        if options.few:
            if number % (8 if COMMANDS[name].slow else 2) == 0:
                driver.one(name, kind, FEW[number // 2 % len(FEW)], old=number % 4 == 0)
            continue
        for n in itertools.count(options.first, options.every) if options.every else sample(kind):
            if not driver.one(name, kind, n, old=n % 2 == 1):
                break


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("poet")
    parser.add_argument("library")
    parser.add_argument("--every", nargs="?", const=1, type=int, metavar="STEP", help="every n, which takes hours; or each STEP-th")
    parser.add_argument("--places", metavar="FILE", help="of every stack of callers the first that FILE has not")
    parser.add_argument("--first", type=int, default=1, metavar="N", help="where --every begins")
    parser.add_argument("--few", action="store_true", help="what the suite has time for")
    parser.add_argument("--command", action="append", choices=COMMANDS)
    parser.add_argument("--kind", action="append", choices=KINDS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as inputs:
        prepare(os.path.abspath(options.poet), inputs)
        driver = Driver(os.path.abspath(options.poet), os.path.abspath(options.library), inputs)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # and says how far it came
        try:
            put_in(driver, options)
        finally:
            print(f"{driver.injected} faults injected, {len(driver.failures)} not dealt with", flush=True)
        assert driver.injected > 0, "no fault came about"
    return 1 if driver.failures else 0


if __name__ == "__main__":
    sys.exit(main())
