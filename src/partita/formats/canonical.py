"""Partita's own messages as a format, and the old ones that had one content."""

from collections.abc import Sequence

from partita.types.codec import MESSAGES, read_message, to_json
from partita.types.json import Json, is_array, is_object
from partita.types.legacy import read_legacy, upgrade
from partita.types.messages import Message
from partita.types.older_forms import TOOL_STATES

from .format import Dumped, Implied, Loaded


def load_canonical(payload: Json) -> Loaded:
    """Canonical messages, one or a list, from plain JSON."""
    return Loaded(MESSAGES.read(payload) if is_array(payload) else (read_message(payload),))


def dump_canonical(messages: Sequence[Message]) -> Dumped:
    """Canonical messages as plain JSON."""
    return Dumped(to_json(messages))


def load_legacy(payload: Json) -> Loaded:
    """Messages with one content, also among messages whose content is a string or a list of parts."""
    raws = payload if is_array(payload) else [payload]
    return Loaded(tuple(upgrade(read_legacy(raw)) if _is_single(raw) else read_message(raw) for raw in raws))


def _is_single(raw: Json) -> bool:
    """Whether a message has one part for its content; only those are deprecated."""
    content: Json = raw.get("content") if is_object(raw) else None
    return not isinstance(content, str) and not is_array(content)


def implied_in_canonical() -> Implied:
    """Types and states of older parts, which show in the types and states of today's."""
    return {
        "role": frozenset({"system", "user", "assistant", "tool"}),
        "type": frozenset(
            {"file", "image", "redacted", "source", "thinking", "tool-call", "tool-invocation"}
        ),
        "sourceType": frozenset({"url", "document"}),
        "state": frozenset(TOOL_STATES),
        "isError": frozenset({True}),
    }


def implied_in_legacy() -> Implied:
    """The same in messages with one content, where parts and outputs may also change their place."""
    outputs = {"text", "tool-result", "json", "error-text", "error-json"}
    implied = implied_in_canonical()
    return {**implied, "type": implied["type"] | outputs}
