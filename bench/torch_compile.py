#!/usr/bin/env python3
"""Seconds until a step of a network of transformers is compiled, in 85% and 65% of what keeping everything takes: when its operators are new to the
machine, when they are known (POET_CACHE), and when the step was saved (step.save()).

usage: torch_compile.py [--only NAME,...] [--ram-budgets TEXT,...]

Each figure is of a process of its own, one thread, with the comparison with PyTorch's own pass, which the last column leaves out. Needs transformers.
"""
import argparse
import os
import subprocess
import sys
import tempfile

NAMES = ("gpt2", "bert", "t5", "mamba", "llama")
PROCESS = """
import sys, time, torch, poet.torch, transformers
name, budget, file, check = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4] == "check"
transformers.logging.set_verbosity_error()
torch.set_num_threads(1)
torch.manual_seed(0)
few = {"bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 0}
model = {
    "gpt2": lambda: transformers.GPT2LMHeadModel(transformers.GPT2Config(n_layer=6, n_embd=192, n_head=6, vocab_size=1000, n_positions=64, **few)),
    "bert": lambda: transformers.BertForMaskedLM(transformers.BertConfig(hidden_size=192, num_hidden_layers=6, num_attention_heads=6, intermediate_size=768, vocab_size=1000)),
    "t5": lambda: transformers.T5ForConditionalGeneration(transformers.T5Config(d_model=192, d_ff=768, num_layers=4, num_heads=6, d_kv=32, vocab_size=1000, decoder_start_token_id=0)),
    "mamba": lambda: transformers.MambaForCausalLM(transformers.MambaConfig(hidden_size=192, num_hidden_layers=4, vocab_size=1000, state_size=8, **few)),
    "llama": lambda: transformers.LlamaForCausalLM(transformers.LlamaConfig(hidden_size=192, num_hidden_layers=6, num_attention_heads=6, intermediate_size=512, vocab_size=1000, **few)),
}[name]()
tokens = torch.randint(1, 1000, (8, 16 if name == "mamba" else 64))
begin = time.perf_counter()
step = poet.torch.compile_step(model, None, torch.optim.AdamW(model.parameters()), tokens, forward=lambda model, batch: model(input_ids=batch, labels=batch).loss,
                               ram_budget=budget, check=check, saved=file)
print(len(step._latest.program.ops), f"{time.perf_counter() - begin:.2f}")
step.save(file)
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(NAMES))
    parser.add_argument("--ram-budgets", default="85%,65%")
    options = parser.parse_args()
    print("| network | operators | RAM budget | operators are new, s | known, s | saved, s | saved, not compared, s |\n|---|---|---|---|---|---|---|")
    for name in options.only.split(","):
        for budget in options.ram_budgets.split(","):
            with tempfile.TemporaryDirectory() as folder:
                file = os.path.join(folder, "network.steps")
                cells = []
                for kind, check in (("new", "check"), ("known", "check"), ("saved", "check"), ("saved", "no")):
                    done = subprocess.run([sys.executable, "-W", "ignore", "-c", PROCESS, name, budget, file, check],
                                          env={**os.environ, "POET_CACHE": folder}, capture_output=True, text=True)
                    if done.returncode:
                        sys.exit(done.stderr)
                    operators, seconds = done.stdout.split()
                    cells.append(seconds)
                    if kind == "new":
                        os.unlink(file)
            print(f"| {name} | {operators} | {budget} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
