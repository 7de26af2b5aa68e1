"""Values that hold nothing but what they are for: most messages, texts, calls and outputs.

Formats write them without looking for what they might lose.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import UNSET

from partita.types.json import Json
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    Content,
    Message,
    SystemContent,
    SystemMessage,
    ToolCallPart,
    ToolContent,
    ToolMessage,
    UserContent,
    UserMessage,
    derive_type,
)
from partita.types.parts import PartBase, ReasoningPart, StepStartPart, TextPart
from partita.types.tools import JsonOutput, TextOutput, ToolOutputBase, ToolResultPart
from partita.types.value import Value


def is_bare_text(part: TextPart) -> bool:
    """Whether a text is words and no more."""
    return (
        part.state is None
        and part.citations is None
        and part.provider_metadata is None
        and part.extra is None
    )


def is_bare_reasoning(part: ReasoningPart) -> bool:
    """Whether a thought is words and no more."""
    return (
        part.id is None
        and part.state is None
        and part.token_count is None
        and part.provider_metadata is None
        and part.extra is None
    )


def is_bare_call(call: ToolCallPart) -> bool:
    """Whether a call has a tool, a state, an input and an output, and no more."""
    return (
        call.raw_input is UNSET
        and call.input_encoding is None
        and call.approval is None
        and call.title is None
        and not call.dynamic
        and not call.unavailable
        and call.provider_executed is None
        and call.preliminary is None
        and call.call_provider_metadata is None
        and call.result_provider_metadata is None
        and call.tool_metadata is None
        and not call.children
        and call.result_message is None
        and call.provider_metadata is None
        and call.extra is None
    )


def is_alone(value: PartBase | ToolOutputBase | ToolResultPart) -> bool:
    """Whether a value that has no other fields of its own has no metadata and nothing unknown."""
    return value.provider_metadata is None and value.extra is None


def is_bare_around(message: Message) -> bool:
    """Whether a message has an id, a type and a content, and no more."""
    return (
        message.thread_id is None
        and message.created_at is None
        and message.seq is None
        and message.resource_id is None
        and message.parent_id is None
        and message.run_id is None
        and not message.internal
        and message.extra is None
    )


def is_bare_content(content: Content) -> bool:
    """Whether a content has parts and no more."""
    return (
        content.metadata is UNSET
        and content.provider_metadata is None
        and content.content is None
        and content.extra is None
    )


def is_bare_answer(content: AssistantContent) -> bool:
    """Whether the content of an answer has parts and no more."""
    return content.usage is None and content.network_execution is None and is_bare_content(content)


def _checks() -> Mapping[type[Value], Callable[[Any], bool]]:
    """Whether a value is bare, by its type."""
    return {
        **dict.fromkeys((SystemMessage, UserMessage, AssistantMessage, ToolMessage), is_bare_around),
        **dict.fromkeys((SystemContent, UserContent, ToolContent), is_bare_content),
        **dict.fromkeys((StepStartPart, TextOutput, JsonOutput, ToolResultPart), is_alone),
        AssistantContent: is_bare_answer,
        TextPart: is_bare_text,
        ReasoningPart: is_bare_reasoning,
        ToolCallPart: is_bare_call,
    }


_CHECKS: Final = _checks()


def is_bare(value: Value) -> bool:
    """Whether a value has no more than what it is for. One that we know nothing of has."""
    check = _CHECKS.get(type(value))
    return check is not None and check(value)


def is_bare_message(message: Message) -> bool:
    """Whether a message has an id and parts, and no more."""
    content = message.content
    if message.type == "event" or not is_bare_around(message) or not is_bare(content):
        return False
    return message.type == derive_type(content.parts)


def is_open(call: ToolCallPart) -> bool:
    """Whether a call has an input and no more than that."""
    waits = call.state == "input-available" and call.output is None
    return waits and call.input is not UNSET and is_bare_call(call)


def plain_result(call: ToolCallPart) -> Json:
    """What came of a call that has no more than an input and a text or other JSON; else `UNSET`."""
    output = call.output
    if call.state != "output-available" or call.input is UNSET or not is_bare_call(call):
        return UNSET
    if type(output) is TextOutput:
        return output.value if output.provider_metadata is None and output.extra is None else UNSET
    if type(output) is JsonOutput and type(output.value) is not str:
        return output.value if output.provider_metadata is None and output.extra is None else UNSET
    return UNSET
