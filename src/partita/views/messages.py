"""What is displayed of a message besides its parts: views of tool calls, notices, and its model."""

from collections.abc import Iterator, Mapping
from typing import Final

from partita.types.json import Json, is_object
from partita.types.messages import AssistantContent, AssistantMessage, Message, ToolCallPart
from partita.types.parts import ToolResultPart
from partita.types.tool_views import Notice, PartView, Prompt

from .notices import notices
from .prompts import prompts
from .tool_view import result_view, tool_view

MODEL_NAMES: Final = ("model", "modelId", "modelID", "model_id")
MODEL_DEPTH: Final = 3
"""How many levels of metadata are searched for the name of the model."""


def model_of(message: Message) -> str:
    """The model that generated a message, by its metadata; empty if that does not name it."""
    if not isinstance(message, AssistantMessage):
        return ""
    waiting: list[tuple[int, Json]] = [(0, message.content.metadata), (0, message.content.provider_metadata)]
    while waiting:
        depth, value = waiting.pop(0)
        if not is_object(value):
            continue
        found = next((value[name] for name in MODEL_NAMES if isinstance(value.get(name), str)), None)
        if found is not None:
            return str(found)
        if depth < MODEL_DEPTH:
            waiting.extend((depth + 1, inner) for inner in value.values())
    return ""


def part_views(message: Message, directory: str | None = None) -> Mapping[str, PartView]:
    """The views of the calls, results and notices of a message and of the sub-agents below it.

    The keys are JSON Pointers (RFC 6901) into the message: `/content/parts/2`, and
    `/content/parts/2/children/0/content/parts/1` for a call of a sub-agent.
    """
    found: dict[str, PartView] = {}
    waiting = [("", message)]
    while waiting:  # a loop, because sub-agents may nest to any depth
        pointer, current = waiting.pop()
        texts: dict[int, Notice | Prompt] = {**prompts(current), **notices(current)}
        found |= {f"{pointer}/content/parts/{index}": one for index, one in texts.items()}
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
