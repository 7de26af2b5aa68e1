"""Messages without the notes on how Mastra had written them, for readers of other formats."""

from typing import Any, TypeVar

from msgspec.structs import replace

from partita.types.messages import AssistantMessage, Message, NetworkExecution, ToolCallPart
from partita.types.value import Extra, Value

from .notes import OURS

ValueT = TypeVar("ValueT", bound=Value)


def unmarked(message: Message) -> Message:
    """A message without notes, its sub-agents' included."""
    content: Any = _bare(message.content)
    changes: dict[str, Any] = {"parts": tuple(map(_unmarked_part, content.parts))}
    if isinstance(message, AssistantMessage) and message.content.network_execution is not None:
        changes["network_execution"] = _unmarked_network(message.content.network_execution)
    return replace(_bare(message), content=replace(content, **changes))


def _unmarked_part(part: Any) -> Any:
    if isinstance(part, ToolCallPart) and part.children:
        part = replace(part, children=tuple(map(unmarked, part.children)))
    return _bare(part)


def _unmarked_network(execution: NetworkExecution) -> NetworkExecution:
    result = execution.final_result
    if result is not None:
        inner = tuple(map(unmarked, result.messages))
        calls = tuple(map(_unmarked_part, result.tool_calls))
        result = replace(_bare(result), messages=inner, tool_calls=calls)
    return replace(_bare(execution), final_result=result)


def _bare(value: ValueT) -> ValueT:
    if not value.extra:
        return value
    left = {key: item for key, item in value.extra.items() if not key.startswith(OURS)}
    return replace(value, extra=Extra(left) if left else None)
