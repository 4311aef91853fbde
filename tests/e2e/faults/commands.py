"""The commands that faults are put into, on small inputs, and what they need to be there beforehand."""
import dataclasses
import json
import shutil
import subprocess
from pathlib import Path

LINEAR = ["--model", "linear", "--platform", "a72", "--ram-budget", "258KB", "--quiet"]
SOLVE = [*LINEAR, "--split", "off", "--persistent", "resident", "--gap", "90%"]
SPEC = {"format": 1, "networks": ["linear"], "platforms": ["a72"], "ram": [0.5, 0.9],
        "methods": ["checkpoint-all", "chen-sqrt"], "time_limit": "5s"}


@dataclasses.dataclass
class Command:
    arguments: list
    outputs: tuple = ()  # files, or folders, that it writes
    inputs: tuple = ()  # of the prepared ones, to be copied beside the outputs as they may be changed
    keeps: tuple = ()  # outputs that are worth something before the command has ended: a store, a page file
    processes: int = 1  # that a call can fail in, each with a line: calls are counted in each
    repeats: bool = True  # the same call writes the same bytes


COMMANDS = {
    "models": Command(["models"]),
    "devices": Command(["devices", "m4"]),
    "solve": Command(["solve", *SOLVE, "--plan-out", "p", "--image-out", "i", "--schedule-out", "s.json"],
                     ("p", "i", "s.json")),
    "solve_mps": Command(["solve", "--model", "transformer", "--platform", "a72", "--ram-budget", "72MB", "--quiet", "--solver",
                          "file", "--mps", "m.mps"], ("m.mps",)),
    "explain": Command(["explain", *SOLVE]),
    "verify": Command(["verify", "plan"], inputs=("plan",)),
    "show_text": Command(["show", "plan", "--text"], inputs=("plan",)),
    **{f"show_{kind}": Command(["show", "plan", "-o", f"o.{kind}"], (f"o.{kind}",), ("plan",))
       for kind in ("html", "svg", "png", "pdf", "gp", "json")},
    "import": Command(["import", "net.onnx", "--platform", "a72", "-o", "o.json"], ("o.json",), ("net.onnx",)),
    "codegen": Command(["codegen", "plan", "-o", "firmware", "--samples", "4"], ("firmware",), ("plan",)),
    "compare": Command(["compare", "--model", "linear", "--platform", "a72", "--ram-budget", "300KB", "--quiet", "--methods", "checkpoint-all,chen-sqrt,dtr", "--csv", "o.csv"], ("o.csv",),
                       repeats=False),  # with seconds in it
    "sweep": Command(["sweep", "spec.json", "--store", "o.sqlite", "--csv", "o.csv", "--jobs", "1", "--quiet"],
                     ("o.csv",), ("spec.json",), keeps=("o.sqlite",), repeats=False),
    "run": Command(["run", "plan", "--steps", "3", "--checkpoint", "o.safetensors", "--checkpoint-every", "1",
                    "--quiet"], ("o.safetensors",), ("plan",)),
    "run_resume": Command(["run", "plan", "--steps", "4", "--resume", "two.safetensors", "--checkpoint",
                           "two.safetensors", "--quiet"], ("two.safetensors",), ("plan", "two.safetensors")),
    "run_onnx_out": Command(["run", "plan", "--steps", "1", "--onnx-out", "o.onnx", "--quiet"], ("o.onnx",), ("plan",),
                            processes=2),
    "run_paged": Command(["run", "paged", "--steps", "3", "--storage", "pages", "--checkpoint", "o.safetensors", "--quiet"],
                         ("o.safetensors",), ("paged",), keeps=("pages",)),
}


def call(poet, arguments, folder, **how):
    done = subprocess.run([poet, *arguments], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          errors="replace", **how)
    assert done.returncode == 0, f"poet {' '.join(arguments)}: {done.returncode} {done.stderr}"
    return done


def prepare(poet, folder):
    """The inputs: two plans (one with parameters at home on storage), a network, a checkpoint, a sweep."""
    folder = Path(folder)
    call(poet, ["solve", *SOLVE, "--plan-out", "plan"], folder)
    call(poet, ["solve", "--model", "linear", "--platform", "m0", "--ram-budget", "24KiB", "--time-limit", "2", "--quiet",
                "--plan-out", "paged"], folder)
    call(poet, ["run", "plan", "--steps", "1", "--onnx-out", "net.onnx", "--quiet"], folder)
    call(poet, ["run", "plan", "--steps", "2", "--checkpoint", "two.safetensors", "--quiet"], folder)
    (folder / "spec.json").write_text(json.dumps(SPEC))


def lay_out(command, inputs, folder):
    for name in command.inputs:
        shutil.copy(Path(inputs) / name, folder)


def content(path):
    """Of a file its bytes, of a folder those of every file in it; None where there is nothing."""
    path = Path(path)
    if path.is_dir():
        return {str(file.relative_to(path)): file.read_bytes() for file in sorted(path.rglob("*")) if file.is_file()}
    return path.read_bytes() if path.exists() else None
