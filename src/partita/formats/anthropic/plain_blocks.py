"""Blocks that hold words, signed thoughts or a call, and nothing else: most do, and are parts as they stand.

What they become is what the reader of answers makes of them, without telling it as a stream first.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from partita.errors import DecodeError
from partita.types.json import JsonObject, dumps, heal, is_object, loads
from partita.types.messages import AssistantPart, ToolCallPart
from partita.types.parts import ReasoningPart, TextPart

from .words import ANTHROPIC


def plain_parts(blocks: Sequence[JsonObject]) -> list[AssistantPart] | None:
    """The parts of the model's blocks; `None` when one of them needs a closer look."""
    parts: list[AssistantPart] = []
    calls: set[str] = set()
    for block in blocks:
        read = READERS.get(block["type"])
        part = None if read is None else read(block)
        if part is None:
            return None
        if type(part) is ToolCallPart:
            if part.id in calls:
                return None
            calls.add(part.id)
        parts.append(part)
    return parts


def _text(block: JsonObject) -> TextPart | None:
    words = block.get("text")
    return TextPart(heal(words)) if isinstance(words, str) and len(block) == 2 else None


def _thinking(block: JsonObject) -> ReasoningPart | None:
    words, signature = block.get("thinking"), block.get("signature")
    is_signed = isinstance(signature, str) and bool(signature)
    if not isinstance(words, str) or not is_signed or len(block) != 3:
        return None
    return ReasoningPart(heal(words), provider_metadata={ANTHROPIC: {"signature": signature}})


def _call(block: JsonObject) -> ToolCallPart | None:
    call_id, name, given = block.get("id"), block.get("name"), block.get("input")
    if not isinstance(call_id, str) or not isinstance(name, str) or not is_object(given) or len(block) != 4:
        return None
    try:
        return ToolCallPart(call_id, name, "input-available", loads(dumps(given)))
    except DecodeError:
        return None


READERS: Final[Mapping[str, Callable[[JsonObject], AssistantPart | None]]] = {
    "text": _text,
    "thinking": _thinking,
    "tool_use": _call,
}
"""How a block is read, by its type."""
