"""Sub-agents of calls: in one view, and which calls can have theirs told."""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from partita.types.fold import fold
from partita.types.messages import AssistantMessage, AssistantPart, Message, ToolCallPart


def merged(messages: Sequence[Message]) -> list[Message]:
    """The merged view of messages, and of those of sub-agents below them."""
    return [_merged_below(message) for message in fold(messages)]


def _merged_below(message: Message) -> Message:
    if not isinstance(message, AssistantMessage) or not any(map(_has_children, message.parts)):
        return message
    parts = tuple(map(_merged_call, message.parts))
    return replace(message, content=replace(message.content, parts=parts))


def _has_children(part: AssistantPart) -> bool:
    return isinstance(part, ToolCallPart) and part.children != ()


def _merged_call(part: AssistantPart) -> AssistantPart:
    if not isinstance(part, ToolCallPart) or not part.children:
        return part
    return replace(part, children=tuple(merged(part.children)))


def homes_of(messages: Sequence[Message]) -> dict[str, ToolCallPart]:
    """The call that has the sub-agent of each id, as reading finds it: the outermost, then the first one."""
    homes: dict[str, ToolCallPart] = {}
    level = list(_calls_in(messages))
    while level:
        found: list[ToolCallPart] = []
        for call in level:
            if homes.setdefault(call.id, call) is call:
                found += _calls_in(call.children)
        level = found
    return homes


def _calls_in(messages: Sequence[Message]) -> Iterator[ToolCallPart]:
    for message in messages:
        if isinstance(message, AssistantMessage):
            for part in message.parts:
                if isinstance(part, ToolCallPart):
                    yield part
