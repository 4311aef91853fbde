"""make in a folder that poet codegen has written, or in one like it; engine, kernels and board are compiled once for many of them.

They are the same in most folders. What an object depends on is its source, the headers that this includes, and the compiler with
its options, which the Makefile writes to build/compiled; what these make (with -fcallgraph-info also the calls) is kept by their
digest in another folder, and copied from there to where make looks. make then compiles the rest."""
import contextlib
import fcntl
import functools
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import time

KEPT = 30 * 86400  # seconds, after which what nobody has wanted goes
SHARED = ("engine", "kernels", "board")


def make(folder, *arguments, kept_in):
    """The process of `make -s` after it has ended; kept_in: where objects are kept, for several processes at once."""
    folder, kept_in = pathlib.Path(folder).resolve(), pathlib.Path(kept_in)
    command = ["make", "-s", "-j2", "-C", str(folder), *map(str, arguments)]
    options = [a for a in command[5:] if "=" in a]
    asked = subprocess.run([*command[:5], *options, "build/compiled"], capture_output=True, text=True)
    if asked.returncode != 0:
        return asked
    compiled_with = (folder / "build/compiled").read_text()
    keys = {source: _key(folder, source, compiled_with)
            for name in SHARED for source in sorted((folder / name).glob("*.c"))}
    kept_in.mkdir(parents=True, exist_ok=True)
    missing = [s for s, key in keys.items() if not _taken(folder, s, kept_in / key)]
    if not missing:
        return subprocess.run(command, capture_output=True, text=True)
    with _alone(kept_in / f"{_digest(compiled_with.encode())}.lock"):  # whoever waits here finds them made
        missing = [s for s in missing if not _taken(folder, s, kept_in / keys[s])]
        done = subprocess.run(command, capture_output=True, text=True)
        for source in missing:
            _keep(folder, source, kept_in / keys[source])
        _remove_old(kept_in)
    return done


def _digest(*parts):
    together = hashlib.sha256()
    for part in parts:
        together.update(len(part).to_bytes(8, "little") + part)
    return together.hexdigest()[:32]


def _key(folder, source, compiled_with):
    texts, waiting = {}, [source]
    while waiting:
        file = waiting.pop()
        if file in texts:
            continue
        texts[file] = file.read_bytes()
        for name in re.findall(rb'^\s*#\s*include\s+"([^"]+)"', texts[file], re.M):
            places = (file.parent, folder, *(folder / each for each in SHARED))
            found = next((p / name.decode() for p in places if (p / name.decode()).exists()), None)
            if found:
                waiting.append(found.resolve())
    parts = [part for file in sorted(texts) for part in (os.path.relpath(file, folder).encode(), texts[file])]
    return _digest(_version(compiled_with.split()[0]).encode(), compiled_with.encode(), os.path.relpath(source, folder).encode(), *parts)


@functools.cache
def _version(compiler):
    return subprocess.run([compiler, "--version"], capture_output=True, text=True).stdout


def _objects(folder, source, kept):
    made = (folder / "build" / source.relative_to(folder)).with_suffix("")
    return [(pathlib.Path(f"{made}{suffix}"), pathlib.Path(f"{kept}{suffix}")) for suffix in (".ci", ".o")]  # an object is the last


def _taken(folder, source, kept):
    try:
        for here, there in _objects(folder, source, kept):
            if here.suffix == ".ci" and not there.exists():
                continue
            here.parent.mkdir(parents=True, exist_ok=True)
            here.unlink(missing_ok=True)
            shutil.copyfile(there, here)
            os.utime(there)
    except FileNotFoundError:
        return False
    return True


def _keep(folder, source, kept):
    objects = _objects(folder, source, kept)
    for here, there in objects:
        if here.exists() and objects[-1][0].exists():
            new = there.with_name(f"{there.name}.{os.getpid()}")
            shutil.copyfile(here, new)
            os.replace(new, there)


@contextlib.contextmanager
def _alone(file):
    with open(file, "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _remove_old(kept_in):
    for file in kept_in.iterdir():
        with contextlib.suppress(FileNotFoundError):
            if file.stat().st_mtime < time.time() - KEPT:
                file.unlink()
