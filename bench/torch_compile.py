#!/usr/bin/env python3
"""Seconds until a step is compiled: a GPT-2 whose operators are new to the machine, are known (POET_CACHE), and whose step was saved (step.save()).

usage: torch_compile.py [--layers N] [--ram-budget TEXT]

Each line is a process of its own, one thread; the comparison with PyTorch's own pass is counted, and left out in the last line. Needs transformers.
"""
import argparse
import os
import subprocess
import sys
import tempfile

PROCESS = """
import os, sys, time, torch, poet.torch
from transformers import GPT2Config, GPT2LMHeadModel, logging
logging.set_verbosity_error()
torch.set_num_threads(1)
torch.manual_seed(0)
layers, budget, file, check = int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4] == "check"
model = GPT2LMHeadModel(GPT2Config(n_layer=layers, n_embd=192, n_head=6, vocab_size=1000, n_positions=64, bos_token_id=0, eos_token_id=0))
tokens = torch.randint(0, 1000, (2, 64))
begin = time.perf_counter()
step = poet.torch.compile_step(model, None, torch.optim.AdamW(model.parameters()), tokens, forward=lambda model, batch: model(batch, labels=batch).loss,
                               ram_budget=budget, check=check, saved=file)
seconds = time.perf_counter() - begin
print(f"{len(step._latest.program.ops)} operators, {seconds:.2f} s")
step.save(file)
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--ram-budget", default="85%")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "gpt2.steps")
        environment = {**os.environ, "POET_CACHE": folder}
        for name, check in (("new", "check"), ("operators known", "check"), ("saved", "check"), ("saved, not compared", "no")):
            done = subprocess.run([sys.executable, "-W", "ignore", "-c", PROCESS, str(options.layers), options.ram_budget, file, check],
                                  env=environment, capture_output=True, text=True)
            if done.returncode:
                sys.exit(done.stderr)
            print(f"{name:20} {done.stdout.strip()}", flush=True)
            if name == "new":
                os.unlink(file)


if __name__ == "__main__":
    main()
