"""The commands that faults are put into, on small inputs, and what they need to be there beforehand."""
import dataclasses
import fnmatch
import json
import os
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
    keeps: tuple = ()  # outputs, or patterns of them, that are worth something before the command has ended: a store, a page file
    processes: int = 1  # that a call can fail in, each with a line: calls are counted in each
    repeats: bool = True  # the same call writes the same bytes
    data: bool = False  # with the studies of prepare() in place of those that are reproduced
    serves: bool = False  # until it is told to stop
    slow: bool = False  # a call takes seconds


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
                     ("o.csv",), ("spec.json",), keeps=("o.sqlite",), processes=3, repeats=False),
    "run": Command(["run", "plan", "--steps", "3", "--checkpoint", "o.safetensors", "--checkpoint-every", "1",
                    "--quiet"], ("o.safetensors",), ("plan",)),
    "run_resume": Command(["run", "plan", "--steps", "4", "--resume", "two.safetensors", "--checkpoint",
                           "two.safetensors", "--quiet"], ("two.safetensors",), ("plan", "two.safetensors")),
    "run_onnx_out": Command(["run", "plan", "--steps", "1", "--onnx-out", "o.onnx", "--quiet"], ("o.onnx",), ("plan",),
                            processes=2),
    "run_paged": Command(["run", "paged", "--steps", "3", "--storage", "pages", "--checkpoint", "o.safetensors", "--quiet"],
                         ("o.safetensors",), ("paged",), keeps=("pages",)),
    "profile": Command(["profile", "--model", "linear", "--seconds", "0.05", "--quiet", "-o", "o.json"], ("o.json",),
                       repeats=False, slow=True),  # with what was measured in it
    "card": Command(["card", "plan", "card.img", "--checkpoint", "o.safetensors"], ("o.safetensors",), ("plan", "card.img")),
    "card_steps": Command(["card", "plan", "card.img", "--steps", "7"], ("card.img",), ("plan", "card.img")),
    "reproduce": Command(["reproduce", "--quick", "-o", "out", "--jobs", "1", "--quiet"], ("out/report.html", "out/results.csv"),
                         keeps=("out/results.sqlite", "out/*.svg", "out/*.png", "out/*.csv"), processes=3, repeats=False, data=True),
    "pack": Command(["pack", "buffers.csv", "-o", "o.csv", "--picture", "o.gp"], ("o.csv", "o.gp"), ("buffers.csv",)),
    "serve": Command(["serve", "--listen", "127.0.0.1:0", "--data", "data", "--workers", "1"], keeps=("data",), serves=True),
}


def study(name):
    """What poet reproduce has of this name, with the quickest points that there are."""
    device = {"platforms": ["a72"], "methods": ["checkpoint-all", "dtr"], "networks": ["linear"], "time_limit": "5s"}
    if name.endswith("_published") or name.endswith("_published_bert"):
        return {"semantics": "published", "ram": [0.9], **device}
    return {"semantics": "device", "persistent": "excluded", "ram": [0.9], **device}


def call(poet, arguments, folder, **how):
    done = subprocess.run([poet, *arguments], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          errors="replace", **how)
    assert done.returncode == 0, f"poet {' '.join(arguments)}: {done.returncode} {done.stderr}"
    return done


def prepare(poet, folder):
    """The inputs: two plans (one with parameters at home on storage), a network, a checkpoint, a sweep."""
    folder = Path(folder)
    call(poet, ["solve", *SOLVE, "--plan-out", "plan"], folder)
    call(poet, ["solve", "--model", "linear", "--platform", "m0", "--ram-budget", "24KiB", "--time-limit", "0.5", "--quiet",
                "--plan-out", "paged"], folder)
    call(poet, ["run", "plan", "--steps", "1", "--onnx-out", "net.onnx", "--quiet"], folder)
    call(poet, ["run", "plan", "--steps", "2", "--checkpoint", "two.safetensors", "--quiet"], folder)
    (folder / "spec.json").write_text(json.dumps(SPEC))
    (folder / "buffers.csv").write_text("id,lower,upper,size\na,0,3,4\nb,2,6,4\nc,5,8,5\n")
    call(poet, ["codegen", "plan", "-o", "device", "--steps", "3", "--samples", "4"], folder)
    subprocess.run(["make", "-s", "-C", folder / "device"], check=True)
    subprocess.run([folder / "device/build/firmware", "device/card.img"], cwd=folder, check=True, capture_output=True)
    shutil.move(folder / "device/card.img", folder)
    quick = folder / "data/reproduction/quick"
    quick.mkdir(parents=True)
    shipped = Path(__file__).resolve().parents[3] / "data"
    for name in ("devices", "published", "report"):
        (folder / "data" / name).symlink_to(shipped / name)
    for file in (shipped / "reproduction/quick").iterdir():
        (quick / file.name).write_text(json.dumps({"format": 1, **study(file.stem)}))


def environment(command, inputs, temporary):
    """Of a call: what is temporary goes there."""
    own = {"POET_DATA_DIR": str(Path(inputs) / "data")} if command.data else {}
    return {**os.environ, "TMPDIR": str(temporary), "HOME": str(temporary), "OMP_NUM_THREADS": "1", **own}


def lay_out(command, inputs, folder):
    for name in command.inputs:
        shutil.copy2(Path(inputs) / name, folder)  # pages say when the plan was written


def left_over(command, work):
    """What is in the folder and neither was there nor is named by the command."""
    known = {*command.inputs, *command.outputs, *command.keeps}

    def is_known(name):
        within = any(name.startswith(f"{outer}/") or outer.startswith(f"{name}/") for outer in known)
        return within or any(fnmatch.fnmatch(name, pattern) for pattern in known)

    names = (str(file.relative_to(work)) for file in Path(work).rglob("*"))
    return sorted(name for name in names if not is_known(name))


def content(path):
    """Of a file its bytes, of a folder those of every file in it; None where there is nothing."""
    path = Path(path)
    if path.is_dir():
        return {str(file.relative_to(path)): file.read_bytes() for file in sorted(path.rglob("*")) if file.is_file()}
    return path.read_bytes() if path.exists() else None
