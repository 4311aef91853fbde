"""Errors: InputError for wrong input, InternalError for defects of poet."""

from __future__ import annotations


class InputError(ValueError):
    """A wrong argument or file.

    `place` is the argument's name, or the file and the place in it ("m4.json: /page_in/latency_seconds"); `rule` is what must
    hold there. Both are in the message.
    """

    def __init__(self, place: str, rule: str) -> None:
        super().__init__(f"{place}: {rule}" if place else rule)
        self.place = place
        self.rule = rule

    def __reduce__(self) -> tuple[type[InputError], tuple[str, str]]:
        return type(self), (self.place, self.rule)


class InternalError(RuntimeError):
    """A defect of poet: please report it."""
