"""poet.torch: a compiled step is used for no batch and no module but those that it was compiled for."""

import collections
import functools
import types

from support import main
from torch_support import TorchCase, torch

if torch is not None:
    import numpy as np
    from torch import nn

    import poet.torch

    mse = nn.functional.mse_loss if torch is not None else None

    class Two(nn.Module):
        """Two layers and what `between` does."""

        def __init__(self, between=None):
            super().__init__()
            self.a, self.b = nn.Linear(8, 8), nn.Linear(8, 8)
            self.act, self.factor, self.factors, self.cache, self.last = torch.tanh, 1, [1.0], {}, None
            self.between = between

        def forward(self, x):
            y = self.act(self.a(x)) * self.factor * self.factors[0]
            return self.b(self.between(self, y) if self.between else y)


BY = 1.0


class Factor:
    scale = 1.0

    def __init__(self, by):
        self.by = by * BY

    def __rmul__(self, y):
        return y * (self.by * BY)

    def __getitem__(self, index):
        return self.by + index

    def __enter__(self):
        return self.by

    def __exit__(self, *error):
        pass

    def __getattr__(self, name):
        if name != "computed":
            raise AttributeError(name)
        return self.by * BY

    @classmethod
    def of_class(cls, y):
        return y * cls.scale

    @staticmethod
    def static(y):
        return y * BY


def in_context(module, y):
    with module.factor as by:
        return y * by


@functools.lru_cache
def cached():
    return BY


if torch is not None:

    class Scaling(torch.autograd.Function):
        @staticmethod
        def forward(ctx, y):
            return y * BY

        @staticmethod
        def backward(ctx, gradient):
            return gradient * BY

    class Middle(Two):
        def scaled(self, y):
            return y * BY

    class Derived(Middle):
        def scaled(self, y):
            return super().scaled(y) * 2


def given(count):
    return [torch.randn(6, 8) for _ in range(count)]


class Dependence(TorchCase):
    def compared(self, module, batches, between=lambda module: None, loss=None, forward=None, optimizer=None, check=True):
        """Steps with the batches next to PyTorch's own, `between` called after each."""
        loss = loss if loss is not None or forward is not None else mse
        optimizer = (optimizer or (lambda parameters: torch.optim.SGD(parameters, 0.1)))(module.parameters())
        step = poet.torch.compile_step(module, loss, optimizer, batches[0], ram_budget="100%", forward=forward, check=check)
        for batch in batches:
            self.assertEqual(step.verify(batch), [])
            step(batch)
            between(module)
        return step

    def test_a_tensor_that_the_first_batch_has_twice(self):
        x, y, z = given(3)
        self.compared(Two(), [(x, x), (z, y)])

    def test_a_tensor_that_batch_and_module_share(self):
        x, y, z = given(3)
        module = Two(lambda self, h: h + self.held)
        module.register_buffer("held", x)
        self.compared(module, [(x, y), (z, y)])

    def test_functions_types_and_contents_of_attributes(self):
        x, y = given(2)
        for name, value in (("act", torch.sigmoid), ("act", nn.ReLU()), ("factor", 2), ("factor", 1.0), ("factors", [0.5]), ("factor", np.float64(3))):
            with self.subTest(name=name, value=value):
                self.compared(Two(), [(x, y)] * 3, lambda module: setattr(module, name, value) if hasattr(module, name) else None)
        self.compared(Two(), [(x, y)] * 3, lambda module: module.factors.__setitem__(0, 0.25))
        self.compared(Two(), [(x, y)] * 3, lambda module: setattr(module, "forward", lambda given: module.b(given)))

    def test_what_only_runs_is_followed(self):
        """Operators of objects, hooks, what a base has, class and static methods, classes that code makes objects of, functions of autograd."""
        batches = [(torch.randn(4, 8), torch.randn(4, 8))] * 2

        def more():
            global BY
            BY += 1.0

        class_attribute = functools.partial(setattr, Factor, "scale", 3.0)
        for name, between, change in (
            ("operator", lambda module, y: y * module.factor, lambda module: setattr(module.factor, "by", 3.0)),
            ("operator reads a global", lambda module, y: y * module.factor, lambda module: more()),
            ("item", lambda module, y: y * module.factor[0], lambda module: setattr(module.factor, "by", 3.0)),
            ("context", in_context, lambda module: setattr(module.factor, "by", 4.0)),
            ("computed attribute", lambda module, y: y * module.factor.computed, lambda module: setattr(module.factor, "by", 5.0)),
            ("base", lambda module, y: module.scaled(y), lambda module: more()),
            ("hook", lambda module, y: y, lambda module: more()),
            ("class method", lambda module, y: Factor.of_class(y), lambda module: class_attribute()),
            ("static method", lambda module, y: Factor.static(y), lambda module: more()),
            ("object made", lambda module, y: y * Factor(2.0), lambda module: more()),
            ("function of autograd", lambda module, y: Scaling.apply(y), lambda module: more()),
            ("cached", lambda module, y: y * cached(), lambda module: (cached.cache_clear(), more())),
        ):
            for check in (True, False):
                with self.subTest(name, check=check):
                    Factor.scale, Factor.by = 1.0, 1.0
                    module = Derived(lambda module, y: between(module, y))
                    module.factor = Factor(2.0)
                    if name == "hook":
                        module.a.register_forward_hook(lambda part, given, result: result * BY)
                    self.compared(module, batches, change, check=check)

    def test_containers_that_have_functions_and_objects(self):
        x, y = given(2)
        for kind in (dict, collections.OrderedDict, lambda pairs: collections.defaultdict(float, pairs)):
            module = Two(lambda self, h: self.table["act"](h) * self.table["by"])
            module.table = kind({"act": torch.tanh, "by": 2.0})
            self.compared(module, [(x, y)] * 2, lambda module: module.table.update(by=3.0))
        for items, new in (([torch.tanh, 2.0], 3.0), (collections.deque([torch.tanh, 2.0]), 3.0), (np.array([1.0, 2.0]), 3.0)):
            module = Two(lambda self, h: h * float(self.items[1]))
            module.items = items
            self.compared(module, [(x, y)] * 2, lambda module, new=new: module.items.__setitem__(1, new))

    def test_objects_that_reach_code_as_arguments(self):
        class Slotted:
            __slots__ = ("by",)

        def scaled(options, h):
            return h * options.by

        x, y = given(2)
        for options in (types.SimpleNamespace(by=2.0), Slotted()):
            options.by = 2.0
            module = Two(lambda self, h: scaled(self.options, h))
            module.options = options
            self.compared(module, [(x, y)] * 2, lambda module: setattr(module.options, "by", 3.0))
            module = Two()
            module.options = options
            forward = lambda module, batch: mse(module(batch[0]) * module.options.by, batch[1])  # noqa: E731
            self.compared(module, [(x, y)] * 2, lambda module: setattr(module.options, "by", 4.0), forward=forward)

    def test_defaults_and_arguments_of_partials(self):
        def scaled(self, h, by=[2.0]):
            return h * by[0]

        x, y = given(2)
        self.compared(Two(scaled), [(x, y)] * 2, lambda module: scaled.__defaults__[0].__setitem__(0, 3.0))
        by = [2.0]
        self.compared(Two(functools.partial(lambda by, self, h: h * by[0], by)), [(x, y)] * 2, lambda module: by.__setitem__(0, 3.0))

    def test_hooks_of_all_modules(self):
        x, y = given(2)
        hooks = []
        try:
            register = torch.nn.modules.module.register_module_forward_hook
            self.compared(Two(), [(x, y)] * 2, lambda module: hooks or hooks.append(register(lambda module, given, result: result * 2)))
        finally:
            for hook in hooks:
                hook.remove()

    def test_tensors_that_share_their_storage_in_one_batch_only(self):
        x, y, z = given(3)
        self.compared(Two(), [(x, x), (y, z), (x, x)], forward=lambda module, batch: mse(module(batch[0]), batch[1]) * (2 if batch[0].data_ptr() == batch[1].data_ptr() else 3))
        module = Two(lambda self, h: h + self.held.add_(1).clone())
        module.register_buffer("held", torch.zeros(6, 8))
        self.compared(module, [(x, y)] * 2)
        step = self.compared(module, [(x, y)])
        with self.assertRaisesRegex(poet.InputError, "cannot change tensors that share their storage"):
            step((x, module.held))

    def test_a_list_that_the_step_fills_is_refused(self):
        module = Two(lambda self, h: (self.seen.append(h.detach()), h)[1])
        module.seen = []
        x, y = given(2)
        with self.assertRaisesRegex(poet.torch.CaptureError, "^seen: is changed by the step and goes into the next; .* or collect what the step returns"):
            self.compared(module, [(x, y)])
        self.assertEqual(module.seen, [])

    def test_a_buffer_for_one_that_was_none(self):
        module = Two(lambda self, h: h if self.p is None else h * self.p)
        module.register_buffer("p", None)
        module.register_buffer("q", torch.ones(8))
        x, y = given(2)
        self.compared(module, [(x, y)] * 3, lambda module: setattr(module, "p", torch.full((8,), 0.3)))

    def test_numbers_of_a_loss_that_is_a_module(self):
        class Scaled(nn.Module):
            factor = 1.0

            def forward(self, one, other):
                return mse(one, other) * self.factor

        loss = Scaled()
        x, y = given(2)
        self.compared(Two(), [(x, y)] * 2, lambda module: setattr(loss, "factor", 3.0), loss=loss)

    def test_other_parts_of_a_batch(self):
        x, y = given(2)
        forward = lambda module, batch: mse(module(batch[0]) * batch[2], batch[1])  # noqa: E731
        self.compared(Two(), [(x, y, 1), (x, y, 1.0), (x, y, True), (x, y, 0.5)], forward=forward)
        with self.assertRaisesRegex(poet.torch.CaptureError, "batch: must be a tuple of what the module takes"):
            self.compared(Two(), [(x, y)])(x)
        for part in (np.ones(3), object(), {1, 2}):
            with self.assertRaisesRegex(poet.InputError, "batch: has a "):
                self.compared(Two(), [(x, y, part)], forward=forward)

    def test_hooks_that_come_later(self):
        module, (x, y) = Two(), given(2)
        step = self.compared(module, [(x, y)])
        handle = module.a.register_forward_hook(lambda part, inputs, output: output * 2)
        self.assertEqual(step.verify((x, y)), [])
        handle.remove()
        module.a.weight.register_hook(lambda gradient: gradient * 2)
        with self.assertRaisesRegex(poet.InputError, "hook on the gradient of a.weight"):
            step((x, y))

    def test_state_that_begins_as_none_is_refused_where_it_is_read(self):
        def goes_on(self, h):
            h = h if self.last is None else h + self.last
            self.last = h.detach()
            return h

        def is_left(self, h):
            self.last = h.detach()
            return h

        x, y = given(2)
        with self.assertRaisesRegex(poet.torch.CaptureError, "last: is changed by the step and goes into the next"):
            self.compared(Two(goes_on), [(x, y)])
        module = Two(is_left)
        step = self.compared(module, [(x, y)])
        module(x)  # leaves something else there, which is no reason to compile again
        step((x, y))
        self.assertEqual(len(step._compiled), 1)

    def test_what_is_cached_while_it_is_captured_goes(self):
        def cached(self, h):
            if "m" not in self.cache:
                self.cache["m"] = torch.ones(8)
            return h * self.cache["m"]

        module, (x, y) = Two(cached), given(2)
        self.compared(module, [(x, y)])
        self.assertEqual(module(x).shape, y.shape)

    def test_assigned_data_is_refused_and_changes_nothing(self):
        def assigns(self, h):
            self.a.weight.data = self.a.weight.data.clamp(-0.01, 0.01)
            return h

        module, (x, y) = Two(assigns), given(2)
        before = module.a.weight.clone()
        with self.assertRaisesRegex(poet.torch.CaptureError, "assigns .data"):
            self.compared(module, [(x, y)])
        self.assertTrue(torch.equal(before, module.a.weight))

    def test_what_is_refused_changes_nothing(self):
        def changes(self, h):
            self.plain.add_(1)
            return h + self.plain

        module, (x, y) = Two(changes), given(2)
        module.plain = torch.zeros(8)
        with self.assertRaises(poet.torch.CaptureError):
            self.compared(module, [(x, y)])
        self.assertEqual(float(module.plain.sum()), 0)

    def test_a_gradient_that_is_spread_is_refused(self):
        x, y = given(2)
        with self.assertRaisesRegex(poet.torch.CaptureError, "aten::max: has a gradient"):
            self.compared(Two(lambda self, h: h - self.a.weight.max()), [(x, y)])
        self.compared(Two(lambda self, h: h - h.detach().max()), [(x, y)])

    def test_gradients_are_handed_over_as_backward_does(self):
        class Sum(nn.Module):
            def __init__(self):
                super().__init__()
                self.p, self.q, self.w = (nn.Parameter(torch.randn(8)) for _ in range(3))
                self.m = nn.Parameter(torch.randn(8, 4))

            def forward(self, x):
                return (x * (self.p + self.q)) @ self.m @ self.m.transpose(0, 1) + self.w.sum()

        x, y = given(2)
        for optimizer in (
            lambda parameters: torch.optim.RMSprop(parameters, weight_decay=0.1, foreach=True),
            lambda parameters: torch.optim.NAdam(parameters, weight_decay=0.1),
            lambda parameters: torch.optim.Adadelta(parameters, weight_decay=0.1, foreach=True),
        ):
            self.compared(Sum(), [(x, y)] * 3, optimizer=optimizer)

    def test_layouts_that_fake_tensors_get_wrong(self):
        class Up(nn.Module):
            def __init__(self):
                super().__init__()
                self.up, self.head = nn.ConvTranspose2d(8, 8, 3), nn.Linear(8, 5)

            def forward(self, x):
                return self.head(self.up(x).permute(0, 2, 3, 1)).mean((1, 2))

        module = Up().to(memory_format=torch.channels_last)
        x = torch.randn(4, 8, 9, 9).to(memory_format=torch.channels_last)
        self.compared(module, [(x, torch.randn(4, 5))] * 2)

    def test_tensors_that_share_their_storage_are_not_changed(self):
        def changes(self, h):
            self.p.add_(1)
            return h + self.q.sum()

        module, (x, y) = Two(changes), given(2)
        shared = torch.zeros(8)
        module.register_buffer("p", shared)
        module.register_buffer("q", shared[:4])
        with self.assertRaisesRegex(poet.InputError, "module: a step cannot change tensors that share their storage"):
            self.compared(module, [(x, y)])

    def test_verify_knows_any_state_of_an_optimizer(self):
        class Own(torch.optim.SGD):
            def step(self, closure=None):
                self.state["steps"] = (self.state["steps"] if "steps" in self.state else 0) + 1
                for group in self.param_groups:
                    for parameter in group["params"]:
                        if parameter.grad is not None:
                            self.state[parameter]["history"] = (parameter.grad.clone(), parameter.detach().clone())
                return super().step(closure)

        x, y = given(2)
        self.compared(Two(), [(x, y)] * 2, optimizer=lambda parameters: Own(parameters, 0.1))


if __name__ == "__main__":
    main()
