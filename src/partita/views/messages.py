"""The views of all tool calls of a message."""

from collections.abc import Iterator, Mapping

from partita.types.messages import AssistantContent, Message, ToolCallPart
from partita.types.parts import ToolResultPart
from partita.types.tool_views import ToolView

from .tool_view import result_view, tool_view


def tool_views(message: Message, directory: str | None = None) -> Mapping[str, ToolView]:
    """The views of the calls and results of a message and of the sub-agents below it.

    The keys are JSON Pointers (RFC 6901) into the message: `/content/parts/2`, and
    `/content/parts/2/children/0/content/parts/1` for a call of a sub-agent.
    """
    found: dict[str, ToolView] = {}
    waiting = [("", message)]
    while waiting:  # a loop, because sub-agents may nest to any depth
        pointer, current = waiting.pop()
        for place, part in _calls(current, pointer):
            if isinstance(part, ToolResultPart):
                found[place] = result_view(part, directory)
                continue
            found[place] = tool_view(part, directory)
            waiting += [(f"{place}/children/{index}", child) for index, child in enumerate(part.children)]
        waiting += _network_messages(current, pointer)
    return found


def _calls(message: Message, pointer: str) -> Iterator[tuple[str, ToolCallPart | ToolResultPart]]:
    content = message.content
    for index, part in enumerate(content.parts):
        if isinstance(part, ToolCallPart | ToolResultPart):
            yield f"{pointer}/content/parts/{index}", part
    if isinstance(content, AssistantContent) and content.network_execution is not None:
        result = content.network_execution.final_result
        for index, call in enumerate(result.tool_calls if result is not None else ()):
            yield f"{pointer}/content/networkExecution/finalResult/toolCalls/{index}", call


def _network_messages(message: Message, pointer: str) -> Iterator[tuple[str, Message]]:
    content = message.content
    if isinstance(content, AssistantContent) and content.network_execution is not None:
        result = content.network_execution.final_result
        for index, child in enumerate(result.messages if result is not None else ()):
            yield f"{pointer}/content/networkExecution/finalResult/messages/{index}", child
