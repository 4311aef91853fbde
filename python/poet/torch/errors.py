"""Errors of steps: what cannot be captured, and storage that fails."""

from __future__ import annotations

from ..errors import InputError


class CaptureError(InputError):
    """A step that cannot be captured: `place` is the line or operator, `rule` says why. An InputError, so a ValueError."""


class StorageError(OSError):
    """Storage did not read or write what it should. The module is as it was before the step, unless the message says otherwise."""
