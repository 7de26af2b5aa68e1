"""A request of Chat Completions that is a turn of a thread: what is new in it, and the run that answers it.

Messages of Chat Completions have no ids, and what a client says was said before is a claim. New is what
stands behind the last answer: words of the user, or outputs of the calls that the answer ended with.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from partita.errors import ConflictError, ConversionError
from partita.runtime.service import AgentService, Options
from partita.server.hub import CallerView
from partita.store.ids import new_id
from partita.types.fold import expand
from partita.types.messages import AssistantMessage, Message, ToolMessage, UserMessage
from partita.types.runs import Run
from partita.types.tools import ToolResultPart


async def begin_turn(
    caller: CallerView,
    agent: AgentService,
    thread_id: str,
    messages: Sequence[Message],
    options: Options,
) -> Run:
    """Begin what a request asks for."""
    results, said = _news(messages)
    session, busy = caller.session, caller.hub.settings.busy
    for result in results:
        await session.give_output(
            thread_id,
            result.id,
            result.output,
            tool_name=result.name or None,
            server_tools=caller.server_tools,
        )
    new = [replace(message, id=new_id(), thread_id=thread_id) for message in said]
    if new:
        return await session.start(agent, thread_id, new, busy=busy, options=options)
    if not results:
        raise ConversionError(
            "nothing new is said", where="$.messages", hint="end with a message of the user, or with outputs"
        )
    page = await caller.store.list_messages(thread_id, limit=1, order="desc", roles=("assistant",))
    if not page.items:
        raise ConflictError(f"there is no answer in thread {thread_id!r}", hint="send a message first")
    return await session.start(agent, thread_id, None, after=page.items[0].id, busy=busy, options=options)


def _news(messages: Sequence[Message]) -> tuple[list[ToolResultPart], list[UserMessage]]:
    """The outputs and the words behind the last answer."""
    view = expand(messages)
    spoken = [place for place, message in enumerate(view) if isinstance(message, AssistantMessage)]
    behind = view[spoken[-1] + 1 :] if spoken else view
    said = [message for message in behind if isinstance(message, UserMessage)]
    results = [
        part
        for message in behind
        if isinstance(message, ToolMessage)
        for part in message.parts
        if isinstance(part, ToolResultPart)
    ]
    return results, said
