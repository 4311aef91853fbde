"""An installed package at work: it solves, trains with all kernels, shows a page, and has the command poet.

usage: PYTHON installed.py [--pages] [--torch first|last]

For the Python of an environment that it is installed in. --pages: the pages' libraries must be there. --torch: beside PyTorch, which
is imported before or after. Prints the libraries that are loaded.
"""

import argparse
import importlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

parser = argparse.ArgumentParser()
parser.add_argument("--pages", action="store_true")
parser.add_argument("--torch", choices=["first", "last"])
options = parser.parse_args()

for name in ["torch", "poet"] if options.torch == "first" else ["poet", "torch"] if options.torch else ["poet"]:
    importlib.import_module(name)
import numpy as np
import poet

package = pathlib.Path(poet.__file__).parent
assert package.is_relative_to(sys.prefix), f"{package} is not in {sys.prefix}"
assert poet._core.data_dir() == str(package / "data"), poet._core.data_dir()
assert (package / "py.typed").exists() and (package / "_core.pyi").exists()

plan = poet.solve("linear", device="m4", ram_budget="24KiB", batch_size=4, time_limit=10).plan
assert plan.valid, plan
trained = {}
for kernels in ("reference", "lean", "fast"):
    trainer = poet.Trainer(plan, kernels=kernels)
    losses = [step.loss for step in trainer.run(3)]
    assert kernels == "fast" or kernels in repr(trainer), trainer
    trained[kernels] = losses
    assert np.allclose(losses, trained["reference"], rtol=1e-4), trained
assert "oneDNN" in repr(poet.Trainer(plan)), poet.Trainer(plan)

if options.pages:
    page = plan.show().html
    assert "echarts" in page and "dagre" in page and len(page) > 1_000_000, len(page)

with tempfile.TemporaryDirectory() as folder:
    file = os.path.join(folder, "my.plan")
    plan.save(file)
    command = os.path.join(sys.prefix, "bin", "poet")
    surroundings = {"PATH": os.environ.get("PATH", "")}
    for arguments, code, said in (
        (["--version"], 0, poet.__version__),
        (["verify", file], 0, "valid"),
        (["run", file, "--steps", "2"], 0, "loss"),
        (["codegen", file, "-o", os.path.join(folder, "firmware")], 0, ""),
        (["show", "no.plan"], 2, "no.plan"),
    ):
        done = subprocess.run([command, *arguments], capture_output=True, text=True, env=surroundings, cwd=folder)
        assert done.returncode == code and said in done.stdout + done.stderr, done

if options.torch:
    torch = importlib.import_module("torch")
    importlib.import_module("poet.torch")
    torch.manual_seed(0)
    layers = [layer for _ in range(6) for layer in (torch.nn.Linear(128, 128), torch.nn.ReLU())]
    model = torch.nn.Sequential(*layers, torch.nn.Linear(128, 4))
    batch = torch.randn(1024, 128), torch.randint(0, 4, (1024,))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    step = poet.torch.compile_step(model, torch.nn.functional.cross_entropy, optimizer, batch, ram_budget="70%", time_limit=5)
    before, after = [float(step(batch)) for _ in range(5)][::4]
    assert after < before, (before, after)
    assert [step.loss for step in poet.Trainer(plan).run(3)] == trained["fast"]

loaded = sorted(set(re.findall(r"/\S*\.so\S*", pathlib.Path("/proc/self/maps").read_text())))
print("\n".join(file for file in loaded if "/poet" in file or re.search("gomp|omp[.-]|dnnl", file)))
