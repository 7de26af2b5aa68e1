"""Which calls can have their sub-agents told: those that reading finds again by their ids."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from partita.types.fold import fold
from partita.types.messages import AssistantMessage, Message, ToolCallPart


class Home(NamedTuple):
    """A call, and the messages of the sub-agent under it in the merged view."""

    call: ToolCallPart
    messages: Sequence[Message]


def homes_in(messages: Sequence[Message]) -> Mapping[str, Home]:
    """The home of the sub-agent of each id: the outermost call of that id, and of several such the first."""
    homes: dict[str, Home] = {}
    level = list(_calls_in(messages))
    while level:
        found: list[ToolCallPart] = []
        for call in level:
            if call.id not in homes:
                home = homes[call.id] = Home(call, fold(call.children))
                found += _calls_in(home.messages)
        level = found
    return homes


def _calls_in(messages: Sequence[Message]) -> Iterator[ToolCallPart]:
    for message in messages:
        if isinstance(message, AssistantMessage):
            for part in message.parts:
                if isinstance(part, ToolCallPart):
                    yield part
