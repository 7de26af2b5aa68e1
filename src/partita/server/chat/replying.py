"""Replies to calls, as they come inside a client's messages: found, and given to those who wait for them."""

from collections.abc import Mapping, Sequence
from typing import Final

from partita.runtime.session.approvals import Answer
from partita.runtime.session.session import Session
from partita.server.hub import CallerView
from partita.store.glances import Glance
from partita.types.json import JsonObject
from partita.types.messages import ToolCallPart

from .body import id_of
from .reading import read_message, replies_in

WAITING: Final = ("approval-requested", "input-available")
"""States of calls that wait for somebody."""


async def give_replies(caller: CallerView, thread_id: str, said: Sequence[JsonObject], seen: Glance) -> None:
    """Take the outputs and answers that a client's messages hold for calls that wait."""
    answers = [(place, raw) for place, raw in enumerate(said) if raw.get("role") == "assistant"]
    if not answers or not (seen.waiting or seen.run):
        return
    waiting = await _waiting(caller.session, seen)
    for place, raw in answers:
        calls = waiting.get(id_of(raw, place))
        if not calls:
            continue
        for reply in replies_in(read_message(raw, place, thread_id), calls, caller.principal.name):
            if isinstance(reply, Answer):
                await caller.session.answer(thread_id, reply)
            else:
                await caller.session.give_output(
                    thread_id,
                    reply.tool_call_id,
                    reply.output,
                    tool_name=reply.tool_name,
                    input=reply.input,
                )


async def _waiting(session: Session, seen: Glance) -> Mapping[str, list[str]]:
    """The calls that wait for somebody, by message: of stored ones, and of one at work."""
    if seen.run is None:
        return seen.waiting
    at_work = {
        message.id: [
            part.id for part in message.parts if isinstance(part, ToolCallPart) and part.state in WAITING
        ]
        for message in (await session.so_far(seen.run)).messages
    }
    return {**seen.waiting, **at_work}
