"""A run in the words of others: which formats it can be streamed in, and what frames them."""

from collections.abc import Sequence
from typing import Final

from partita.errors import AgentError, ConversionError, FormatError
from partita.formats.ag_ui.encoder import AgUiEncoder
from partita.formats.format import ToolSpec
from partita.formats.openai_chat.encoder import ChatEncoder
from partita.formats.registry import all_formats, get_format
from partita.runtime.client_tools import check_client_tools, client_tools, server_tools
from partita.runtime.service import AgentService
from partita.runtime.session.framing import EventFraming
from partita.stream.sse import DONE
from partita.types.runs import Run

AI_SDK: Final = "ai-sdk"
"""What a run is told in when nothing else is asked for: the chunks, for a release of the AI SDK."""

CHAT: Final = "openai-chat"
AG_UI: Final = "ag-ui"


def framing_for(name: str | None, run: Run) -> EventFraming | None:
    """What frames a run in a format; `None` for the words of the AI SDK."""
    if name in (None, AI_SDK):
        return None
    format_ = get_format(name or AI_SDK)
    if format_.name == AG_UI:
        return EventFraming(AgUiEncoder(run.thread_id, run.id, run.message_id))
    if format_.name == CHAT:
        created = 0 if run.created_at is None else int(run.created_at.timestamp())
        return EventFraming(ChatEncoder(model=run.agent, created=created, live=()), DONE)
    if format_.encoder is None:
        known = ", ".join([AI_SDK, *(one.name for one in all_formats().values() if one.encoder is not None)])
        raise FormatError(f"{format_.name} cannot be streamed", hint=f"there are {known}")
    return EventFraming(format_.encoder())


def offered_tools(tools: Sequence[ToolSpec], agent: AgentService) -> tuple[ToolSpec, ...]:
    """The tools of a request that the agent is to offer besides its own.

    Refused are tools that the agent cannot offer, or that have the name of one that it runs itself. A tool
    that it declares for the client is its own declaration already.
    """
    try:
        check_client_tools(agent, tools)
    except AgentError as error:
        raise ConversionError(error.what, where="$.tools", hint=error.hint) from error
    taken, declared = server_tools(agent), client_tools(agent)
    for place, tool in enumerate(tools):
        if tool.name in taken:
            raise ConversionError(
                f"the agent has a tool {tool.name!r} of its own",
                where=f"$.tools[{place}]",
                hint="give yours another name",
            )
    return tuple(tool for tool in tools if tool.name not in declared)
