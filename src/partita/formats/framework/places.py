"""Whether results stand where they are written: behind their calls, and in their order."""

from collections.abc import Iterator, Sequence
from typing import Final

from partita.formats.losses import Loss
from partita.types.messages import AssistantMessage, Message, ToolCallPart, ToolMessage
from partita.types.tools import ToolResultPart

AWAY: Final = "it stands elsewhere than behind its call"
LATE: Final = "results stand in another order than their calls"


def told_places(messages: Sequence[Message], paths: Sequence[str]) -> Iterator[Loss]:
    """The losses of merging results into calls: places that they alone had."""
    known = {
        part.id
        for message in messages
        if type(message) is AssistantMessage
        for part in message.parts
        if type(part) is ToolCallPart
    }
    calls: list[str] = []
    last = -1
    for message, path in zip(messages, paths, strict=True):
        if type(message) is AssistantMessage:
            calls = [part.id for part in message.parts if type(part) is ToolCallPart]
            last = -1
        elif type(message) is ToolMessage:
            for part in message.parts:
                if type(part) is not ToolResultPart or part.id not in known:
                    continue
                at = calls.index(part.id) if part.id in calls else -1
                if at < 0:
                    yield Loss.of(path, part.id, AWAY, "changed")
                elif at < last:
                    yield Loss.of(path, part.id, LATE, "minor")
                last = max(at, last)
        else:
            calls = []
