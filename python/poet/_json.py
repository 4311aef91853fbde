"""JSON of user input."""

from __future__ import annotations

import json
from typing import Any


def text_of(thing: Any) -> str:
    """Returns json.dumps() of the object, with numpy's numbers and arrays as Python's."""
    return json.dumps(thing, default=_plain)


def _plain(other: Any) -> Any:
    if isinstance(other, (set, frozenset)) or not hasattr(other, "tolist"):
        raise TypeError(f"{other!r} is no JSON: lists, dictionaries, texts and numbers are")
    return other.tolist()
