"""What other libraries take: tables as pandas', plans as matplotlib's figures; and what is said where they are not installed."""

import importlib.util
import io
import json
import os
import sys
import tempfile
import unittest
from unittest import mock

import poet

from support import SMALL, main


def lacks(library):
    return unittest.skipIf(importlib.util.find_spec(library) is None, f"{library} is not installed")


def without(library):
    """As if it were not installed."""
    others = {name: module for name, module in sys.modules.items() if name.partition(".")[0] != library}
    return mock.patch.dict(sys.modules, {**others, library: None}, clear=True)


class Tables(unittest.TestCase):
    SPEC = {"networks": ["linear"], "devices": ["m4"], "ram": [0.25, 1.0], "methods": ["poet", "chen-sqrt"], "time_limit": 5}

    @lacks("pandas")
    def test_of_a_sweep(self):
        rows = poet.sweep(self.SPEC)
        frame = rows.to_pandas()
        self.assertEqual(list(frame.columns), list(rows[0]))
        self.assertEqual(frame["energy_joules"].tolist(), [row["energy_joules"] for row in rows])
        self.assertEqual(frame["energy_joules"].dtype.kind, "f")
        self.assertTrue(frame["deadline_seconds"].isna().all())
        wide = frame.pivot(index="ram", columns="method", values="energy_joules")
        self.assertEqual(wide.shape, (2, 2))
        self.assertGreater(wide["poet"].iloc[0], wide["poet"].iloc[1])

    @lacks("pandas")
    def test_of_a_comparison_and_of_a_plan(self):
        self.assertEqual(poet.compare(**SMALL, methods=["chen-sqrt"]).to_pandas()["method"].tolist(), ["chen-sqrt"])
        plan = poet.solve(**SMALL).plan
        steps = plan.steps().to_pandas()
        self.assertEqual(steps["ram_bytes"].max(), plan.peak_ram)
        self.assertEqual((plan.values().to_pandas()["page_ins"]).sum(), plan.verdict["page_ins"])

    def test_are_lists_of_dictionaries(self):
        steps = poet.solve(**SMALL).plan.steps()
        self.assertIsInstance(steps, list)
        self.assertEqual(json.loads(json.dumps(steps)), list(steps))

    def test_without_pandas(self):
        with without("pandas"), self.assertRaisesRegex(ImportError, r"^Table.to_pandas\(\) needs pandas, which .*: python3 -m pip install pandas$"):
            poet.Table([{"a": 1}]).to_pandas()


class Figures(unittest.TestCase):
    @lacks("matplotlib")
    def test_show_the_plan(self):
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot

        plan = poet.solve(**SMALL).plan
        figure = plan.plot()
        self.addCleanup(pyplot.close, figure)
        ram, lanes = figure.axes
        values, edges, _ = ram.patches[0].get_data()
        self.assertEqual((max(values), edges[0], edges[-1]), (plan.peak_ram, 0, plan.runtime))
        lines = {line.get_label(): line.get_ydata()[0] for line in ram.lines}
        self.assertEqual(lines["RAM budget"], SMALL["ram_budget"])
        drawn = {label.get_text(): len(bars.get_paths()) for label, bars in zip(lanes.get_yticklabels(), lanes.collections)}
        computed = sum(step["kind"] == "compute" for step in plan.steps())
        self.assertEqual(drawn["page in"], plan.verdict["page_ins"])
        self.assertEqual(drawn["page out"], plan.verdict["page_outs"])
        self.assertEqual(drawn["recompute"], plan.verdict["recomputations"])
        self.assertEqual(drawn["compute"], computed - plan.verdict["recomputations"])
        image = io.BytesIO()
        figure.savefig(image, format="png")
        self.assertTrue(image.getvalue().startswith(b"\x89PNG"))
        self.assertEqual(pyplot.get_fignums(), [figure.number])

    @lacks("matplotlib")
    def test_tell_that_a_plan_is_invalid(self):
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot

        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "plan.json")
            poet.solve(**SMALL).plan.save(file)
            with open(file, encoding="utf-8") as stream:
                text = json.load(stream)
            text["ram_budget_bytes"] = 1000
            with open(file, "w", encoding="utf-8") as stream:
                json.dump(text, stream)
            figure = poet.read_plans(file)[0].plot()
        self.addCleanup(pyplot.close, figure)
        self.assertRegex(figure.texts[0].get_text(), "^plan.json on m4: invalid, ")

    def test_without_matplotlib(self):
        plan = poet.solve(**SMALL).plan
        with without("matplotlib"), self.assertRaisesRegex(ImportError, r"^Plan.plot\(\) needs matplotlib, .*: python3 -m pip install matplotlib$"):
            plan.plot()


class Networkx(unittest.TestCase):
    def test_without_networkx(self):
        graph = poet.Graph.published("linear", "m4")
        for call, name in ((graph.to_networkx, "to"), (lambda: poet.Graph.from_networkx(None), "from")):
            with without("networkx"), self.assertRaisesRegex(ImportError, rf"^Graph.{name}_networkx\(\) needs networkx, .* pip install networkx$"):
                call()


if __name__ == "__main__":
    main()
