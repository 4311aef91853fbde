"""JSON of what users give."""

from __future__ import annotations

import json
from typing import Any


def text_of(thing: Any) -> str:
    """As json.dumps(), with numpy's numbers and arrays as Python's."""
    return json.dumps(thing, default=_plain)


def _plain(other: Any) -> Any:
    if isinstance(other, (set, frozenset)) or not hasattr(other, "tolist"):
        raise TypeError(f"{other!r} is no JSON: lists, dictionaries, texts and numbers are")
    return other.tolist()
