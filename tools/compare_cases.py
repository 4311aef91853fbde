"""The command line and the table of tools that compare training with PyTorch's, case by case."""

import argparse
import tempfile

import torch


def compare_cases(usage, cases, columns, compare, kernels, applies=lambda case, kernels: True):
    """Exit code 1 where a case is wrong. `cases`: name -> case; `compare(poet, case, kernels, folder)` gives the cells of its row, without
    name and kernels, and what is wrong. `kernels`: those of a call without --kernels. `applies(case, kernels)`: whether a case is for them."""
    parser = argparse.ArgumentParser(usage=usage)
    parser.add_argument("poet")
    parser.add_argument("--kernels", default=kernels)
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    bad = 0
    print(f"| case | kernels | {' | '.join(columns)} |")
    print(f"|---|---|{'---:|' * len(columns)}")
    for name, case in cases.items():
        for library in chosen.kernels.split(","):
            if not applies(case, library):
                continue
            with tempfile.TemporaryDirectory() as folder:
                try:
                    cells, wrong = compare(chosen.poet, case, library, folder)
                    print(f"| {name} | {library} | {' | '.join(cells)} |", flush=True)
                except (RuntimeError, KeyError) as failure:
                    wrong = [str(failure)]
            for line in wrong:
                print(f"  {name}, {library}: {line}", flush=True)
            bad += len(wrong)
    return 1 if bad else 0
