"""Partita's own messages as a format, and the deprecated ones with one content.

Nothing is lost on reading: unknown members are kept in `extra`, and members of older forms have new names.
"""

from collections.abc import Sequence
from typing import Final

from partita.types.codec import MESSAGES, read_message, to_json
from partita.types.json import Json, is_array, is_object
from partita.types.legacy import read_legacy, upgrade
from partita.types.messages import Message

from .format import Dumped, Format, Loaded


def load_canonical(payload: Json) -> Loaded:
    """Canonical messages, one or a list, from plain JSON."""
    messages = MESSAGES.read(payload) if is_array(payload) else (read_message(payload),)
    return Loaded(messages, is_complete=True)


def dump_canonical(messages: Sequence[Message]) -> Dumped:
    """Canonical messages as plain JSON."""
    return Dumped(to_json(messages))


def load_legacy(payload: Json) -> Loaded:
    """Messages with one content, also among messages whose content is a string or a list of parts."""
    raws = payload if is_array(payload) else [payload]
    return Loaded(tuple(upgrade(read_legacy(raw)) if _is_single(raw) else read_message(raw) for raw in raws))


def _is_single(raw: Json) -> bool:
    """Whether the content of a message is one part; only those are deprecated."""
    content: Json = raw.get("content") if is_object(raw) else None
    return not isinstance(content, str) and not is_array(content)


FORMAT: Final = Format(
    "canonical", "Partita's own messages", load_canonical, dump_canonical, is_complete=True
)
LEGACY: Final = Format("legacy", "messages with one content (deprecated)", load_legacy, is_complete=True)
