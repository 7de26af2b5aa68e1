"""Replies to calls, as they come inside a client's messages: found, and given to those who wait for them."""

from collections.abc import Sequence
from typing import Final

from partita.runtime.session.approvals import Answer
from partita.runtime.session.session import Session
from partita.runtime.session.turn import goes_on
from partita.server.hub import CallerView
from partita.store.facade.store import Store
from partita.store.glances import Glance
from partita.types.json import JsonObject
from partita.types.messages import AssistantMessage, ToolCallPart
from partita.types.runs import Run

from .body import id_of
from .reading import read_message, replies_in
from .rows import ids_of, rows_from

WAITING: Final = ("approval-requested", "input-available")
"""States of calls that wait for somebody."""


async def give_replies(caller: CallerView, thread_id: str, said: Sequence[JsonObject], seen: Glance) -> int:
    """Take the outputs and answers that a client's messages hold for calls that wait; how many there were."""
    given = 0
    answers = [(place, raw) for place, raw in enumerate(said) if raw.get("role") == "assistant"]
    if not answers or not (seen.waiting or seen.run):
        return given
    at_work, ids = await _at_work(caller.session, seen.run)
    for place, raw in answers:
        message_id = id_of(raw, place)
        calls = at_work if message_id in ids else await _stored(caller.store, message_id, seen)
        if not calls:
            continue
        for reply in replies_in(read_message(raw, place, thread_id), calls, caller.principal.name):
            given += 1
            if isinstance(reply, Answer):
                await caller.session.answer(thread_id, reply)
            else:
                await caller.session.give_output(
                    thread_id,
                    reply.tool_call_id,
                    reply.output,
                    tool_name=reply.tool_name,
                    input=reply.input,
                    server_tools=caller.server_tools,
                )
    return given


def is_replied(message: AssistantMessage) -> bool:
    """Whether the calls that a message ends with have their replies, which no model has seen yet."""
    return goes_on(message) and not any(
        isinstance(part, ToolCallPart) and part.state in WAITING for part in message.parts
    )


async def _at_work(session: Session, run: Run | None) -> tuple[list[str], set[str]]:
    """The calls of the run at work that wait for somebody, and the ids that its message may have."""
    if run is None:
        return [], set()
    calls = [
        part.id
        for message in (await session.so_far(run)).messages
        for part in message.parts
        if isinstance(part, ToolCallPart) and part.state in WAITING
    ]
    return calls, await ids_of(session, run)


async def _stored(store: Store, message_id: str, seen: Glance) -> list[str]:
    """The stored calls that wait for somebody in what the client has as one message."""
    known = seen.messages.get(message_id)
    if not seen.waiting or known is None:
        return seen.waiting.get(message_id, [])
    return [call for row in await rows_from(store, known) for call in seen.waiting.get(row.id, ())]
