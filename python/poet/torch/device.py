"""Where a step computes: the CPU, or a GPU, whose pages go to the host's memory.

The GPU's part has never run on one: the road from capture to pages is tested with tensors of the CPU whose pages go that way.
"""

from __future__ import annotations

import contextlib
import os
import platform
import threading
import time
from typing import Any, Callable, Sequence, Union

import torch

from .. import _core
from ..errors import InputError

_IS_1 = torch.__version__.startswith("1.")


class Device:
    """The CPU."""

    type = "cpu"
    where = "cpu"  # of tensors
    kernels = "CPU"  # PyTorch's dispatch key
    block = 1  # the allocator takes multiples of so many bytes
    pages_to_host = False
    in_other_order = ""  # why sums may be in another order from one time to the next, on one thread

    def name(self) -> str:
        """What costs are of."""
        try:
            with open("/proc/cpuinfo", encoding="utf-8") as lines:
                return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
        except (OSError, StopIteration):
            return platform.processor()

    def available_memory(self) -> int:
        """Bytes that a step may take."""
        return _core.available_memory()

    def random_state(self) -> Sequence[torch.Tensor]:
        """The state of the generators that operators draw from."""
        return [torch.get_rng_state()]

    def set_random_state(self, state: Sequence[torch.Tensor]) -> None:
        torch.set_rng_state(state[0])

    def autocast(self) -> tuple[bool, torch.dtype]:
        """Whether operands are cast, and to which type. PyTorch 1 has other names for it."""
        if _IS_1:
            return torch.is_autocast_cpu_enabled(), torch.get_autocast_cpu_dtype()
        return torch.is_autocast_enabled(self.type), torch.get_autocast_dtype(self.type)

    def no_autocast(self) -> Any:
        """A context in which no operands are cast."""
        return torch.autocast(self.type, enabled=False) if self.autocast()[0] else contextlib.nullcontext()

    def seconds(self, action: Callable[[], Any]) -> float:
        """Runs an action and returns how long it takes."""
        begin = time.perf_counter()
        result = action()
        seconds = time.perf_counter() - begin
        del result  # freeing it is not the action
        return seconds

    def allocations(self, action: Callable[[], Any]) -> tuple[Any, int]:
        """Returns an action's result and its peak bytes in PyTorch's allocator, with those inside of operators."""
        return allocations(action)

    def held_by_libraries(self) -> int:
        """Bytes that libraries take for good when their operators first run, in the memory that the plan is of."""
        return 0

    def pinned(self, size: int) -> torch.Tensor:
        """Bytes of the host's memory for pages."""
        raise NotImplementedError

    def stream(self) -> Any:
        """What copies run on while the step computes. start(copy): it runs after what was computed before; wait() of what that returns: what is
        computed later runs after it. finish(): waits for all."""
        raise NotImplementedError


class Gpu(Device):
    """A GPU of PyTorch's with CUDA's interface (ROCm's has that, too)."""

    type = "cuda"
    kernels = "CUDA"
    block = 512
    pages_to_host = True
    in_other_order = ", or a GPU adds up in an order of its own (torch.use_deterministic_algorithms(True))"

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self.where = str(device)

    def name(self) -> str:
        return str(torch.cuda.get_device_name(self._device))

    def available_memory(self) -> int:
        cached = torch.cuda.memory_reserved(self._device) - torch.cuda.memory_allocated(self._device)
        return int(torch.cuda.mem_get_info(self._device)[0] + cached)

    def random_state(self) -> Sequence[torch.Tensor]:
        return [torch.get_rng_state(), torch.cuda.get_rng_state(self._device)]

    def set_random_state(self, state: Sequence[torch.Tensor]) -> None:
        torch.set_rng_state(state[0])
        torch.cuda.set_rng_state(state[1], self._device)

    def autocast(self) -> tuple[bool, torch.dtype]:
        return (torch.is_autocast_enabled(), torch.get_autocast_gpu_dtype()) if _IS_1 else super().autocast()

    def seconds(self, action: Callable[[], Any]) -> float:
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record(torch.cuda.current_stream(self._device))
        action()
        end.record(torch.cuda.current_stream(self._device))
        end.synchronize()
        return float(begin.elapsed_time(end)) / 1e3

    def allocations(self, action: Callable[[], Any]) -> tuple[Any, int]:
        result = action()  # libraries take their workspaces
        del result
        torch.cuda.synchronize(self._device)
        torch.cuda.reset_peak_memory_stats(self._device)
        before = torch.cuda.memory_allocated(self._device)
        result = action()
        torch.cuda.synchronize(self._device)
        return result, int(torch.cuda.max_memory_allocated(self._device) - before)

    def held_by_libraries(self) -> int:
        square = torch.ones(64, 64, device=self._device)
        getattr(torch._C, "_cuda_clearCublasWorkspaces", lambda: None)()
        before = torch.cuda.memory_allocated(self._device)
        product = square @ square
        return int(torch.cuda.memory_allocated(self._device) - before - product.numel() * product.element_size())

    def pinned(self, size: int) -> torch.Tensor:
        return torch.empty(size, dtype=torch.uint8, pin_memory=True)

    def stream(self) -> Any:
        return _Stream(self._device)


class _Stream:
    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._side: Any = torch.cuda.Stream(device)

    def start(self, copy: Callable[[], Any]) -> Any:
        self._side.wait_stream(torch.cuda.current_stream(self._device))
        with torch.cuda.stream(self._side):
            copy()
        return self._side.record_event()

    def finish(self) -> None:
        self._side.synchronize()


CPU = Device()


def device_of(module: torch.nn.Module, wanted: Union[str, torch.device, None]) -> Device:
    """Returns the device where a module's tensors are, which must be the one that is `wanted`, if any is. Raises InputError."""
    found = next((each.device for each in (*module.parameters(), *module.buffers())), torch.device("cpu"))
    if wanted is not None:
        try:
            asked = torch.device(wanted)
        except RuntimeError as error:
            raise InputError("device", f"{str(wanted)!r} is not one of PyTorch's: {str(error).splitlines()[0]}") from None
        if asked.type not in ("cpu", "cuda"):
            raise InputError("device", f"{str(wanted)!r}: steps run on \"cpu\" and \"cuda\"")
        if asked.type == "cuda" and not torch.cuda.is_available():
            raise InputError("device", f"{str(wanted)!r}: {'there is no GPU' if torch.backends.cuda.is_built() else 'this PyTorch is built without CUDA'}")
        if asked.type != found.type or asked.index not in (None, found.index):
            raise InputError("module", f"is on {found}, not on {asked}: move it there with .to(), and then make its optimizer")
    if found.type not in ("cpu", "cuda"):
        raise InputError("module", f"is on {found}: steps run on \"cpu\" and \"cuda\"")
    return Gpu(found) if found.type == "cuda" else CPU


os.environ.setdefault("KINETO_LOG_LEVEL", "6")  # PyTorch 2.13 tells stderr of every start of its profiler
_PROFILING = threading.Lock()  # the process has one profiler; PyTorch 2 crashes where two threads start it


def allocations(action: Callable[[], Any]) -> tuple[Any, int]:
    """Returns an action's result and its peak bytes in the CPU's allocator, as recorded by PyTorch's profiler, allocations inside
    operators included."""
    from torch.autograd import profiler

    with _PROFILING, profiler.profile(profile_memory=True, use_kineto=True) as profile:
        result = action()
    changes: list[tuple[int, int]] = []
    stack = list(profile.kineto_results.experimental_event_tree())
    while stack:
        event = stack.pop()
        size = getattr(event.extra_fields, "alloc_size", None)
        if size is not None:
            changes.append((event.start_time_ns, size))
        stack.extend(event.children)
    changes.sort(key=lambda change: change[0])
    peak = now = 0
    for _, size in changes:
        now += size
        peak = max(peak, now)
    return result, peak
