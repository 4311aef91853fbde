"""The page file of tensors, and the thread that transfers them during computation."""

from __future__ import annotations

import ctypes
import dataclasses
import functools
import os
import queue
import re
import tempfile
import threading
import weakref
from typing import Any, Callable, Optional, Union

import torch

from ..errors import InputError
from .device import Device
from .errors import StorageError
from .host_pages import HostPages
from .tensors import storage_of
from .program import Layout


@dataclasses.dataclass(frozen=True)
class Rates:
    """Transfer times: b bytes take `latency_seconds` + b / `bytes_per_second`, for reads and writes."""

    read_latency_seconds: float
    read_bytes_per_second: float
    write_latency_seconds: float
    write_bytes_per_second: float


class Transfer:
    """A pending transfer. Holds its tensor until it is done, so that its memory is not freed."""

    def __init__(self, move: Callable[[int, Any, int], int], tensor: torch.Tensor, place: int) -> None:
        self.move = move
        self.tensor: Optional[torch.Tensor] = tensor
        self.place = place
        self.error: Optional[BaseException] = None
        self.done = threading.Event()

    def wait(self) -> None:
        """Waits until it is done. Raises StorageError."""
        self.done.wait()
        if self.error is not None:
            raise StorageError(f"storage failed: {self.error}") from self.error


class PageFile:
    """An unnamed file of `size` bytes in `folder`, which ends with the process. Transfers run in the order of the requests, which is
    the plan's."""

    def __init__(self, folder: Union[str, "os.PathLike[str]"], size: int) -> None:
        try:
            self._file, name = tempfile.mkstemp(prefix="poet-pages-", dir=folder)
            try:
                os.unlink(name)
                if size:
                    os.posix_fallocate(self._file, 0, size)  # better now than in the middle of a step
            except OSError:
                os.close(self._file)
                raise
        except OSError as error:
            raise StorageError(f"storage {os.fspath(folder)!r}: no page file of {size} bytes: {error.strerror}") from error
        self.size = size
        self._process = os.getpid()
        self._jobs: queue.SimpleQueue[Optional[Transfer]] = queue.SimpleQueue()
        self._thread = threading.Thread(target=_work, args=(self._file, self._jobs), name="poet storage", daemon=True)
        self._thread.start()
        self.close = weakref.finalize(self, _close, self._file, self._jobs, self._thread)

    def write(self, tensor: torch.Tensor, place: int) -> Transfer:
        """Starts to write a tensor's storage at a place in the file."""
        return self._start(os.pwrite, tensor, place)

    def read(self, layout: Layout, place: int) -> tuple[torch.Tensor, Transfer]:
        """Starts to read a tensor; its contents are valid once the transfer is done."""
        tensor = layout.empty()
        return tensor, self._start(_pread, tensor, place)

    def _start(self, move: Callable[[int, Any, int], int], tensor: torch.Tensor, place: int) -> Transfer:
        if self._process != os.getpid():
            raise StorageError("storage failed: the step was compiled by another process, whose thread moves its pages")
        transfer = Transfer(move, tensor, place)
        self._jobs.put(transfer)
        return transfer

    def finish(self) -> None:
        """Waits until no transfer is pending, ignoring errors."""
        if self._process != os.getpid():
            return
        last = Transfer(lambda file, buffer, place: 0, torch.empty(0), 0)
        self._jobs.put(last)
        last.done.wait()


def _close(file: int, jobs: queue.SimpleQueue[Optional[Transfer]], thread: threading.Thread) -> None:
    jobs.put(None)
    thread.join()
    os.close(file)


def _pread(file: int, buffer: Any, place: int) -> int:
    return os.preadv(file, [buffer], place)


def _work(file: int, jobs: queue.SimpleQueue[Optional[Transfer]]) -> None:
    while (job := jobs.get()) is not None:
        try:
            _move(file, job)
        except Exception as error:  # whoever waits for it gets it
            job.error = error
        job.tensor = None
        job.done.set()
        del job  # and with it the tensor, rather than when the next one comes


def _move(file: int, job: Transfer) -> None:
    assert job.tensor is not None
    storage = storage_of(job.tensor)
    left, place = storage.nbytes(), job.place
    address = storage.data_ptr()
    while left:
        buffer = (ctypes.c_char * min(left, 1 << 26)).from_address(address)
        moved = job.move(file, buffer, place)  # without the interpreter's lock
        if moved <= 0:
            raise OSError("the page file ends early")
        left, place, address = left - moved, place + moved, address + moved


Pages = Union[PageFile, HostPages]


def pages_of(storage: Union[str, "os.PathLike[str]", bool, None], device: Device) -> Optional[Callable[[int], Pages]]:
    """Returns what makes room for so many bytes of pages; None where nothing is paged. Raises InputError."""
    if device.pages_to_host:
        if storage not in (None, True, False):
            raise InputError("storage", "must be True or None with a GPU, whose pages go to the host's memory")
        return functools.partial(HostPages, device) if storage else None
    folder = storage_folder(storage)
    return None if folder is None else functools.partial(PageFile, folder)


def storage_folder(storage: Union[str, "os.PathLike[str]", bool, None]) -> Optional[str]:
    """Returns the folder for `storage`: for True that of temporary files, unless it is in RAM; none for None and False."""
    if storage is None or storage is False:
        return None
    if storage is True:
        return next((folder for folder in (tempfile.gettempdir(), "/var/tmp") if not is_in_ram(folder)), os.getcwd())
    if not isinstance(storage, (str, os.PathLike)):
        raise TypeError(f"storage: must be a folder, True or None, not {type(storage).__name__}")
    folder = os.fspath(storage)
    if not os.path.isdir(folder):
        raise InputError("storage", f"{folder!r} is not a folder")
    if is_in_ram(folder):
        raise InputError("storage", f"{folder!r} is in RAM (tmpfs): paging there saves none")
    return folder


def is_in_ram(folder: str) -> bool:
    """Whether a folder is on a file system that keeps its files in RAM."""
    try:
        with open("/proc/mounts", encoding="utf-8") as mounts:
            fields = [[_unescaped(field) for field in line.split()] for line in mounts]
    except OSError:
        return False  # not Linux
    path = os.path.realpath(folder)
    on = [(at, kind) for _, at, kind, *_ in fields if path == at or path.startswith(at.rstrip("/") + "/")]
    return max(on, key=lambda mount: len(mount[0]), default=("", ""))[1] in ("tmpfs", "ramfs")


def _unescaped(field: str) -> str:
    """Decodes a field of /proc/mounts, which writes a blank as \\040."""
    return re.sub(r"\\([0-7]{3})", lambda escape: chr(int(escape[1], 8)), field)


def return_freed_memory(least_bytes: int = 1 << 18) -> None:
    """Makes the C library (glibc) return tensors of at least this many bytes to the operating system as soon as they are freed, so that
    the whole process keeps to the plan's RAM. Call it before tensors are created; it applies to the whole process.

    Without it freed memory stays with the process for later, which is faster: every tensor then costs page faults. Raises OSError where
    the C library cannot do that.
    """
    try:
        done = ctypes.CDLL(None).mallopt(-3, least_bytes)  # M_MMAP_THRESHOLD
    except AttributeError:
        done = 0
    if not done:
        raise OSError("this C library has no threshold from which memory goes back to the operating system")


def measure_pages(make: Callable[[int], Pages], device: Device, largest: int) -> Rates:
    """Measures how fast pages are written and read back, in a file with the operating system's buffers, as in a step. `make`: makes room for so
    many bytes of pages."""
    large = max(1 << 20, min(largest, 1 << 26))
    pages = make(large)
    try:
        seconds = {}
        for size in (4096, large):
            layout = Layout((size,), (1,), 0, torch.uint8, size, device.where)
            tensor = layout.empty().zero_()
            ways: dict[str, list[float]] = {"write": [], "read": []}
            for _ in range(4):
                ways["write"].append(device.seconds(lambda: pages.write(tensor, 0).wait()))
                ways["read"].append(device.seconds(lambda: pages.read(layout, 0)[1].wait()))
            # Of the second half: the first writes find no buffers.
            seconds[size] = {way: max(times[2:]) for way, times in ways.items()}
    finally:
        pages.close()
    latency = seconds[4096]
    rate = {way: large / max(1e-9, seconds[large][way] - latency[way]) for way in latency}
    return Rates(latency["read"], rate["read"], latency["write"], rate["write"])
