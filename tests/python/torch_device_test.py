"""poet.torch on a device whose pages go to the host's memory: a stand-in for a GPU, which computes on the CPU and copies at the worst time."""

import errno
import unittest
from unittest import mock

from support import main
from torch_support import Branches, TorchCase, Words, cross_entropy, enough, images, torch

if torch is not None:
    import poet.torch
    from poet.torch.device import Device, Gpu, allocations, device_of

    class Stream:
        """Copies when they are waited for, and not before: what reads a page that has not come finds NaN."""

        def __init__(self):
            self.pending = []
            self.copies = 0

        def start(self, copy):
            self.pending.append(copy)
            self.copies += 1
            return Event(self, copy)

        def finish(self):
            for copy in self.pending:
                copy()
            self.pending.clear()

    class Event:
        def __init__(self, stream, copy):
            self.stream, self.copy = stream, copy

        def wait(self):
            if self.copy in self.stream.pending:  # in their order
                until = self.stream.pending.index(self.copy) + 1
                for copy in self.stream.pending[:until]:
                    copy()
                del self.stream.pending[:until]

    class AtOnce(Stream):
        def start(self, copy):
            event = super().start(copy)
            self.finish()
            return event

    class StandIn(Device):
        """A GPU's pages and blocks, the CPU's tensors."""

        block = 512
        pages_to_host = True

        def __init__(self, stream, most=1 << 30):
            self.streams, self.make, self.most = [], stream, most

        def pinned(self, size):
            if size > self.most:
                raise RuntimeError("CUDA error: out of memory\nmore")
            return torch.full((size,), 255, dtype=torch.uint8)  # NaN, as floats

        def stream(self):
            self.streams.append(self.make())
            return self.streams[-1]


@unittest.skipIf(torch is None, "PyTorch is absent")
class OnAnotherDevice(TorchCase):
    def step_on(self, device, module, batch, **options):
        options = {"ram_budget": "least", "time_limit": 4, "progress": enough, **options}
        with mock.patch("poet.torch.arguments.device_of", lambda module, wanted: device):
            return poet.torch.compile_step(module, cross_entropy, torch.optim.Adam(module.parameters(), 0.01), batch, **options)

    def test_pages_in_the_hosts_memory(self):
        words = torch.randint(0, 50, (4, 12)), torch.randint(0, 50, (4,))
        for stream in (Stream, AtOnce):
            for module, batch in ((Branches(), images()), (Words(), words)):
                for options in ({}, {"updates": "early"}, {"accumulate": 2}):
                    device = StandIn(stream)
                    step = self.step_on(device, module, batch, **options)
                    self.assertEqual(step.verify(batch), [])
                    for _ in range(3):
                        self.assertTrue(torch.isfinite(step(batch)))
                    self.assertGreater(device.streams[-1].copies, 0)
                    self.assertEqual(device.streams[-1].pending, [])

    def test_held_is_planned_in_blocks(self):
        module, batch = Branches(), images()
        step = self.step_on(StandIn(Stream), module, batch)
        step(batch)
        tensors = [*module.parameters(), *module.buffers(), *batch]
        tensors += [each for state in step.optimizer.state.values() for each in state.values() if isinstance(each, torch.Tensor)]
        _, peak = allocations(lambda: step(batch))
        self.assertLessEqual(sum(each.numel() * each.element_size() for each in tensors) + peak, step.peak_bytes)
        sizes = {each["ram_bytes"] for each in step.result.graph.to_json()["values"]}
        self.assertTrue(all(size % 512 == 0 for size in sizes), sizes)

    def test_a_step_that_fails_waits_for_its_copies(self):
        module, batch = Branches(), images()
        device = StandIn(Stream)
        step = self.step_on(device, module, batch)
        before = [each.detach().clone() for each in (*module.parameters(), *module.buffers())]
        state = torch.get_rng_state()
        start, count = device.streams[-1].start, 0

        def failing(copy):
            nonlocal count
            count += 1
            if count == 2:
                raise OSError(errno.EIO, "no copy")
            return start(copy)

        with mock.patch.object(device.streams[-1], "start", failing), self.assertRaisesRegex(OSError, "no copy"):
            step(batch)
        self.assertEqual(device.streams[-1].pending, [])
        self.assertTrue(all(map(torch.equal, before, (*module.parameters(), *module.buffers()))))
        self.assertTrue(torch.equal(state, torch.get_rng_state()))
        self.assertEqual(step.verify(batch), [])

    def test_what_cannot_be(self):
        module, batch = Branches(), images()
        with self.assertRaisesRegex(poet.InputError, "^storage: must be True or None with a GPU, whose pages go to the host's memory"):
            self.step_on(StandIn(Stream), module, batch, storage="/var/tmp")
        with self.assertRaisesRegex(poet.torch.StorageError, "^storage: no [0-9]+ bytes of the host's memory for pages: CUDA error: out of memory$"):
            self.step_on(StandIn(Stream, most=1000), module, batch)
        step = self.step_on(device := StandIn(Stream), module, batch, ram_budget="100%", storage=None)
        self.assertEqual((step.verify(batch), device.streams), ([], []))

    def test_devices_that_are_not_there(self):
        module, optimizer, batch = torch.nn.Linear(6, 4), None, (torch.randn(3, 6), torch.randint(0, 4, (3,)))
        optimizer = torch.optim.SGD(module.parameters(), 0.1)
        refused = [
            ("mps", "^device: 'mps': steps run on \"cpu\" and \"cuda\"$"),
            ("gpu", "^device: 'gpu' is not one of PyTorch's: "),
        ]
        if not torch.cuda.is_available():
            refused.append(("cuda", "^device: 'cuda': (there is no GPU|this PyTorch is built without CUDA)$"))
        for device, says in refused:
            with self.assertRaisesRegex(poet.InputError, says):
                poet.torch.compile_step(module, cross_entropy, optimizer, batch, ram_budget="100%", device=device)
        with mock.patch("torch.cuda.is_available", lambda: True), self.assertRaisesRegex(poet.InputError, "^module: is on cpu, not on cuda: move it there"):
            poet.torch.compile_step(module, cross_entropy, optimizer, batch, ram_budget="100%", device="cuda")
        meta = torch.nn.Linear(6, 4, device="meta")
        with self.assertRaisesRegex(poet.InputError, "^module: is on meta: steps run on \"cpu\" and \"cuda\"$"):
            poet.torch.compile_step(meta, cross_entropy, torch.optim.SGD(meta.parameters(), 0.1), batch, ram_budget="100%")
        step = poet.torch.compile_step(module, cross_entropy, optimizer, batch, ram_budget="100%", device=torch.device("cpu"))
        with self.assertRaisesRegex(poet.InputError, "^batch: has a tensor on meta: all must be on cpu"):
            step((batch[0].to("meta"), batch[1]))

    @unittest.skipUnless(torch is not None and torch.cuda.is_available(), "there is no GPU")
    def test_a_gpu(self):
        module, batch = Branches().cuda(), tuple(each.cuda() for each in images())
        self.assertIsInstance(device_of(module, "cuda"), Gpu)
        optimizer = torch.optim.Adam(module.parameters(), 0.01)
        step = poet.torch.compile_step(module, cross_entropy, optimizer, batch, ram_budget="least", time_limit=4, progress=enough)
        self.assertEqual(step.verify(batch), [])


if __name__ == "__main__":
    main()
