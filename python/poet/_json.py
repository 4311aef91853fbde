"""JSON of what users give."""

from __future__ import annotations

import json
from typing import Any


def text_of(thing: Any) -> str:
    """As json.dumps(), with numpy's numbers and arrays as Python's."""
    return json.dumps(thing, default=lambda other: other.tolist())
