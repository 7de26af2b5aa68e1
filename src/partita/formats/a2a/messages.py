"""Messages of A2A ↔ messages. A context is a thread, a task is a run.

Messages are apart from `format.py`, because tasks contain them too.
"""

from typing import Any, Final

from msgspec import UNSET
from msgspec.structs import replace

from partita.errors import ConversionError
from partita.formats.core.metadata import message_notes, with_message_notes
from partita.formats.core.residue import residue, restore
from partita.formats.core.wire import Wire, read_wire
from partita.types.json import JsonObject, is_object
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    Message,
    SystemMessage,
    ToolContent,
    ToolMessage,
    UserContent,
    UserMessage,
)
from partita.types.tools import ToolResultPart

from . import wire
from .parts import ASSISTANT_PART, TOOL_PART, USER_PART, read_own, read_part
from .wire import AGENT, MESSAGE, NAME, PART, USER, new_message, new_part, parts_of

ROLE_HINT: Final = "give ROLE_USER or ROLE_AGENT; before protocol 1.0, user or agent"


def read_message(raw: JsonObject, path: str, fallback: str) -> Message:
    """A message. `fallback` is its id if it has none."""
    raws = parts_of(raw, path)
    block = read_wire(MESSAGE, new_message(raw), path, ROLE_HINT)
    if block.role not in (USER, AGENT):
        raise ConversionError(f"unknown role {block.role!r:.40}", where=f"{path}.role", hint=ROLE_HINT)
    around: Any = {
        "id": block.message_id or fallback,
        "thread_id": block.context_id or None,
        "run_id": block.task_id or None,
    }
    message: Message
    if block.role == USER:
        user = tuple(read_part(part, USER_PART) for part in raws)
        message = UserMessage(content=UserContent(parts=user, metadata=block.metadata), **around)
    elif raws and all(results := [_result(part) for part in raws]):
        content = ToolContent(parts=tuple(results), metadata=block.metadata)  # type: ignore[arg-type] # none is `None`
        message = ToolMessage(content=content, **around)
    else:
        parts = tuple(read_part(part, ASSISTANT_PART) for part in raws)
        message = AssistantMessage(content=AssistantContent(parts=parts, metadata=block.metadata), **around)
    return with_message_notes(message, NAME, residue(_write(message, ()), replace(block, parts=())))


def write_message(message: Message, blocks: tuple[Any, ...]) -> Wire | JsonObject:
    """A message of protocol 1.0 with these parts."""
    kept = message_notes(message, NAME)
    written = _write(message, blocks)
    return restore(written, kept) if kept else written


def _write(message: Message, blocks: tuple[Any, ...]) -> wire.Message:
    metadata = message.content.metadata
    return wire.Message(
        message_id=message.id,
        context_id=UNSET if message.thread_id is None else message.thread_id,
        task_id=UNSET if message.run_id is None else message.run_id,
        role=USER if isinstance(message, UserMessage | SystemMessage) else AGENT,
        parts=blocks,
        metadata=metadata if is_object(metadata) else UNSET,
    )


def _result(raw: JsonObject) -> ToolResultPart | None:
    """The result that a part is. Few parts are, so it is looked at first whether it claims to be one."""
    data = raw.get("data")
    if not is_object(data) or data.get("type") != "tool-result":
        return None
    found = read_own(PART.read(new_part(raw)), TOOL_PART)
    return found if isinstance(found, ToolResultPart) else None
