"""Graphs and devices of one's own: built, read, written, exchanged with networkx."""

import itertools
import json
import math
import os
import tempfile
import unittest

import poet

from support import ROOT, main, program

try:
    import networkx
except ImportError:
    networkx = None


def chain(device=None, **costs):
    graph = poet.Graph("chain", device)
    x = graph.op("x", bytes=400, recomputable=False, **costs)
    names = [x]
    for i in range(4):
        names.append(graph.op(f"f{i}", [names[-1]], bytes=400, **costs))
    loss = graph.op("loss", [names[-1]], bytes=4, **costs)
    gradient = loss
    for i in reversed(range(4)):
        gradient = graph.op(f"g{i}", [gradient, names[i + 1]], bytes=400, backward=True, **costs)
    return graph


class Graphs(unittest.TestCase):
    def test_flags_are_no_texts(self):
        for flag in ("recomputable", "backward"):
            with self.assertRaisesRegex(TypeError, flag):
                poet.Graph("g").op("a", bytes=1, seconds=1, joules=1, **{flag: "no"})

    def test_devices_are_keys(self):
        m4 = poet.Device.load("m4")
        self.assertEqual({m4: 1}[poet.Device.load("m4")], 1)

    def test_costs_are_what_they_are_given_as(self):
        graph = chain(seconds=1.0, joules=2.0)
        everything = poet.solve(graph=graph, ram_budget=1 << 20)
        self.assertEqual(everything.energy, 2.0 * len(graph))
        self.assertEqual(everything.figures["baseline_seconds"], 1.0 * len(graph))
        self.assertFalse(everything.figures["page_ins"])
        peak = everything.peak_ram
        tight = poet.solve(graph=graph, ram_budget=peak - 400)
        self.assertEqual(tight.status, "optimal")
        self.assertEqual(tight.energy, 2.0 * (len(graph) + tight.figures["recomputations"]))
        self.assertGreater(tight.figures["recomputations"], 0)

    def test_least_energy_is_that_of_all_sequences(self):
        """Against every choice of recomputations of a three-op chain, told by what must be in RAM."""
        graph = poet.Graph("three")
        a = graph.op("a", bytes=100, seconds=1, joules=1)
        b = graph.op("b", [a], bytes=100, seconds=1, joules=3)
        graph.op("c", [b], bytes=100, seconds=1, joules=5)
        graph.op("d", ["c", a], bytes=0, seconds=1, joules=1)
        sizes, inputs, joules = (100, 100, 100, 0), ((), (0,), (1,), (2, 0)), (1, 3, 5, 1)

        def peak(order):
            """With each value kept from a computation to the last reader that it serves, and no longer."""
            most = 0
            intervals = []
            made = {}
            for at, op in enumerate(order):
                for i in inputs[op]:
                    if i not in made:
                        return None
                    made[i][1] = at
                made[op] = [at, at]
                intervals.append((op, made[op]))
            for at in range(len(order)):
                most = max(most, sum(sizes[op] for op, (first, last) in intervals if first <= at <= last))
            return most

        orders = [order for n in range(4, 7) for order in itertools.product(range(4), repeat=n)
                  if tuple(dict.fromkeys(order)) == (0, 1, 2, 3)]
        for budget in (200, 300):
            best = min(sum(joules[op] for op in order) for order in orders if (peak(order) or budget + 1) <= budget)
            self.assertAlmostEqual(poet.solve(graph=graph, ram_budget=budget, gap=0).energy, best)

    def test_a_device_gives_flops_and_bytes_their_cost(self):
        device = poet.Device.load("m4")
        graph = chain(device, flops=1e6)
        node = graph.to_json()
        op, value = node["ops"][0], node["values"][0]
        self.assertAlmostEqual(op["runtime_seconds"], 1e6 / device.flops_per_second)
        self.assertAlmostEqual(op["compute_joules"], op["runtime_seconds"] * device.active_watts)
        blocks = -(-400 // device.block_bytes) * device.block_bytes
        self.assertAlmostEqual(value["page_in_seconds"],
                               device.page_in.latency_seconds + blocks / device.page_in.bytes_per_second)
        result = poet.solve(graph=graph, ram_budget=1600)
        self.assertEqual(result.figures["semantics"], "device")
        self.assertTrue(result)

    def test_parameters_are_counted_and_updated(self):
        graph = poet.Graph("step")
        w = graph.parameter("w", 1000)
        y = graph.op("y", [w], bytes=100, seconds=1, joules=1)
        g = graph.op("g", [y, w], bytes=1000, seconds=1, joules=1, backward=True)
        graph.op("update", [g, w], bytes=0, seconds=1, joules=1, updates=[w])
        result = poet.solve(graph=graph, ram_budget=5000)
        self.assertEqual(result.figures["persistent_bytes"], 1000)
        self.assertEqual(result.peak_ram, 2100)

    def test_parameters_stand_beside_what_is_paged(self):
        graph = poet.Graph("paged")
        w = graph.parameter("w", 1000, page=(1, 2, 3, 4))
        graph.op("y", [w], bytes=100, seconds=1, joules=1, page=(1, 2, 3, 4))
        self.assertTrue(poet.solve(graph=graph, ram_budget=5000))

    def test_mistakes_are_named(self):
        graph = chain(seconds=1, joules=1)
        for call, named in (
            (lambda: graph.op("y", ["nobody"], bytes=1, seconds=1, joules=1), "nobody"),
            (lambda: graph.op("x", bytes=1, seconds=1, joules=1), "x: "),
            (lambda: graph.op("y", bytes=1), "seconds"),
            (lambda: graph.op("y", bytes=1, flops=1), "flops"),
            (lambda: graph.op("u", bytes=1, seconds=1, joules=1, updates=["x"]), "bytes"),
            (lambda: poet.Graph("empty").save(os.devnull), "empty"),
            (lambda: poet.Graph.published("linear", "m5"), "linear.*m4|m4"),
            (lambda: poet.solve(graph=graph, ram_budget=1000, device="m4"), "device"),
            (lambda: poet.solve(graph=graph, ram_budget=1000, batch_size=2), "batch_size"),
        ):
            with self.assertRaisesRegex(poet.InputError, named):
                call()
        for wrong in ({"bytes": -1}, {"bytes": 1.5}, {"bytes": "4KiB"}, {"bytes": True}, {"bytes": float("nan")}, {"seconds": float("nan")}, {"joules": -1}):
            with self.assertRaisesRegex(poet.InputError, next(iter(wrong))):
                poet.Graph("wrong").op("x", **{"bytes": 1, "seconds": 1, "joules": 1, **wrong})
        for wrong in ((1, 2, 3), (1, 2, 3, 4, 5), (), "1234", (1, 2, 3, -4), (1, 2, 3, math.inf)):
            with self.assertRaisesRegex(poet.InputError, "page: must be 4 finite numbers"):
                poet.Graph("wrong").op("x", bytes=1, seconds=1, joules=1, page=wrong)
        with self.assertRaisesRegex(TypeError, "inputs"):
            graph.op("y", "x", bytes=1, seconds=1, joules=1)
        with self.assertRaisesRegex(TypeError, "graph"):
            poet.solve(graph="x", ram_budget=1000)

    def test_files_are_the_programs(self):
        graph = chain(seconds=1.0, joules=2.0)
        with tempfile.TemporaryDirectory() as folder:
            graph.save(f"{folder}/chain.json")
            self.assertEqual(poet.Graph.read(f"{folder}/chain.json").to_json(), graph.to_json())
            ram = 2000
            said = program("solve", "--instance", f"{folder}/chain.json", "--ram-budget", ram)
            self.assertEqual(poet.solve(graph=graph, ram_budget=ram).energy, said["energy_joules"])
            self.assertEqual(poet.solve(instance=f"{folder}/chain.json", ram_budget=ram).energy, said["energy_joules"])

    @unittest.skipUnless(networkx, "networkx is absent")
    def test_networkx_goes_both_ways(self):
        for graph in (chain(seconds=1.0, joules=2.0), chain(seconds=1.0, joules=2.0, page=(1, 2, 3, 4)),
                      poet.Graph.published("resnet18_cifar", "m4")):
            there = graph.to_networkx()
            again = poet.Graph.from_networkx(there)
            self.assertEqual(list(again.to_networkx().nodes(data=True)), list(there.nodes(data=True)))
            self.assertEqual(set(again.to_networkx().edges), set(there.edges))
        cycle = networkx.DiGraph([("a", "b"), ("b", "a")])
        with self.assertRaisesRegex(poet.InputError, "cycle"):
            poet.Graph.from_networkx(cycle)
        with self.assertRaisesRegex(poet.InputError, "bytes"):
            poet.Graph.from_networkx(networkx.DiGraph([("a", "b")]))
        weighted = poet.Graph("weighted")
        weighted.op("y", [weighted.parameter("w", 1000)], bytes=100, seconds=1, joules=1)
        with self.assertRaisesRegex(poet.InputError, "parameters"):
            poet.Graph.from_networkx(weighted.to_networkx())


class Devices(unittest.TestCase):
    def test_profiles_come_and_go_unchanged(self):
        self.assertIn("m4", poet.devices())
        for name in poet.devices():
            device = poet.Device.load(name)
            with tempfile.TemporaryDirectory() as folder:
                device.save(f"{folder}/{name}.json")
                self.assertEqual(poet.Device.load(f"{folder}/{name}.json"), device)
            with open(os.path.join(ROOT, "data", "devices", f"{name}.json"), encoding="utf-8") as stream:
                published = json.load(stream)
            said = device.to_json()
            for field in ("ram_bytes", "flops_per_second", "page_in", "origins"):
                self.assertEqual(said.get(field), published.get(field), f"{name}: {field}")

    def test_a_device_of_ones_own_solves(self):
        device = poet.Device("tiny", ram_bytes=64_000, flops_per_second=1e7, memory_bytes_per_second=1e7, active_watts=0.1,
                             storage_bytes=1 << 24, page_in=poet.Transfer(1e-4, 1e6, 0.05), page_out=poet.Transfer(1e-4, 5e5, 0.05))
        result = poet.solve("linear", device=device, ram_budget=30_000, time_limit=3)
        self.assertTrue(result)
        self.assertEqual(result.figures["platform"], "tiny")

    def test_numbers_out_of_range_are_named(self):
        device = poet.Device("x", ram_bytes=1, flops_per_second=-1, memory_bytes_per_second=1, active_watts=1)
        with self.assertRaisesRegex(poet.InputError, "flops_per_second"):
            poet.solve("linear", device=device, ram_budget=1000)


if __name__ == "__main__":
    main()
