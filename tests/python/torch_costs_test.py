"""poet.torch: what operators cost is measured once on a machine."""

import contextlib
import os
import sqlite3
import tempfile
from unittest import mock

from support import main
from torch_support import TorchCase, torch

if torch is not None:
    from torch import nn

    import poet.torch
    import poet.torch.measure as measuring


class Costs(TorchCase):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = os.path.join(folder.name, "poet", "operators.sqlite")
        patch = mock.patch.dict(os.environ, POET_CACHE=os.path.dirname(self.file))
        patch.start()
        self.addCleanup(patch.stop)

    def measured(self, module=None, width=8):
        """How many operators are measured when a step is compiled, and the step."""
        module = module or nn.Sequential(nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 2))
        batch = torch.randn(4, width), torch.randn(4, 2)
        with mock.patch.object(measuring, "_measured", side_effect=measuring._measured) as measure:
            step = poet.torch.compile_step(module, nn.functional.mse_loss, torch.optim.SGD(module.parameters(), 0.1), batch, ram_budget="100%", time_limit=1)
        self.assertEqual(step.verify(batch), [])
        return measure.call_count, step

    def test_operators_are_measured_once(self):
        first, step = self.measured()
        self.assertGreater(first, 5)
        second, other = self.measured()
        self.assertEqual(second, 0)
        self.assertEqual(step.peak_bytes, other.peak_bytes)
        costs = [[(op["runtime_seconds"], op.get("workspace_bytes")) for op in each.result.graph.to_json()["ops"] if op["kind"] == "op"] for each in (step, other)]
        self.assertEqual(*costs)
        wider, _ = self.measured(width=9)
        self.assertGreater(wider, 5)
        torch.set_num_threads(2)
        threads, _ = self.measured()
        self.assertEqual(threads, first)

    def test_another_process_measures_at_the_same_time(self):
        """Costs are written when all are measured, also where measuring ends by an error."""
        measured = measuring._measured

        def interrupted(op, *others):
            with contextlib.closing(sqlite3.connect(self.file, timeout=0)) as connection, connection:
                connection.execute("INSERT OR REPLACE INTO costs VALUES ('other', '[]')")
            if op.number == 3:
                raise KeyboardInterrupt
            return measured(op, *others)

        module, batch = nn.Linear(8, 2), (torch.randn(4, 8), torch.randn(4, 2))
        with mock.patch.object(measuring, "_measured", side_effect=interrupted), self.assertRaises(KeyboardInterrupt):
            poet.torch.compile_step(module, nn.functional.mse_loss, torch.optim.SGD(module.parameters(), 0.1), batch, ram_budget="100%")
        with contextlib.closing(sqlite3.connect(self.file)) as connection:
            self.assertEqual(connection.execute("SELECT count(*) FROM costs").fetchone(), (4,))

    def test_a_file_that_is_none_or_damaged_is_no_harm(self):
        first, _ = self.measured()
        with open(self.file, "wb") as stream:
            stream.write(b"nothing of a database" * 100)
        self.assertEqual(self.measured()[0], first)
        os.remove(self.file)
        self.assertEqual(self.measured()[0], first)
        with mock.patch.dict(os.environ, POET_CACHE="off"):
            self.assertEqual(self.measured()[0], first)
        with mock.patch.dict(os.environ, POET_CACHE="/proc/nowhere"):
            self.assertEqual(self.measured()[0], first)

    def test_operators_of_others_are_measured_every_time(self):
        library = torch.library.Library("poet_costs", "DEF")
        library.define("doubled(Tensor x) -> Tensor")
        library.impl("doubled", lambda x: x * 2, "CPU")
        library.impl("doubled", lambda x: x.new_empty(x.shape), "Meta")

        class Doubling(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return torch.ops.poet_costs.doubled(x)

            @staticmethod
            def backward(ctx, gradient):
                return torch.ops.poet_costs.doubled(gradient)

        class Doubled(nn.Linear):
            def forward(self, x):
                return Doubling.apply(super().forward(x))

        self.assertGreater(self.measured(Doubled(8, 2))[0], 5)
        self.assertEqual(self.measured(Doubled(8, 2))[0], 1)


if __name__ == "__main__":
    main()
