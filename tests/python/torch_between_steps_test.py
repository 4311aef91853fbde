"""poet.torch: what users change between two steps: losses and parameters are PyTorch's."""

import array
import collections
import contextvars
import copy
import functools
import logging
import operator
import sys
import types
import unittest
import warnings
import weakref
from unittest import mock

from support import main
from torch_support import TorchCase, enough, torch

if torch is not None:
    import numpy
    from torch import nn
    from torch.nn import functional as F
    from torch.nn.utils import prune

    import poet.torch

    class Summed(nn.Module):
        """A layer, one that no table of the module has, and a tensor that is no buffer."""

        def __init__(self):
            super().__init__()
            self.layer, self.scale, self.hidden = nn.Linear(6, 3), torch.ones(3), [nn.Linear(6, 3)]

        def forward(self, x):
            return self.layer(x) * self.scale + self.hidden[0](x)

    class Lookahead(torch.optim.SGD):
        """Has slow weights of its own, counts in a dictionary, and sets its rate."""

        def __init__(self, parameters):
            super().__init__(parameters, lr=0.1)
            self.count = {"steps": 0}
            self.slow = [parameter.detach().clone() for parameter in self.param_groups[0]["params"]]

        def step(self, closure=None):
            self.count["steps"] += 1
            self.param_groups[0]["lr"] = 0.1 / self.count["steps"]
            super().step(closure)
            if self.count["steps"] % 2 == 0:
                with torch.no_grad():
                    for slow, parameter in zip(self.slow, self.param_groups[0]["params"]):
                        slow.add_(parameter - slow, alpha=0.5)
                        parameter.copy_(slow)


def of_classes(module, batch):
    return F.cross_entropy(module(batch[0]), batch[1])


def linear():
    return nn.Linear(6, 3)


def sgd(module):
    return torch.optim.SGD(module.parameters(), 0.1)


def batches(count=4):
    return [(torch.randn(4, 6), torch.randint(0, 3, (4,))) for _ in range(count)]


class BetweenSteps(TorchCase):
    def trained(self, change, make, forward, optimizer, data, **options):
        """Losses and parameters after each step, by poet if there are options; `change(i, module, optimizer)` runs before step i."""
        torch.manual_seed(0)
        module = make()
        by, step, log = optimizer(module), None, []
        for i, batch in enumerate(data()):
            change(i, module, by)
            if options:
                step = step or poet.torch.compile_step(module, None, by, batch, forward=forward, ram_budget="100%", progress=enough, **options)
                loss = step(batch)
            else:
                by.zero_grad(set_to_none=True)
                loss = forward(module, batch)
                loss.backward()
                by.step()
            log.append((loss.item(), [parameter.detach().clone() for parameter in module.parameters()]))
        return step, log

    def expect_pytorchs(self, change, make=linear, forward=of_classes, optimizer=sgd, data=batches, compiled=None, storage=None, **options):
        """`compiled`: how many steps are compiled, if it is to be known."""
        _, expected = self.trained(change, make, forward, optimizer, data)
        step, log = self.trained(change, make, forward, optimizer, data, storage=storage, **options)
        for i, (ours, theirs) in enumerate(zip(log, expected)):
            self.assertEqual(ours[0], theirs[0], f"loss of step {i}")
            self.assertTrue(all(map(torch.equal, ours[1], theirs[1])), f"parameters after step {i}")
        if compiled is not None:
            self.assertEqual(len(step._compiled), compiled)

    def test_tensors_of_others_that_lie_elsewhere_or_are_others(self):
        """A teacher, which is no part of the module: its tensors are read where they are now, and nothing is compiled again."""
        teacher = linear().requires_grad_(False)
        first = copy.deepcopy(teacher.state_dict())

        def average(i, module, _):  # of momentum contrast
            for mine, its in zip(teacher.parameters(), module.parameters()):
                mine.data = mine.data * 0.9 + its.data * 0.1

        def assigned(i, module, _):
            teacher.weight = nn.Parameter(module.weight.detach() * 2, False)

        def there_and_back(i, *_):
            teacher.double().float()
            teacher.weight.mul_(0.5)

        for change in (average, assigned, there_and_back):
            with self.subTest(change=change.__name__):

                def changes(i, module, optimizer):
                    if i == 0:
                        teacher.weight, teacher.bias = (nn.Parameter(first[name].clone(), False) for name in ("weight", "bias"))
                    else:
                        change(i, module, optimizer)

                self.expect_pytorchs(changes, forward=lambda module, batch: F.mse_loss(module(batch[0]), teacher(batch[0])), compiled=1)

    def test_steps_of_other_shapes_hold_no_memory_of_others(self):
        """A teacher whose tensors are others in each step would be there once for every shape."""
        teacher = linear().requires_grad_(False)
        module, data = linear(), [(batch[0][:count], batch[1][:count]) for count, batch in zip((2, 3, 2, 3, 4, 3), batches(6))]

        def forward(module, batch):
            return F.mse_loss(module(batch[0]), teacher(batch[0]))

        plain = copy.deepcopy(module)
        step, _ = self.compiled(module, data[0], lambda parameters: torch.optim.SGD(parameters, 0.1), loss_fn=None, forward=forward)
        optimizer = sgd(plain)
        for batch in data:
            for parameter in teacher.parameters():
                parameter.data = torch.randn_like(parameter)
            optimizer.zero_grad()
            loss = forward(plain, batch)
            loss.backward()
            optimizer.step()
            self.assertEqual(step(batch).item(), loss.item())
            older = [constant.numel() for entry in step._compiled._entries[:-1] for constant in entry.compiled.program.constants]
            self.assertEqual(sum(older), 0)
        self.assertEqual(len(step._compiled), 3)

    def test_a_teacher_that_gets_the_modules_memory(self):
        """It follows the module from then on. Buffers that a step changes it cannot share."""
        teacher = linear().requires_grad_(False)
        first = teacher.weight.data

        def tied(i, module, _):
            teacher.weight.data = first if i < 2 else module.weight.data

        self.expect_pytorchs(tied, forward=lambda module, batch: F.mse_loss(module(batch[0]), teacher(batch[0])), compiled=2)

    def test_two_tensors_of_others_that_are_one_at_first(self):
        one, other = torch.ones(3), torch.ones(3)
        other.data = one.data

        def parted(i, *_):
            other.data = one.data if i < 2 else torch.full((3,), 2.0)

        self.expect_pytorchs(parted, forward=lambda module, batch: (F.cross_entropy(module(batch[0]) * one * other, batch[1])))

    def test_a_tensor_of_others_that_gets_a_buffers_memory(self):
        held = torch.ones(3)

        def make():
            return nn.Sequential(linear(), nn.BatchNorm1d(3))

        def tied(i, module, _):
            held.data = torch.ones(3) if i < 2 else module[1].running_mean

        with self.assertRaisesRegex(poet.InputError, "^module: a step cannot change tensors that share their storage"):
            self.expect_pytorchs(tied, make=make, forward=lambda module, batch: F.cross_entropy(module(batch[0]) * held, batch[1]))

    def test_a_tensor_of_others_that_decides_what_runs(self):
        teacher = nn.Module()
        teacher.register_buffer("by", torch.tensor(1))

        def change(i, *_):
            if i % 2 == 0:
                teacher.by = torch.tensor(1 + i // 2)
            else:
                teacher.by.data = torch.tensor(7)

        self.expect_pytorchs(change, forward=lambda module, batch: of_classes(module, batch) * teacher.by.item())

    def test_what_forward_passes_leave_is_put_back(self):
        """Unless it is of the module alone: what goes by the batch may be as large as the batch."""

        class Leaves(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer, self.last = linear(), torch.zeros(4, 3)

            def forward(self, x):
                self.last = self.layer(x)
                return self.last

        module = Leaves()
        last = module.last
        (batch,) = batches(1)
        step, _ = self.compiled(module, batch, loss_fn=F.cross_entropy)
        step(batch)
        self.assertIs(module.last, last)

    def test_weights_of_the_loss_and_tensors_that_are_no_buffers(self):
        loss = nn.CrossEntropyLoss(weight=torch.ones(3))

        def weight(i, *_):
            loss.weight = torch.arange(3) + 1.0 + i

        def data(i, module, _):
            module.scale.data = torch.ones(3) * (i + 1)

        def hidden(i, module, _):
            for parameter in module.hidden[0].parameters():
                parameter.data = parameter.data * 0.5

        self.expect_pytorchs(weight, forward=lambda module, batch: loss(module(batch[0]), batch[1]), compiled=1)
        self.expect_pytorchs(data, make=Summed, compiled=1)
        self.expect_pytorchs(hidden, make=Summed, compiled=1)

    def test_numbers_in_what_is_neither_a_list_nor_an_object_of_ones_own(self):
        names = {"by": 1.0}
        module, package = types.ModuleType("scales"), types.ModuleType("package")
        package.scales = types.ModuleType("package.scales")
        of_context, of_array, long, numbers = contextvars.ContextVar("by", default=1.0), array.array("d", [1.0]), [1.0] * 3000, numpy.ones(3000)
        own = collections.UserDict(by=1.0)

        class Scale:
            by = 1.0

        class Holder:
            scale = Scale()
            scales = [Scale() for _ in range(200)]

        scale, read = Scale(), operator.attrgetter("by")
        weak = weakref.ref(scale)
        records, objects, content = numpy.ones(2, dtype=[("by", "f8"), ("to", "i4")]), numpy.array([1.0, None], dtype=object), bytearray(b"\1")

        def imported(h):
            import scales

            return h * scales.by

        def imported_name(h):
            from package.scales import by

            return h * by

        def imported_part(h):
            import package.scales

            return h * package.scales.by

        view = types.MappingProxyType(names)
        ways = {"an import": imported, "a name of an import": imported_name, "a part of one": imported_part, "a view of a dictionary": lambda h: h * view["by"]}
        ways.update({"a context's variable": lambda h: h * of_context.get(), "an array": lambda h: h * of_array[0], "a long list": lambda h: h * long[0]})
        ways.update({"a long array of numpy's": lambda h: h * float(numbers[0]), "a class of Python's": lambda h: h * own["by"]})
        ways.update({"an object of a class": lambda h: h * Holder.scale.by, "the last of many": lambda h: h * Holder.scales[-1].by})
        ways.update({"a name among several": lambda h: h * sum(getattr(scale, name) for name in ("by",))})
        ways.update({"records": lambda h: h * float(records["by"][0]), "objects": lambda h: h * objects[0], "bytes": lambda h: h * content[0]})
        ways.update({"a getter": lambda h: h * read(scale), "a weak reference": lambda h: h * weak().by})

        def change(i, *_):
            by = 1.0 + i // 2
            own["by"] = module.by = package.scales.by = Holder.scale.by = Holder.scales[-1].by = scale.by = names["by"] = of_array[0] = long[0] = numbers[0] = by
            records["by"][0] = objects[0] = by
            content[0] = int(by)
            of_context.set(by)

        with mock.patch.dict(sys.modules, {"scales": module, "package": package, "package.scales": package.scales}):
            for way, function in ways.items():
                with self.subTest(way=way):
                    forward = functools.partial(lambda function, module, batch: F.cross_entropy(function(module(batch[0])), batch[1]), function)
                    self.expect_pytorchs(change, forward=forward, compiled=2)

    def test_code_that_is_replaced_in_a_function(self):
        """As notebooks do with what has been edited (autoreload)."""

        def scale(h):
            return h

        def edited(h):
            return h * 2

        first, second = scale.__code__, edited.__code__
        change = lambda i, *_: setattr(scale, "__code__", first if i < 2 else second)  # noqa: E731
        self.expect_pytorchs(change, forward=lambda module, batch: F.cross_entropy(scale(module(batch[0])), batch[1]), compiled=2)

    def test_what_is_there_only_later(self):
        """Settings that code asks for by getattr() with a default, hasattr() and `in`, and what comes between an object and its class."""
        settings = types.SimpleNamespace()

        class Base:
            by = 1.0

            def scale(self):
                return self.by

        class Derived(Base):
            pass

        derived = Derived()

        def tried():
            try:
                return settings.by
            except AttributeError:
                return 1.0

        def three():
            return 3.0

        def set_setting(there):
            vars(settings).update(by=3.0) if there else vars(settings).clear()

        def set_class(there):
            if there:
                Derived.by = 3.0
            elif "by" in vars(Derived):
                del Derived.by

        def set_object(there):
            vars(derived).update(scale=three) if there else vars(derived).clear()

        ways = {"getattr": (set_setting, lambda: getattr(settings, "by", 1.0)), "hasattr": (set_setting, lambda: 3.0 if hasattr(settings, "by") else 1.0)}
        ways.update({"try": (set_setting, tried), "a class": (set_class, lambda: derived.scale()), "an object": (set_object, lambda: derived.scale())})
        for way, (change, read) in ways.items():
            with self.subTest(way=way):
                forward = functools.partial(lambda read, module, batch: of_classes(module, batch) * read(), read)
                self.expect_pytorchs(lambda i, *_: change(i > 1), forward=forward, compiled=2)

    def test_methods_that_are_replaced_in_classes(self):
        class Helped(nn.Linear):
            def helper(self, h):
                return h

            def forward(self, x):
                return self.helper(super().forward(x))

        class Derived(Helped):
            pass

        def replace(kind):
            def change(i, *_):
                if i < 2:
                    Helped.helper = lambda self, h: h
                    if "helper" in vars(Derived):
                        del Derived.helper
                else:
                    kind.helper = lambda self, h: h * 2

            return change

        for kind in (Helped, Derived):
            with self.subTest(kind=kind.__name__):
                self.expect_pytorchs(replace(kind), make=lambda: Derived(6, 3))

    def test_what_a_modules_containers_hold(self):
        def contents(name, made, read, write):
            def make():
                module = linear()
                setattr(module, name, made())
                return module

            def forward(module, batch):
                return of_classes(module, batch) * float(read(getattr(module, name)))

            with self.subTest(name=name):
                self.expect_pytorchs(lambda i, module, _: write(getattr(module, name), 1.0 + i // 2), make=make, forward=forward, compiled=2)

        def set_first(container, by):
            container[0] = by

        contents("array", lambda: array.array("d", [1.0]), lambda rates: rates[0], set_first)
        contents("variable", lambda: contextvars.ContextVar("by", default=1.0), lambda variable: variable.get(), lambda variable, by: variable.set(by))
        contents("table", lambda: collections.defaultdict(float, {i: 1.0 for i in range(2000)}), lambda table: table[0], set_first)
        contents("queue", lambda: collections.deque([1.0] * 2000), lambda queue: queue[0], set_first)

    def test_what_pytorchs_objects_hold(self):
        """Rates of optimizers and schedulers, and what a distribution is of."""
        known = {}

        def optimizer(module):
            known["optimizer"] = sgd(module)
            known["scheduler"] = torch.optim.lr_scheduler.StepLR(known["optimizer"], 1, 0.5)
            return known["optimizer"]

        def by_scheduler(module, batch):
            return of_classes(module, batch) * (1 + known["scheduler"].get_last_lr()[0])

        def by_group(module, batch):
            return of_classes(module, batch) * (1 + known["optimizer"].param_groups[0]["lr"])

        for forward in (by_scheduler, by_group):
            self.expect_pytorchs(lambda i, *_: i == 0 or known["scheduler"].step(), forward=forward, optimizer=optimizer)
        prior = torch.distributions.Normal(torch.zeros(3), torch.ones(3))

        def likely(module, batch):
            h = module(batch[0])
            return F.cross_entropy(h, batch[1]) - prior.log_prob(h).mean()

        self.expect_pytorchs(lambda i, *_: setattr(prior, "loc", torch.ones(3) * i), forward=likely)

    def test_weights_that_are_made_in_every_forward_pass(self):
        """They remain where the layer has them, for whoever prunes again by them, and are in the plan."""

        def pruned():
            module = linear()
            prune.l1_unstructured(module, "weight", 0.3)
            return module

        def again(i, module, _):
            if i == 2:
                prune.l1_unstructured(module, "weight", 0.3)

        self.expect_pytorchs(again, make=pruned, optimizer=lambda module: torch.optim.SGD(module.parameters(), 2.0))

        def normed():
            torch.manual_seed(1)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FutureWarning)
                return nn.Sequential(nn.utils.weight_norm(nn.Linear(60, 80)), nn.ReLU(), nn.utils.spectral_norm(nn.Linear(80, 3)))

        plain, module = normed(), normed()
        batch = torch.randn(4, 60), torch.randint(0, 3, (4,))
        step, _ = self.compiled(module, batch, torch.optim.Adam, F.cross_entropy, storage=None)
        step(batch)
        parts = [tensor for part in module.modules() for tensor in vars(part).values() if isinstance(tensor, torch.Tensor)]
        with poet.torch.Ledger([*module.parameters(), *module.buffers(), *batch, *parts, *(each for state in step.optimizer.state.values() for each in state.values())]) as ledger:
            step(batch)
        self.assertLessEqual(ledger.peak_bytes, step.peak_bytes)
        optimizer = torch.optim.Adam(plain.parameters())
        for _ in range(2):
            optimizer.zero_grad()
            F.cross_entropy(plain(batch[0]), batch[1]).backward()
            optimizer.step()
        for i in (0, 2):
            self.assertTrue(torch.equal(module[i].weight, plain[i].weight))

    def test_what_a_first_forward_pass_sets_up(self):
        """Hooks, as transformers sets them up for outputs of layers, and flags: they are as before after compilation."""
        y, x = torch.randint(0, 3, (4,)), torch.randn(4, 6)

        class Lazy(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer, self.seen = linear(), collections.Counter()

            def forward(self, x):
                if not self.seen["forward"]:
                    self.seen["forward"] += 1
                    self.layer.register_forward_hook(lambda _, inputs, output: output * 2)
                return self.layer(x)

        module = Lazy()
        plain = copy.deepcopy(module)
        step, _ = self.compiled(module, (x, y), loss_fn=F.cross_entropy)
        self.assertEqual((len(module.layer._forward_hooks), dict(module.seen)), (0, {}))
        self.assertEqual(step((x, y)).item(), F.cross_entropy(plain(x), y).item())

    def test_how_batches_are_read(self):
        """By where they lie in their storage, by attributes that code has given to tensors, by texts made of them."""
        rows = torch.randn(40, 6)
        y = torch.randint(0, 3, (4,))

        def by_offset(module, batch):
            return F.cross_entropy(module(torch.as_strided(batch[0], (4, 6), (6, 1), batch[0].storage_offset())), batch[1])

        def slices():
            return [(rows[4 * i : 4 * i + 4], y) for i in range(4)]

        self.expect_pytorchs(lambda *_: None, forward=by_offset, data=slices)
        self.expect_pytorchs(lambda *_: None, data=slices, compiled=1)

        def tagged():
            given = slices()
            for i, (x, _) in enumerate(given):
                x.tag = i // 2
            return given

        def by_tag(module, batch):
            return of_classes(module, batch) * (1 + batch[0].tag + module.weight.tag)

        def tag(i, module, _):
            module.weight.tag = (i + 1) // 2

        self.expect_pytorchs(tag, forward=by_tag, data=tagged, compiled=4)
        factors = {"0": 1.0, "1": 2.0}

        def by_text(module, batch):
            self.assertTrue(str(batch[0]))  # printed, say
            return of_classes(module, batch) * factors[f"{batch[2] % 2}"]

        self.expect_pytorchs(lambda *_: None, forward=by_text, data=lambda: [(*batch, torch.tensor(i)) for i, batch in enumerate(slices())], compiled=2)

    def test_batches_that_are_conjugated_where_they_are_read(self):
        z = torch.randn(4, 6, dtype=torch.cfloat)
        y = torch.randint(0, 3, (4,))

        def of_parts(module, batch):
            return F.cross_entropy(module(batch[0].real) + module(batch[0].imag), batch[1])

        with self.assertRaisesRegex(poet.InputError, "^batch: has a tensor that is conjugated where it is read; resolve_conj"):
            self.expect_pytorchs(lambda *_: None, forward=of_parts, data=lambda: [(z, y), (z.conj(), y)])
        self.expect_pytorchs(lambda *_: None, forward=of_parts, data=lambda: [(z, y), (z.conj().resolve_conj(), y)], compiled=1)
        self.expect_pytorchs(lambda *_: None, data=lambda: [(z.imag, y), (z.conj().imag, y)])

    def test_what_steps_do_not_go_by(self):
        """Meters, logs and schedules of a training loop: nothing is compiled again."""

        class Loop:
            def __init__(self):
                self.config = types.SimpleNamespace(smoothing=0.1, epoch=0)
                self.meter, self.losses, self.log = collections.Counter(), [], logging.getLogger("poet's tests")

            def forward(self, module, batch):
                self.log.debug("a batch of %s", batch[0].shape)
                return F.cross_entropy(module(batch[0]), batch[1], label_smoothing=self.config.smoothing)

        loop = Loop()

        def change(i, _, optimizer):
            loop.config.epoch = i
            loop.meter["steps"] += 1
            loop.losses.append(i)
            loop.log.isEnabledFor(len(loop.losses))  # it keeps the answer
            optimizer.scheduler.step()

        def scheduled(module):
            optimizer = sgd(module)
            optimizer.scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)
            return optimizer

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.expect_pytorchs(change, forward=loop.forward, optimizer=scheduled, compiled=1)

        class Counted(nn.Linear):
            """Of a layer of PyTorch's, which reads `in_features` (where it is asked) and `weight`."""

            def forward(self, x):
                return super().forward(x) * self.by

        def note(i, module, _):
            module.by = 1.0 + i // 2
            module.seen = module.weight.seen = i
            module.loss = torch.tensor(float(i))

        self.expect_pytorchs(note, make=lambda: Counted(6, 3), compiled=2)

        class Dropping(nn.Dropout):
            pass

        def drop(i, module, _):
            module[1].p = 0.25 + 0.5 * (i // 2)
            module[1].seen = i

        self.expect_pytorchs(drop, make=lambda: nn.Sequential(nn.Linear(6, 3), Dropping(0.25)), compiled=2)

    def test_optimizers_with_what_is_no_state(self):
        """Trying them on copies changes nothing of theirs."""
        self.expect_pytorchs(lambda *_: None, make=lambda: nn.Linear(6, 3, bias=False), optimizer=lambda module: Lookahead(module.parameters()))
        module = linear()
        with self.assertRaisesRegex(poet.InputError, "^optimizer: cannot be tried on copies of one parameter at a time \\(The size of tensor a"):
            self.compiled(module, batches(1)[0], lambda parameters: Lookahead(parameters), F.cross_entropy)

    @unittest.skipUnless(torch is not None and hasattr(torch.optim.Optimizer, "register_step_post_hook"), "PyTorch 1 has no hooks of steps")
    def test_hooks_of_the_optimizers_step(self):
        """An average of the weights, say: called once in a step, and not while it is compiled."""
        from torch.optim.optimizer import register_optimizer_step_post_hook

        calls = []

        def adam(parameters):
            optimizer = torch.optim.Adam(parameters)
            optimizer.register_step_post_hook(lambda *_: calls.append("its own"))
            return optimizer

        of_all = register_optimizer_step_post_hook(lambda *_: calls.append("of all"))
        (batch,) = batches(1)
        try:
            step, _ = self.compiled(linear(), batch, adam, F.cross_entropy)
            self.assertEqual(calls, [])
            step(batch)
            self.assertEqual(sorted(calls), ["its own", "of all"])
            with self.assertRaisesRegex(poet.InputError, '^updates: "early" takes the optimizer\'s step once for each parameter: hooks'):
                self.compiled(linear(), batch, torch.optim.Adam, F.cross_entropy, updates="early")
        finally:
            of_all.remove()
        step, optimizer = self.compiled(linear(), batch, torch.optim.Adam, F.cross_entropy, updates="early")
        optimizer.register_step_pre_hook(lambda *_: None)
        with self.assertRaisesRegex(poet.InputError, '^updates: "early"'):
            step(batch)

    def test_a_function_in_place_of_the_optimizers_step(self):
        def counts(module):
            optimizer = sgd(module)
            step, optimizer.steps = optimizer.step, 0

            def counted(*args, **options):
                optimizer.steps += 1
                optimizer.param_groups[0]["lr"] = 0.1 / optimizer.steps
                return step(*args, **options)

            optimizer.step = counted
            return optimizer

        self.expect_pytorchs(lambda *_: None, optimizer=counts)
        with self.assertRaisesRegex(poet.InputError, '^updates: "early"'):
            self.expect_pytorchs(lambda *_: None, optimizer=counts, updates="early")

        def scheduled(module):
            optimizer = sgd(module)
            optimizer.scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)
            return optimizer

        self.expect_pytorchs(lambda i, _, optimizer: i == 0 or optimizer.scheduler.step(), optimizer=scheduled, updates="early")

    def test_state_of_parameters_that_were_frozen_is_in_the_plan(self):
        module = nn.Sequential(nn.Linear(200, 300), nn.ReLU(), nn.Linear(300, 100))
        batch = torch.randn(64, 200), torch.randint(0, 100, (64,))
        step, optimizer = self.compiled(module, batch, torch.optim.Adam, F.cross_entropy, storage=None)
        step(batch)
        module[0].weight.requires_grad_(False)
        step.compile(batch)
        state = [each for of_one in optimizer.state.values() for each in of_one.values() if isinstance(each, torch.Tensor)]
        with poet.torch.Ledger([*module.parameters(), *batch, *state]) as ledger:
            step(batch)
        self.assertLessEqual(ledger.peak_bytes, step.peak_bytes)


if __name__ == "__main__":
    main()
