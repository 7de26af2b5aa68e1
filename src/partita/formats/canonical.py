"""Partita's own messages as a format, and the old ones that had one content."""

from collections.abc import Sequence

from partita.types.codec import MESSAGES, read_message, to_json
from partita.types.json import Json, is_array
from partita.types.legacy import read_legacy, upgrade
from partita.types.messages import Message

from .format import Dumped, Implied, Loaded


def load_canonical(payload: Json) -> Loaded:
    """Canonical messages, one or a list, from plain JSON."""
    return Loaded(MESSAGES.read(payload) if is_array(payload) else (read_message(payload),))


def dump_canonical(messages: Sequence[Message]) -> Dumped:
    """Canonical messages as plain JSON."""
    return Dumped(to_json(messages))


def load_legacy(payload: Json) -> Loaded:
    """Messages of the old one-content shape."""
    raws = payload if is_array(payload) else [payload]
    return Loaded(tuple(upgrade(read_legacy(raw)) for raw in raws))


def implied_in_legacy() -> Implied:
    """The words of old messages that show in the form of today's."""
    return {
        "role": frozenset({"system", "user", "assistant", "tool"}),
        "type": frozenset(
            {
                "text",
                "thinking",
                "image",
                "file",
                "tool-call",
                "tool-result",
                "json",
                "error-text",
                "error-json",
            }
        ),
    }
