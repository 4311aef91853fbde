"""pack(): addresses for the buffers of any compiler."""

from __future__ import annotations

import operator
import os
from dataclasses import dataclass, fields
from typing import Any, Iterable, Mapping, Optional, Sequence, Tuple, Union

from . import _core
from ._arguments import names_mistakes
from ._paths import Path, file_argument
from .errors import InputError

_LARGEST = 2**60


@names_mistakes
@dataclass(frozen=True)
class Buffer:
    """A buffer that is alive during [lower, upper), times in whole numbers of any unit, with `size` bytes.

    alignment  bytes; the offset is a multiple of it
    offset     fixed, in bytes from the beginning of its bank; None: to be found
    gaps       periods (begin, end) within the lifetime, in order, during which nothing is kept
    bank       the name of the one that it has to be in; None: any
    id         for the caller
    """

    lower: int
    upper: int
    size: int
    alignment: int = 1
    offset: Optional[int] = None
    gaps: Sequence[Tuple[int, int]] = ()
    bank: Optional[str] = None
    id: Optional[str] = None


@dataclass(frozen=True)
class Packing:
    """What pack() found. True if every buffer has its place."""

    #: "optimal": no arena is smaller, given the fixed offsets; "feasible"; "infeasible": proven that nothing fits; "unknown": nothing was found.
    status: str
    #: Bytes from the beginning of the arena, or of the buffer's bank; empty without a packing.
    offsets: list[int]
    #: The name of each buffer's bank; empty where no banks were given.
    banks: list[str]
    #: Bytes used: of the arena, or of all banks together; None without a packing.
    height: Optional[int]
    #: Bytes used of each bank, by name.
    heights: dict[str, int]
    #: Bytes that every packing into one arena takes; 0 with banks.
    lower_bound: int

    def __bool__(self) -> bool:
        return self.height is not None


@names_mistakes
def pack(
    buffers: Union[Path, Iterable[Union[Buffer, Sequence[int], Mapping[str, Any]]]],
    *,
    capacity: Union[int, str, None] = None,
    banks: Optional[Mapping[str, Union[int, str]]] = None,
    time_limit: Union[float, str, None] = None,
) -> Packing:
    """Places buffers in memory as `poet pack` does, such that no two that are alive at the same time overlap.

        packing = poet.pack([(0, 3, 4), (3, 9, 4), poet.Buffer(0, 9, 4, alignment=4)])
        packing.height                            # bytes: the smallest arena found; packing.lower_bound: none is smaller
        packing.offsets

    buffers: Buffers, tuples (lower, upper, size) or (lower, upper, size, alignment), or dictionaries of Buffer's fields; or the path
        of a table that `poet pack` reads.
    capacity: bytes that the arena may take, such as 1048576 or "1MiB"; None: the least is sought.
    banks: the bytes of each of several memories by name, such as {"sram": "256KiB", "tcm": 65536}; each buffer goes into one of them. Excludes capacity.
    time_limit: seconds of the search, such as 10 (the default) or "30s".

    Without a packing the result's status says whether there is none ("infeasible") or whether none was found ("unknown").
    Raises InputError, or TypeError, naming the buffer or argument; Ctrl-C raises KeyboardInterrupt. Lets other threads run.
    """
    if capacity is not None and banks is not None:
        raise InputError("capacity", "excludes banks: each bank has its own")
    given: dict[str, Any] = {"capacity": capacity, "time_limit": time_limit}
    if isinstance(buffers, (str, os.PathLike)):
        given["file"] = file_argument("buffers", buffers)
    else:
        given["buffers"] = [_plain(f"buffers[{index}]", one) for index, one in enumerate(buffers)]
    names = [_bank_name("banks", name) for name in banks or ()]
    found = _core.pack(**given, banks=[(name, _bank_size(f"banks[{name!r}]", size)) for name, size in (banks or {}).items()])
    packed = found["status"] in ("optimal", "feasible")
    return Packing(
        status=found["status"],
        offsets=found["offsets"],
        banks=[names[bank] for bank in found["banks"]] if names else [],
        height=sum(found["heights"]) if packed else None,
        heights=dict(zip(names, found["heights"])),
        lower_bound=found["lower_bound"],
    )


def _whole(place: str, value: Any) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{place}: must be a whole number, not {type(value).__name__}") from None
    if abs(number) > _LARGEST:
        raise InputError(place, f"{number} is not within 2^60")
    return number


def _bank_name(place: str, name: Any) -> str:
    if not isinstance(name, str):
        raise TypeError(f"{place}: a name must be a string, not {type(name).__name__}")
    if not name:
        raise InputError(place, "a name must not be empty")
    return name


def _bank_size(place: str, size: Any) -> Union[int, str]:
    """Text is the module's to read."""
    if isinstance(size, str):
        return size
    number = _whole(place, size)
    if number < 0:
        raise InputError(place, f"{number} must be at least 0")
    return number


def _gaps(place: str, gaps: Any) -> list[tuple[int, int]]:
    if isinstance(gaps, str) or not isinstance(gaps, Iterable):
        raise TypeError(f"{place}: must be periods (begin, end), not {type(gaps).__name__}")
    periods = []
    for index, gap in enumerate(gaps):
        ends = tuple(gap) if isinstance(gap, Iterable) and not isinstance(gap, str) else ()
        if len(ends) != 2:
            raise TypeError(f"{place}[{index}]: must be a period (begin, end)")
        periods.append((_whole(f"{place}[{index}]", ends[0]), _whole(f"{place}[{index}]", ends[1])))
    return periods


def _plain(place: str, buffer: Any) -> tuple[Any, ...]:
    """The buffer's fields as the module takes them."""
    if isinstance(buffer, Mapping):
        unknown = set(buffer) - {field.name for field in fields(Buffer)}
        missing = {"lower", "upper", "size"} - set(buffer)
        if unknown or missing:
            raise TypeError(f"{place}: " + (f"{sorted(unknown)[0]!r} is no field of Buffer" if unknown else f"lacks {sorted(missing)[0]!r}"))
        buffer = Buffer(**buffer)
    elif not isinstance(buffer, Buffer):
        values = tuple(buffer) if isinstance(buffer, Sequence) and not isinstance(buffer, str) else ()
        if len(values) not in (3, 4):
            raise TypeError(f"{place}: must be a Buffer, a dictionary of its fields, or (lower, upper, size) with or without the alignment")
        buffer = Buffer(*values)
    return (
        "" if buffer.id is None else str(buffer.id),
        _whole(f"{place}.lower", buffer.lower),
        _whole(f"{place}.upper", buffer.upper),
        _whole(f"{place}.size", buffer.size),
        _whole(f"{place}.alignment", buffer.alignment),
        _gaps(f"{place}.gaps", buffer.gaps),
        None if buffer.offset is None else _whole(f"{place}.offset", buffer.offset),
        None if buffer.bank is None else _bank_name(f"{place}.bank", buffer.bank),
    )
