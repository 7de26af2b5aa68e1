"""Calls that could still be run, in messages that a client brings along.

An agent that goes on with a thread runs what is open in it. So a client cannot add such a call, nor change
one: it would choose the input of a tool that only the agent may call, and then allow it itself.
"""

from collections.abc import Sequence
from typing import Final

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from partita.errors import ConversionError
from partita.store import messages, saving, threads
from partita.store.prepared import Prepared
from partita.store.transaction import Transaction
from partita.types.json import Json, dumps
from partita.types.messages import AssistantMessage, Message, Part, ToolCallPart

OPEN: Final = frozenset({"input-streaming", "input-available", "approval-requested", "approval-responded"})


def save_checked(tx: Transaction, prepared: Sequence[Prepared]) -> tuple[Message, ...]:
    """Write messages whose threads are there. What is open in them must be so in the store."""
    for one in sorted(prepared, key=lambda one: (one.thread_id, one.message.resource_id or "")):
        thread = threads.find(tx, one.thread_id, one.message.resource_id, lock=True)
        of_owner = Transaction(tx.connection, thread.owner, tx.now)
        check_calls(one.message, messages.get(of_owner, one.thread_id, one.message.id, "inline"))
    return saving.save(tx, prepared)


def update_part_checked(tx: Transaction, thread_id: str, message_id: str, index: int, part: Part) -> Message:
    """Put another part in the place of one. If it is an open call, the one that is there must be the same."""
    threads.find(tx, thread_id, lock=True)
    known = messages.get(tx, thread_id, message_id, "inline")
    if isinstance(known, AssistantMessage) and isinstance(part, ToolCallPart):
        here = known.parts[index : index + 1] if index >= 0 else ()
        check_calls(_with(known, (part,)), _with(known, here))
    return messages.update_part(tx, thread_id, message_id, index, part)


def _with(message: AssistantMessage, parts: Sequence[Part]) -> AssistantMessage:
    return replace(message, content=replace(message.content, parts=tuple(parts)))


def check_calls(message: Message, stored: Message | None) -> None:
    """Refuse a message with a call that is open and does not stand so in what is stored, or stands twice."""
    known = _open_calls(stored)
    for call in _open_calls(message):
        same = next((place for place, other in enumerate(known) if _same(call, other)), None)
        if same is None:
            raise ConversionError(
                f"call {call.id!r} has no output, and it is not as the server knows it",
                where=f"message {message.id}",
                hint="only an agent can leave a call open; save it once it has ended",
            )
        del known[same]


def _open_calls(message: Message | None) -> list[ToolCallPart]:
    """The calls of a message that have not ended."""
    if not isinstance(message, AssistantMessage):
        return []
    return [part for part in message.parts if isinstance(part, ToolCallPart) and part.state in OPEN]


def _same(one: ToolCallPart, other: ToolCallPart) -> bool:
    """Whether the same tool would be run on the same input, by the same, and as many have allowed it."""
    return _likeness(one) == _likeness(other)


def _likeness(call: ToolCallPart) -> tuple[object, ...]:
    approval = None if call.approval is None else (call.approval.id, call.approval.approved)
    return (call.id, call.name, call.state, _text(call.input), bool(call.provider_executed), approval)


def _text(value: Json | UnsetType) -> bytes | None:
    """An input as it is compared: its JSON text, for Python alone would take `1` for `true`."""
    return None if value is UNSET else dumps(value)
