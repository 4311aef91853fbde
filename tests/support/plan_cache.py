"""Plans that several tests need are made once per build: `poet solve` with the same arguments runs once, whoever asks first."""
import fcntl
import functools
import hashlib
import os
import pathlib
import shutil
import subprocess
import tempfile


def plan(poet, *arguments):
    """The file of the plan that `poet solve ARGUMENTS` makes. To be read only: other tests read it too."""
    return made(poet, "plan", ["solve", *arguments, "--quiet", "--plan-out"])


def made(poet, ending, command):
    """The file that `poet COMMAND FILE` writes, with this ending; a file that the command names is taken for what is in it."""
    command = [str(word) for word in command]
    digest = hashlib.sha256()
    for word in command:
        what = pathlib.Path(word).read_bytes() if os.path.isfile(word) else word.encode()
        digest.update(len(what).to_bytes(8, "little") + what)
    file = _folder(os.path.abspath(poet)) / f"{digest.hexdigest()[:32]}.{ending}"
    with open(f"{file}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # whoever waits here finds it made
        if not file.exists():
            new = file.with_name(f"new.{file.name}")
            new.unlink(missing_ok=True)
            done = subprocess.run([poet, *command, str(new)], capture_output=True, text=True)
            assert done.returncode == 0, f"{command}: exit {done.returncode}\n{done.stdout}\n{done.stderr}"
            os.replace(new, file)
    return str(file)


@functools.cache
def _folder(poet):
    """Of this program's plans, below its build folder. Those of the program before are kept, a test may still read them; older ones go."""
    build = next((folder for folder in pathlib.Path(poet).parents if (folder / "CMakeCache.txt").exists()), None)
    if build is None:  # an installed program's
        build = pathlib.Path(tempfile.gettempdir(), f"poet-tests-{os.getuid()}")
    plans = build / "tests/plans/python"
    folder = plans / _digest(poet)
    folder.mkdir(parents=True, exist_ok=True)
    os.utime(folder)
    with open(plans.with_name("python.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # others look what is old, too
        for old in sorted(plans.iterdir(), key=lambda each: each.stat().st_mtime)[:-2]:
            shutil.rmtree(old, ignore_errors=True)
    return folder


def _digest(poet):
    """Of the program and of what it reads of data/: devices, tables, published instances."""
    digest = hashlib.sha256(pathlib.Path(poet).read_bytes())
    data = pathlib.Path(os.environ.get("POET_DATA_DIR", pathlib.Path(__file__).parents[2] / "data"))
    for file in sorted(data.rglob("*.json")):
        digest.update(str(file.relative_to(data)).encode() + file.read_bytes())
    return digest.hexdigest()[:32]
