"""The published reference's function: its arguments, its result, its matrices by the paper's definitions, its command."""

import contextlib
import io
import os
import subprocess
import sys
import tempfile
import unittest
import warnings

import numpy as np
import poet
from poet import solve  # as the reference's users do

from support import main

ARGUMENTS = dict(model="resnet18_cifar", platform="a72", ram_budget=3_000_000, runtime_budget=7.6, time_limit_s=20, print_graph_info=False)


class Published(unittest.TestCase):
    def test_the_example_of_its_readme(self):
        result = solve(**ARGUMENTS)
        self.assertTrue(result.feasible)
        self.assertTrue(result.solution.finished)
        self.assertAlmostEqual(result.total_power_cost_cpu + result.total_power_cost_page, 7.88951, places=5)

    def test_the_whole_call(self):
        said = io.StringIO()
        with contextlib.redirect_stdout(said), warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            result = solve(model="resnet18_cifar", platform="m4", ram_budget=737719, runtime_budget=1.5, paging=1, remat=1,
                           mem_power_scale=1.0, batch_size=1, solver="gurobi", print_power_costs=False, print_graph_info=True,
                           plot_directory=None, time_limit_s=400, solve_threads=16)
        self.assertIn("solver", str(warned[0].message))
        self.assertEqual(warned[0].filename, __file__)
        self.assertRegex(said.getvalue(), r"Total runtime of graph \(forward \+ backward\) = [\d.]+ milliseconds\n"
                                          r"Total RAM consumption of forward pass = \d+ bytes\n")
        self.assertEqual((result.ram_budget, result.paging, result.remat), (737719, 1, 1))
        self.assertLessEqual(result.total_runtime, result.runtime_budget_ms * (1 + 1e-9))
        self.assertIs(result["feasible"], result.feasible)

    def test_matrices_are_the_papers(self):
        result = solve(**{**ARGUMENTS, "ram_budget": 1_000_000})
        s = result.solution
        nodes = poet.Graph.published("resnet18_cifar", "a72").to_json()["nodes"]
        size = np.array([node["ram_bytes"] for node in nodes])
        count = len(nodes)
        for matrix in (s.R, s.SRam, s.SSd, s.Min, s.Mout):
            self.assertEqual(matrix.shape, (count, count))
            self.assertLessEqual(set(np.unique(matrix)), {0, 1})
        self.assertEqual(np.trace(s.R), count)
        self.assertTrue((s.SRAM is s.SRam) and (s.SSD is s.SSd) and (s.MIn is s.Min) and (s.MOut is s.Mout))
        self.assertTrue((s.SRam[1:] <= (s.SRam + s.R + s.Min)[:-1]).all())
        self.assertTrue((s.SSd[1:] <= (s.SSd + s.Mout)[:-1]).all())
        self.assertTrue((s.Min <= s.SSd).all() and (s.Mout <= s.SRam).all())
        for u, v in s.edge_list:
            self.assertTrue((s.R[:, v] <= s.R[:, u] + s.SRam[:, u]).all())
        # A value is given back after the reader that is its last in a stage, unless the next stage keeps it: then and only then.
        for e, (i, k) in enumerate(s.edge_list):
            for t in range(count):
                later = any(s.R[t, j] for i2, j in s.edge_list if i2 == i and j > k)
                kept = t + 1 < count and s.SRam[t + 1, i]
                self.assertEqual(s.FreeE[t, e], s.R[t, k] and not later and not kept)
        # U by the recurrence, and within the budget: what every stage keeps and computes, freed when it is used last.
        for t in range(count):
            now = s.SRam[t] @ size
            for k in range(count):
                now += s.R[t, k] * size[k]
                self.assertEqual(s.U[t, k], now)
                self.assertLessEqual(now, 1_000_000)
                now -= sum(size[i] for e, (i, j) in enumerate(s.edge_list) if j == k and s.FreeE[t, e])
            kept = s.SRam[t + 1] if t + 1 < count else np.zeros(count)
            in_ram = (s.SRam[t] + s.R[t]) > 0
            self.assertGreaterEqual(now, (size * (kept > 0) * in_ram).sum())

    def test_memory_of_a_schedule_told_by_hand(self):
        """c reads a and b, b reads a; before c both are computed again, so that a goes after c and not after b."""
        schedule = poet.Schedule([([], [], [], [0]), ([0], [], [], [1]), ([], [], [], [0, 1, 2])], 3)
        nodes = [{"ram_bytes": size} for size in (1, 10, 100)]
        freed, used = poet.published._memory(schedule, nodes, [(0, 1), (0, 2), (1, 2)])
        self.assertEqual(freed.tolist(), [[0, 0, 0], [1, 0, 0], [0, 1, 1]])
        self.assertEqual(used.tolist(), [[1, 1, 1], [1, 11, 10], [1, 11, 111]])

    def test_switches_and_scales_act(self):
        tight = {**ARGUMENTS, "ram_budget": 1_500_000}
        both = solve(**tight)
        self.assertFalse(solve(**tight, remat=0).solution.R.sum() > both.solution.R.shape[0])
        alone = solve(**tight, paging=0)
        self.assertFalse(alone.feasible and alone.solution.Min.any())
        dear = solve(**tight, mem_power_scale=1e6)
        self.assertFalse(dear.feasible and dear.solution.Min.any())
        double = solve(**{**tight, "ram_budget": 3_000_000}, batch_size=2)
        energy = lambda result: result.total_power_cost_cpu + result.total_power_cost_page
        self.assertAlmostEqual(energy(double), 2 * energy(both), delta=0.02 * energy(both))

    def test_no_schedule_is_an_answer(self):
        result = solve(**{**ARGUMENTS, "ram_budget": 1000})
        self.assertFalse(result.feasible)
        self.assertTrue(result.solution.finished)
        self.assertIsNone(result.total_runtime)
        self.assertIsNone(result.solution.R)

    def test_wrong_arguments_are_named(self):
        for wrong, error in (({"batch_size": 0}, ValueError), ({"mem_power_scale": -1}, ValueError), ({"ram_budget": -1}, ValueError),
                             ({"time_limit_s": -1}, ValueError), ({"solve_threads": 0}, ValueError), ({"paging": "no"}, TypeError),
                             ({"model": "nonet"}, ValueError), ({"platform": "m5"}, ValueError), ({"colour": 1}, TypeError)):
            with self.subTest(wrong=wrong), self.assertRaisesRegex(error, "no published instance" if {"model", "platform"} & wrong.keys() else next(iter(wrong))):
                solve(**{**ARGUMENTS, **wrong})

    def test_the_command(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, "-m", "poet", "--model", "resnet18_cifar", "--platform", "a72",
                                   "--ram-budget", "3000000", "--runtime-budget", "7.6", "--plot-directory", folder],
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("an optimal solution with a memory budget of 3000000 bytes", done.stdout)
            self.assertTrue(os.path.getsize(f"{folder}/resnet18_cifar.dot"))
        done = subprocess.run([sys.executable, "-m", "poet", "--model", "linear", "--platform", "m4", "--ram-budget", "-1",
                               "--runtime-budget", "2"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)


if __name__ == "__main__":
    main()
