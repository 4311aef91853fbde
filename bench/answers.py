"""Answers of `poet solve` to many requests, kept in a file from which a repeated call goes on.

Used by switches.py and monotone.py.
"""
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

# The built-in networks.
NETWORKS = ["linear", "resnet14_cifar", "resnet18_cifar", "resnet18", "resnet50", "vgg16_cifar", "vgg16", "bert_tiny", "bert",
            "transformer"]


class Answers:
    """What one poet answers, asked only for what the file does not hold yet."""

    def __init__(self, poet, file=None):
        program = shutil.which(poet)
        if program is None:
            raise SystemExit(f"{poet} is no program")
        self.poet, self.file = os.path.abspath(program), pathlib.Path(file) if file else None
        self.kept = {"poet": hashlib.sha256(pathlib.Path(program).read_bytes()).hexdigest(), "answers": {}}
        if self.file and self.file.exists():
            before = json.loads(self.file.read_text(encoding="utf-8"))
            if before["poet"] != self.kept["poet"]:
                raise SystemExit(f"{file} holds the answers of another program than {poet}")
            self.kept = before

    def ask(self, arguments, time_limit):
        """The JSON of `poet solve`, with `wall_seconds` and `first_plan_seconds`: from the start to a plan with addresses."""
        arguments = [*map(str, arguments), "--time-limit", f"{time_limit:g}s"]
        key = " ".join(arguments)
        if key not in self.kept["answers"]:
            self.kept["answers"][key] = solve(self.poet, arguments, time_limit)
            self.write()
        return self.kept["answers"][key]

    def write(self):
        if self.file:
            unfinished = self.file.with_name(self.file.name + ".new")
            unfinished.write_text(json.dumps(self.kept, indent=1) + "\n", encoding="utf-8")
            os.replace(unfinished, self.file)


def solve(poet, arguments, time_limit):
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        progress = pathlib.Path(folder) / "progress"
        command = [poet, "solve", *arguments, "--json", "--quiet", "--progress-out", str(progress)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=300 + 5 * time_limit, check=False)
        except subprocess.TimeoutExpired:
            return {"status": "overrun", "wall_seconds": time.monotonic() - start, "first_plan_seconds": None}
        wall = time.monotonic() - start
        lines = progress.read_text(encoding="utf-8").splitlines() if progress.exists() else []
    answer = json.loads(done.stdout) if done.stdout.startswith("{") else {}
    if "status" not in answer:
        answer["status"] = "refused" if done.returncode == 2 else f"ended with {done.returncode}"
    planned = [line["elapsed_seconds"] for line in map(json.loads, lines) if line["plan_joules"] is not None]
    # The progress has at most one line a second: a search that ends sooner may have none with a plan.
    answer["first_plan_seconds"] = planned[0] if planned else wall if has_plan(answer) else None
    answer["wall_seconds"] = wall
    return answer


def has_plan(answer):
    return answer.get("energy_joules") is not None


def energy(answer):
    return f"{answer['energy_joules']:.6g} J" if has_plan(answer) else answer["status"]


def loses(answer, other, gap):
    """Whether `other` is the better answer: it alone has a plan, or one that saves more than `gap` of the overhead.

    A plan is only as good as the gap at which its search may end, which is a part of its overhead: what it needs above the
    baseline, the energy of a step that keeps everything. Parts of an operator cost up to a few percent more than the whole
    one, so that two answers may have two baselines. The other's counts: its graph is the one on which less energy was
    enough, and a saving of all that is above its baseline cannot be beaten there. Where this baseline is above the answer's
    energy, so is the other's plan, and nothing is lost. Below a billionth of the baseline energies are equal.
    """
    if not has_plan(answer) or not has_plan(other):
        return has_plan(other)
    baseline = other["baseline_joules"]
    saved = answer["energy_joules"] - other["energy_joules"]
    return saved > gap * (answer["energy_joules"] - baseline) and saved > 1e-9 * baseline


def share_lost(answer, other):
    """What `other` saves, as a share of the answer's overhead over the other's baseline; None without two plans or overhead."""
    if not has_plan(answer) or not has_plan(other):
        return None
    overhead = answer["energy_joules"] - other["baseline_joules"]
    return (answer["energy_joules"] - other["energy_joules"]) / overhead if overhead > 0 else None


def seconds(text):
    """The number of seconds in `4`, `4s` or `2min`."""
    for unit, factor in (("ms", 1e-3), ("min", 60), ("s", 1)):
        if text.endswith(unit):
            return factor * float(text[:-len(unit)])
    return float(text)
