"""Names of arguments: a mistaken one is told with the nearest right one, by every public function; device and platform are one word."""

import dataclasses
import inspect
import os
import tempfile
import unittest

import poet

from support import SMALL, main

CLASSES = (poet.Buffer, poet.Device, poet.Graph, poet.Plan, poet.Trainer, poet.Transfer)


def public_functions():
    """All that take arguments by name: what they are called in messages, and they themselves."""
    for name in poet.__all__:
        if inspect.isfunction(getattr(poet, name)):
            yield name, getattr(poet, name)
    for each in CLASSES:
        yield each.__name__, each
        for name, member in vars(each).items():
            member = getattr(member, "__func__", member)
            if inspect.isfunction(member) and not name.startswith("_"):
                yield f"{each.__name__}.{name}", getattr(each, name)


def arguments_of(function):
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [each.name for each in inspect.signature(function).parameters.values() if each.kind in kinds and each.name != "self"]


class Mistakes(unittest.TestCase):
    def test_every_public_function_names_the_nearest_argument(self):
        told = 0
        for called, function in public_functions():
            for argument in arguments_of(function):
                with self.subTest(called=called, argument=argument):
                    with self.assertRaises(TypeError) as raised:
                        function(**{argument + "_x": 1})
                    self.assertEqual(str(raised.exception), f"{called}(): {argument}_x is no argument of it; did you mean {argument}?")
                    told += 1
        self.assertGreater(told, 200)

    def test_all_classes_that_are_made_by_name_are_among_them(self):
        for name in poet.__all__:
            each = getattr(poet, name)
            if inspect.isclass(each) and each not in CLASSES and not issubclass(each, (Exception, tuple, list)):
                self.assertIn(name, ("Packing", "Page", "Result", "Schedule"))  # which poet alone makes

    def test_parts_of_a_name_and_words_of_other_libraries(self):
        for function, said, meant in (
            (poet.solve, "ram", "ram_budget"), (poet.compare, "ram", "ram_budget"), (poet.solve, "batch", "batch_size"),
            (poet.solve, "memory", "ram_budget"), (poet.compare, "network", "model"), (poet.solve, "limit", "time_limit"),
            (poet.train, "lr", "learning_rate"), (poet.Device, "ram", "ram_bytes"), (poet.profile, "active", "active_watts"),
        ):
            with self.subTest(said=said), self.assertRaisesRegex(TypeError, rf"\(\): {said} is no argument of it; did you mean {meant}\?$"):
                function(**{said: 1})
        with self.assertRaisesRegex(TypeError, r"^compare\(\): colour is no argument of it$"):
            poet.compare(colour=1)
        with self.assertRaisesRegex(TypeError, r"^ram: no such argument of the published reference, .*; did you mean ram_budget\?$"):
            poet.solve("linear", platform="m4", ram_budget=1, runtime_budget=2, ram=1)

    def test_of_copies_too(self):
        with self.assertRaisesRegex(TypeError, r"^Device\(\): ram is no argument of it; did you mean ram_bytes\?$"):
            dataclasses.replace(poet.Device.load("m4"), ram=1)

    def test_help_has_the_signatures(self):
        self.assertIn("ram_budget: 'Optional[Amount]' = None", str(inspect.signature(poet.compare)))
        self.assertEqual(list(inspect.signature(poet.Graph).parameters), ["name", "device"])
        self.assertEqual(poet.compare.__doc__, inspect.getdoc(poet.compare).replace("\n", "\n    ").replace("\n    \n", "\n\n") + "\n    ")


class Words(unittest.TestCase):
    def test_platform_is_the_device(self):
        as_platform = {**{name: value for name, value in SMALL.items() if name != "device"}, "platform": SMALL["device"]}
        rows = [{**row, "method_seconds": 0} for row in poet.compare(**as_platform, methods=["chen-sqrt"])]
        self.assertEqual(rows, [{**row, "method_seconds": 0} for row in poet.compare(**SMALL, methods=["chen-sqrt"])])
        m4 = poet.Device.load("m4")
        self.assertIs(poet.Graph("x", platform=m4).device, m4)
        self.assertEqual(poet.Graph.published("linear", device="m4").to_json(), poet.Graph.published("linear", platform="m4").to_json())
        with tempfile.TemporaryDirectory() as folder, self.assertRaisesRegex(poet.InputError, "none.onnx"):
            poet.import_onnx(os.path.join(folder, "none.onnx"), platform="m4")

    def test_platforms_of_a_sweep_are_devices(self):
        spec = {"networks": ["linear"], "ram": [1.0], "methods": ["chen-sqrt"]}
        rows = [{**poet.sweep({**spec, word: ["m4"]})[0], "host_seconds": 0} for word in ("devices", "platforms")]
        self.assertEqual(rows[0], rows[1])
        with self.assertRaisesRegex(poet.InputError, "^spec: /devices: is another word for platforms: leave one of them out$"):
            poet.sweep({**spec, "devices": ["m4"], "platforms": ["m4"]})

    def test_both_words_are_too_many(self):
        with self.assertRaisesRegex(TypeError, r"^compare\(\): platform is another word for device: leave one of them out$"):
            poet.compare("linear", device="m4", platform="m4")

    def test_solve_takes_the_platform_of_the_published_reference(self):
        said = r"^ram_budget: must be a finite number of bytes where there is a platform; with device='m4' it may be text$"
        with self.assertRaisesRegex(poet.InputError, said):
            poet.solve("linear", platform="m4", ram_budget="50%", runtime_budget=2)


if __name__ == "__main__":
    main()
