"""A run that a client of AG-UI asks for: begun as any turn of a chat, or gone on with once it is answered."""

from typing import NamedTuple

from partita.errors import ConflictError
from partita.formats.ai_sdk.ui.format import dump
from partita.formats.format import Loaded
from partita.runtime.replay.retelling import retold
from partita.runtime.service import AgentService, Options
from partita.server.chat.body import ChatBody
from partita.server.chat.turn import ChatTurn
from partita.server.hub import CallerView
from partita.types.chunks import Chunk
from partita.types.messages import AssistantMessage
from partita.types.runs import Run

from .body import RunInput


class Begun(NamedTuple):
    """A run, the number behind which it is new to the client, and what its message said before."""

    run: Run
    since: int = 0
    before: tuple[Chunk, ...] = ()


async def begin(caller: CallerView, name: str, body: RunInput, loaded: Loaded, options: Options) -> Begun:
    """Begin what an input asks for."""
    if body.resume:
        return await _resume(caller, caller.hub.agents.get(name), body, options)
    last = loaded.messages[-1] if loaded.messages else None
    before = await _before(caller, body.thread_id, last.id) if isinstance(last, AssistantMessage) else None
    messages = dump(loaded.messages, repair=False).payload
    chat = ChatBody(id=body.thread_id, messages=messages, agent=name)
    begun = await ChatTurn(caller, chat, options).begin()
    run, heard = begun.run, begun.after
    goes_on = before is not None and run.message_id == before.id
    return Begun(run, heard, _told(before) if goes_on else ())


async def _resume(caller: CallerView, agent: AgentService, body: RunInput, options: Options) -> Begun:
    """Answer what a run waits for, and go on with it."""
    session, thread_id = caller.session, body.thread_id
    at_work = await session.active_run(thread_id)
    page = await caller.store.list_messages(thread_id, limit=1, order="desc", roles=("assistant",))
    message = page.items[0] if page.items else None
    heard = 0
    if at_work is not None:
        messages, heard = await session.so_far(at_work)
        message = messages[-1] if messages else None
    for entry in body.resume or ():
        await session.answer(thread_id, entry.answer(caller.principal.name))
    before = message if isinstance(message, AssistantMessage) else None
    if at_work is not None:
        return Begun(at_work, heard, _told(before))
    if before is None:
        raise ConflictError(f"there is no answer in thread {thread_id!r}", hint="send a message first")
    busy = caller.hub.settings.busy
    run = await session.start(agent, thread_id, None, after=before.id, busy=busy, options=options)
    return Begun(run, 0, _told(before))


async def _before(caller: CallerView, thread_id: str, message_id: str) -> AssistantMessage | None:
    found = await caller.store.get_message(thread_id, message_id)
    return found if isinstance(found, AssistantMessage) else None


def _told(message: AssistantMessage | None) -> tuple[Chunk, ...]:
    """What a message has said, as chunks."""
    return () if message is None else tuple(retold(message))[:-1]
