"""Errors of steps: failed captures and failed storage."""

from __future__ import annotations

from ..errors import InputError


class CaptureError(InputError):
    """A step that cannot be captured: `place` is the line or operator, `rule` says why. An InputError, so a ValueError."""


class StorageError(OSError):
    """A read or write of storage failed. The module is unchanged by the step, unless the message says otherwise."""


class NeedsRealTensors(Exception):
    """Raised within capture where fake tensors do not suffice: the step asks for values, or has tensors besides parameters, buffers and batch. It is
    then captured on real ones."""


class Unfit(Exception):
    """Raised within capture: a value that no step can go by; the text says which."""
