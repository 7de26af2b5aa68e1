"""What is asked of one event."""

from collections.abc import Callable
from typing import TypeAlias

from partita.types.json import JsonObject

from .run import Run

Handler: TypeAlias = Callable[[Run, JsonObject], None]
"""Hears an event. One that lacks a member, or has one of another kind, is a `KeyError` or a `TypeError`."""


def text_in(event: JsonObject, name: str) -> str:
    """A member that is a text."""
    value = event[name]
    if not isinstance(value, str):
        raise TypeError(name)
    return value


def plain_role(event: JsonObject) -> tuple[str, ...]:
    """The role, where it says nothing."""
    return ("role",) if event.get("role") in ("tool", "reasoning") else ()
