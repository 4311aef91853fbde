"""poet.solve(): the same answers as the program's, told as Python tells things; and every wrong argument by its name."""

import math
import pickle
import signal
import tempfile
import threading
import unittest

import numpy as np
import poet

from support import ALL, PROGRAM_SMALL, RESIDENT, SMALL, main, program, python, until_there_is_a_plan


class Answers(unittest.TestCase):
    def test_are_those_of_the_program(self):
        for arguments, options in (
            ({}, RESIDENT),
            ({"ram_budget": "490KB", "runtime_budget": 3}, (*RESIDENT, "--runtime-budget", 3)),
            ({"paging": False}, (*RESIDENT, "--no-paging")),
            ({"optimizer": "adam", "ram_budget": 900_000}, (*RESIDENT, "--optimizer", "adam")),
            ({"persistent": None, "split": None}, ()),
            *([({"ram_budget": 300}, RESIDENT)] if ALL else []),
        ):
            with self.subTest(arguments=arguments):
                arguments = {**SMALL, **arguments}
                result = poet.solve(**arguments)
                said = program("solve", *PROGRAM_SMALL, "--ram-budget", arguments["ram_budget"], *options)
                for figure in ("status", "energy_joules", "bound_joules", "peak_ram_bytes", "page_ins", "bytes_written", "part_bytes"):
                    self.assertEqual(result.figures[figure], said[figure], figure)

    def test_of_the_devices_ram_of_a_part_and_of_the_least(self):
        kept = {"model": "linear", "device": "m4", "persistent": "resident", "split": "off"}
        self.assertEqual(poet.solve(**kept).ram_budget, 256 * 1024)
        most = poet.solve(**kept).figures["keep_all_peak_ram_bytes"]
        part = poet.solve(**kept, ram_budget="75%")
        self.assertEqual(part.ram_budget, int(0.75 * most))
        self.assertRegex(part.ram_note, "^75% of the .* that keeping everything takes before operators are split is ")
        least = poet.solve(**kept, ram_budget="least")
        self.assertTrue(least)
        self.assertEqual(least.ram_budget, poet.solve(**kept, ram_budget=1).least_ram)
        self.assertLess(least.ram_budget, most)
        self.assertRegex(least.ram_note, "^the least RAM budget with a plan that a quick search knows is ")
        self.assertEqual(poet.solve(**kept).ram_note, "the RAM budget is all of the device's RAM; `ram_budget` sets another")
        self.assertEqual(poet.solve(**kept, ram_budget=most).ram_note, "")
        with self.assertWarnsRegex(UserWarning, "ram_budget: the quick search .*found no plan.*`time_limit`") as warned:
            none = poet.solve("bert_tiny", device="m4", ram_budget="least", time_limit=0.001)
        self.assertEqual(warned.filename, __file__)
        self.assertIn("the device's RAM", none.ram_note)
        with self.assertWarnsRegex(UserWarning, "ram_budget: the quick search .*found no plan") as warned:
            poet.compare("bert_tiny", device="m4", ram_budget="least", time_limit=0.001, methods=["chen-sqrt"])
        self.assertEqual(warned.filename, __file__)
        rows = poet.compare("linear", device="m4", ram_budget="least", methods=["poet"])
        self.assertEqual(rows[0]["verdict"], "holds")
        self.assertLessEqual(rows[0]["peak_ram_bytes"], least.ram_budget)

    def test_a_plan_comes_with_its_verdict_and_tables(self):
        result = poet.solve(**SMALL)
        self.assertTrue(result)
        self.assertIn(result.status, ("optimal", "feasible"))
        plan = result.plan
        self.assertTrue(plan.valid)
        self.assertEqual(plan.energy, result.energy)
        self.assertLessEqual(result.bound, result.energy * (1 + 1e-9))
        self.assertLessEqual(plan.peak_ram, 500_000)
        steps, values = plan.steps(), plan.values()
        self.assertEqual(sum(step["kind"] == "page_in" for step in steps), result.figures["page_ins"])
        self.assertEqual(max(step["ram_bytes"] for step in steps), result.peak_ram)
        self.assertAlmostEqual(steps[-1]["end"], result.runtime, delta=1e-6 * result.runtime)
        self.assertEqual(sum(value["page_ins"] for value in values), result.figures["page_ins"])
        self.assertIn("paged", {value["decision"] for value in values})
        self.assertIn("<html", plan.page())
        self.assertIn("iframe", result._repr_html_())
        self.assertIn("RAM", str(plan))

    def test_no_plan_is_an_answer(self):
        result = poet.solve(**{**SMALL, "ram_budget": 300})
        self.assertFalse(result)
        self.assertIsNone(result.plan)
        self.assertTrue(math.isnan(result.energy))
        self.assertIn("300", str(result.ram_budget))
        self.assertIn("less than", result.reason)
        late = poet.solve(**SMALL, deadline=1e-6)
        self.assertEqual(late.status, "infeasible")
        self.assertNotEqual(late.reason, "")

    def test_the_least_ram_that_it_names_has_a_plan(self):
        graph = poet.Graph.published("linear", "m4")
        result = poet.solve(graph=graph, ram_budget=1)
        self.assertEqual(result.status, "infeasible")
        self.assertTrue(poet.solve(graph=graph, ram_budget=result.least_ram))

    def test_a_staged_schedule_obeys_the_rules_of_the_paper(self):
        for instance in (("linear", "m4"), ("resnet18_cifar", "a72")):
            graph = poet.Graph.published(*instance)
            nodes = graph.to_json()["nodes"]
            size = np.array([node["ram_bytes"] for node in nodes])
            budget = int(size[[not node["backward"] for node in nodes]].sum() * 0.6)
            result = poet.solve(graph=graph, semantics="published", ram_budget=budget, time_limit=20)
            s = result.schedule
            self.assertTrue((np.diag(s.R)).all())
            self.assertFalse(np.triu(s.R, 1).any())
            self.assertFalse((s.S[1:] & ~(s.S | s.R | s.In)[:-1]).any(), "kept what was not there")
            self.assertFalse((s.In & ~s.D).any(), "paged in what is not on storage")
            self.assertFalse((s.Out & ~s.S).any(), "paged out what is not in RAM")
            self.assertFalse(s.S[0].any())
            for k, node in enumerate(nodes):
                for i in node["deps"]:
                    self.assertFalse((s.R[:, k] & ~(s.R[:, i] | s.S[:, i])).any(), f"op {k} without its operand {i}")
            costs = {name: np.array([node[name] for node in nodes]) for name in ("compute_joules", "page_in_joules", "page_out_joules")}
            energy = sum((matrix @ costs[name]).sum() for matrix, name in
                         ((s.R, "compute_joules"), (s.In, "page_in_joules"), (s.Out, "page_out_joules")))
            self.assertLessEqual(result.energy, energy * (1 + 1e-9))  # page-ins that bring nothing are left out of the plan

    def test_what_pages_between_ops_has_no_stages_unless_asked(self):
        small = {**SMALL, "ram_budget": 450_000, "persistent": None, "split": None, "progress": until_there_is_a_plan}
        result = poet.solve(**small)
        self.assertTrue(result.figures["synchronous"])
        self.assertIsNone(result.schedule)
        staged = poet.solve(**small, staged=True)
        with self.assertRaisesRegex(poet.InputError, "persistent.*staged"):
            poet.solve(**{**SMALL, "persistent": "auto"}, staged=True)
        self.assertEqual(staged.schedule.R.shape, (staged.figures["ops"],) * 2)

    def test_amounts_are_numbers_of_any_kind_or_text(self):
        energies = {poet.solve(**{**SMALL, "ram_budget": ram}).energy for ram in (500_000, 5e5, np.int64(500_000), "500kB", "500 KB")}
        self.assertEqual(len(energies), 1)
        self.assertEqual(poet.solve(**SMALL, deadline="1.5s").figures["deadline_seconds"], 1.5)


class Files(unittest.TestCase):
    def test_plans_are_written_read_and_pickled(self):
        plan = poet.solve(**SMALL).plan
        with tempfile.TemporaryDirectory() as folder:
            for name in ("x.plan", "x.json"):
                plan.save(f"{folder}/{name}")
                again, = poet.read_plans(f"{folder}/{name}")
                self.assertEqual(again.verdict, plan.verdict)
                self.assertEqual(poet.verify(f"{folder}/{name}"), plan.verdict)
            plan.save_image(f"{folder}/x.image")
            page = plan.show(f"{folder}/x.html")
            self.assertEqual(open(f"{folder}/x.html", encoding="utf-8").read(), page.html)
            self.assertEqual(program("verify", f"{folder}/x.plan")["energy_joules"], plan.energy)
            with open(f"{folder}/broken", "wb") as stream:
                stream.write(plan.to_bytes()[:-1])
            with self.assertRaisesRegex(poet.InputError, "broken"):
                poet.read_plans(f"{folder}/broken")
        self.assertEqual(pickle.loads(pickle.dumps(plan)).verdict, plan.verdict)

    def test_results_are_pickled(self):
        for result in (poet.solve(**{**SMALL, "staged": True}), poet.solve(**{**SMALL, "ram_budget": 1000})):
            again = pickle.loads(pickle.dumps(result))
            self.assertEqual((again.status, again.reason, again.figures), (result.status, result.reason, result.figures))
            self.assertEqual(again.graph.to_json(), result.graph.to_json())
            if result:
                self.assertEqual(again.plan.verdict, result.plan.verdict)
                self.assertTrue((again.schedule.R == result.schedule.R).all() and (again.schedule.Out == result.schedule.Out).all())

    def test_files_that_are_not_there_are_named(self):
        for call in (lambda: poet.read_plans("/no/plan"), lambda: poet.Graph.read("/no/graph"),
                     lambda: poet.solve(onnx="/no/net.onnx", device="m4", ram_budget=1),
                     lambda: poet.Device.load("/no/device.json")):
            with self.assertRaisesRegex(poet.InputError, "/no/"):
                call()


class WrongArguments(unittest.TestCase):
    def check(self, error, name, /, **arguments):
        with self.subTest(name=name, arguments=arguments), self.assertRaisesRegex(error, f"^{name}"):
            poet.solve(**{**SMALL, **arguments})

    def test_are_named(self):
        self.check(ValueError, "ram_budget", ram_budget="12 apples")
        self.check(ValueError, "ram_budget", ram_budget=-1)
        self.check(ValueError, "ram_budget", ram_budget=0.5)
        self.check(ValueError, "ram_budget", ram_budget=float("nan"))
        self.check(ValueError, "ram_budget", beyond_device_ram=False)
        self.check(ValueError, "ram_budget", ram_budget="0%")
        self.check(TypeError, "ram_budget", ram_budget=[1])
        self.check(ValueError, "runtime_budget", runtime_budget=-1)
        self.check(ValueError, "runtime_budget", runtime_budget=float("nan"))
        self.check(TypeError, "runtime_budget", runtime_budget="fast")
        self.check(ValueError, "deadline", deadline="yesterday")
        self.check(ValueError, "deadline", deadline=1, runtime_budget=2)
        self.check(ValueError, "gap", gap=2)
        self.check(ValueError, "time_limit", time_limit=0)
        self.check(ValueError, "threads", threads=0)
        self.check(ValueError, "batch_size", batch_size=0)
        self.check(ValueError, "optimizer", optimizer="adagrad")
        self.check(ValueError, "persistent", persistent="none")
        self.check(ValueError, "semantics", semantics="other")
        self.check(ValueError, "solver", solver="gurobi")
        self.check(ValueError, "order", order="random")
        self.check(ValueError, "formulation", formulation="published")
        self.check(ValueError, "sequence_length", sequence_length=8)
        self.check(ValueError, "device", device=None)
        self.check(ValueError, "trainable", trainable="nothing*")
        self.check(TypeError, r"solve\(\): colour is no argument of it$", colour="blue")
        self.check(TypeError, r"solve\(\): batch_sise .* did you mean batch_size[?]$", batch_sise=4)
        for name, value in (("loss", "mse"), ("huber_delta", 2), ("loss_output", "y"), ("allow_opaque", True), ("input_shapes", {"x": (1, 2)}),
                            ("input_values", {"x": 1})):
            self.check(poet.InputError, f"{name}: is for `onnx`", **{name: value})
        self.check(TypeError, "model", model=poet.Graph())
        self.check(TypeError, "paging", paging="False")
        self.check(TypeError, "paging", paging=2)
        self.check(TypeError, "progress", progress=5)
        self.check(TypeError, "device", device=5)
        self.check(TypeError, "ram_budget", ram_budget=np.array([1, 2]))
        self.check(TypeError, "model", onnx="x.onnx")
        self.check(ValueError, "on_time", on_time=0.9)

    def test_unknown_names_list_the_known_ones(self):
        for arguments in ({"model": "resnet"}, {"device": "m5"}):
            with self.assertRaisesRegex(poet.InputError, "resnet18|m4"):
                poet.solve(**{**SMALL, **arguments})

    def test_errors_say_place_and_rule(self):
        with self.assertRaises(poet.InputError) as caught:
            poet.solve(**{**SMALL, "gap": "wide"})
        self.assertEqual(caught.exception.place, "gap")
        self.assertEqual(str(caught.exception), f"gap: {caught.exception.rule}")
        self.assertEqual(str(pickle.loads(pickle.dumps(caught.exception))), str(caught.exception))


class WhileItRuns(unittest.TestCase):
    LONG = {"model": "resnet50", "device": "a72", "ram_budget": "150MB", "gap": 0, "time_limit": 1200}

    def test_progress_is_told_and_may_stop_the_search(self):
        seen = []

        def stop_soon(phase, incumbent, bound, seconds):
            seen.append((phase, incumbent, bound, seconds))
            return incumbent is None

        result = poet.solve(**self.LONG, progress=stop_soon)
        self.assertTrue(result)
        self.assertTrue(result.figures["interrupted"])
        self.assertIsNotNone(seen[-1][1])

    def test_progress_with_plan_joules_is_told_the_best_plan(self):
        plans = []

        def until_there_is_one(phase, schedule, bound, seconds, plan_joules):
            plans.append(plan_joules)
            return plan_joules is None

        energy = poet.solve("bert_tiny", device="m4", ram_budget="50%", beyond_device_ram=True, gap=0, time_limit=600,
                            progress=until_there_is_one).energy
        self.assertIsNotNone(plans[-1])
        self.assertLessEqual(energy, plans[-1] * (1 + 1e-9))
        seen = []
        poet.solve(**SMALL, progress=lambda *_, **named: seen.append(named))
        self.assertEqual(set(map(tuple, seen)), {("plan_joules",)})

    def test_progress_goes_one_way_through_all_searches(self):
        seen = []
        poet.solve("linear", device="m4", batch_size=64, ram_budget="50%", beyond_device_ram=True, time_limit=1,
                   progress=lambda phase, best, bound, seconds: seen.append((best, seconds)))
        self.assertEqual(sorted(seconds for _, seconds in seen), [seconds for _, seconds in seen])
        found = [best for best, _ in seen if best is not None]
        self.assertEqual(sorted(found, reverse=True), found)
        self.assertGreater(len(found), 1)

    def test_what_progress_raises_comes_back(self):
        def fail(*_):
            raise LookupError("enough")

        with self.assertRaisesRegex(LookupError, "enough"):
            poet.solve(**self.LONG, progress=fail)

    def test_ctrl_c_raises(self):
        child = python(f"import poet\npoet.solve(**{self.LONG!r}, progress=lambda *_: print('begun', flush=True))")
        self.assertEqual(child.stdout.readline(), "begun\n")
        child.send_signal(signal.SIGINT)
        _, said = child.communicate()
        self.assertIn("KeyboardInterrupt", said)

    def test_several_threads_solve_at_a_time(self):
        budgets = [480_000, 500_000, 520_000, 540_000]
        alone = [poet.solve(**{**SMALL, "ram_budget": ram}).energy for ram in budgets]
        together = [0.0] * len(budgets)
        here = threading.Event()

        def solve(i):  # the thread that started it runs as well
            together[i] = poet.solve(**{**SMALL, "ram_budget": budgets[i]}, progress=lambda *_: here.wait()).energy

        threads = [threading.Thread(target=solve, args=(i,)) for i in range(len(budgets))]
        for thread in threads:
            thread.start()
        here.set()
        for thread in threads:
            thread.join()
        self.assertEqual(together, alone)


class Sweeping(unittest.TestCase):
    SPEC = {"networks": ["linear"], "platforms": ["m4"], "ram": [0.25, 0.5, 1.0], "methods": ["poet", "chen-sqrt"], "time_limit": 5}

    def test_rows_are_remembered_and_monotone(self):
        with tempfile.TemporaryDirectory() as folder:
            seen = []
            rows = poet.sweep(self.SPEC, store=f"{folder}/x.sqlite", jobs=2, progress=seen.append)
            self.assertEqual(len(rows), 6)
            self.assertEqual(seen[-1], "6 of 6")
            energies = [row["energy_joules"] for row in rows if row["method"] == "poet"]
            self.assertEqual(energies, sorted(energies, reverse=True))
            self.assertTrue(any(row["pareto_energy_ram"] for row in rows))
            again = []
            self.assertEqual(poet.sweep(self.SPEC, store=f"{folder}/x.sqlite", progress=again.append), rows)
            self.assertEqual(again, [])

    def test_mistakes_are_named(self):
        for wrong, named in (({"ram": []}, "spec: /ram"), ({"colour": 1}, "colour"), ({"methods": ["magic"]}, "magic")):
            with self.assertRaisesRegex(poet.InputError, named):
                poet.sweep({**self.SPEC, **wrong})
        with self.assertRaisesRegex(poet.InputError, "/no/store"):
            poet.sweep(self.SPEC, store="/no/store")


class Comparing(unittest.TestCase):
    def test_rows_are_the_programs(self):
        rows = {row["method"]: row for row in poet.compare(**SMALL, methods=["chen-sqrt", "poet"])}
        said = program("compare", *PROGRAM_SMALL, *RESIDENT, "--ram-budget", SMALL["ram_budget"], "--methods", "chen-sqrt,poet")
        self.assertEqual([row["method"] for row in said["methods"]], list(rows))
        for row in said["methods"]:
            self.assertEqual({**rows[row["method"]], "method_seconds": 0}, {**row, "method_seconds": 0})

    def test_stopping_leaves_out_what_was_not_run(self):
        rows = poet.compare(**SMALL, methods=["poet", "chen-sqrt", "checkmate"], progress=lambda *_: False)
        self.assertNotIn("checkmate", [row["method"] for row in rows])

    def test_unknown_methods_are_refused(self):
        with self.assertRaisesRegex(poet.InputError, "chen-sqrt"):
            poet.compare(**SMALL, methods=["magic"])


if __name__ == "__main__":
    main()
