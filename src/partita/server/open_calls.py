"""Open tool calls, which could still be run, in messages that a client saves.

An agent that continues a thread runs its open calls. So a client must not add or change one: it could choose
the input of a tool that only the agent may call, and then approve the call itself.
"""

from collections.abc import Sequence
from typing import Final

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from partita.errors import ConversionError
from partita.store.messages import edits, writer
from partita.store.messages import queries as messages
from partita.store.messages.prepared import Prepared
from partita.store.sql.transaction import Transaction
from partita.store.threads import rows as threads
from partita.types.json import Json, dumps
from partita.types.messages import AssistantMessage, Message, Part, ToolCallPart

OPEN: Final = frozenset({"input-streaming", "input-available", "approval-requested", "approval-responded"})


def save_checked(tx: Transaction, prepared: Sequence[Prepared]) -> tuple[Message, ...]:
    """Save messages of existing threads. Their open calls must be the same as in the store."""
    for one in sorted(prepared, key=lambda one: (one.thread_id, one.message.resource_id or "")):
        thread = threads.find(tx, one.thread_id, one.message.resource_id, lock=True)
        as_owner = Transaction(tx.connection, thread.owner, tx.now)
        check_calls(one.message, messages.get(as_owner, one.thread_id, one.message.id))
    return writer.save(tx, prepared)


def update_part_checked(tx: Transaction, thread_id: str, message_id: str, index: int, part: Part) -> Message:
    """Replace a part. If the new one is an open call, the stored part must be the same call."""
    threads.find(tx, thread_id, lock=True)
    known = messages.get(tx, thread_id, message_id)
    if isinstance(known, AssistantMessage) and isinstance(part, ToolCallPart):
        replaced = known.parts[index : index + 1] if index >= 0 else ()
        check_calls(_with(known, (part,)), _with(known, replaced))
    return edits.update_part(tx, thread_id, message_id, index, part)


def _with(message: AssistantMessage, parts: Sequence[Part]) -> AssistantMessage:
    return replace(message, content=replace(message.content, parts=tuple(parts)))


def check_calls(message: Message, stored: Message | None) -> None:
    """Refuse a message with an open call that is not in the stored message, or that it has twice."""
    known = _open_calls(stored)
    for call in _open_calls(message):
        same = next((index for index, other in enumerate(known) if _is_same(call, other)), None)
        if same is None:
            raise ConversionError(
                f"call {call.id!r} has no output, and differs from the stored call",
                where=f"message {message.id}",
                hint="only an agent can leave a call open; save it once it has ended",
            )
        del known[same]


def _open_calls(message: Message | None) -> list[ToolCallPart]:
    """The calls of a message that have not ended."""
    if not isinstance(message, AssistantMessage):
        return []
    return [part for part in message.parts if isinstance(part, ToolCallPart) and part.state in OPEN]


def _is_same(left: ToolCallPart, right: ToolCallPart) -> bool:
    """Whether the same tool would be run with the same input, executor and approval."""
    return _compared(left) == _compared(right)


def _compared(call: ToolCallPart) -> tuple[object, ...]:
    approval = None if call.approval is None else (call.approval.id, call.approval.approved)
    return (call.id, call.name, call.state, _text(call.input), bool(call.provider_executed), approval)


def _text(value: Json | UnsetType) -> bytes | None:
    """The JSON text of an input: in Python, `1` equals `True`."""
    return None if value is UNSET else dumps(value)
