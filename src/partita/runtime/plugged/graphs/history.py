"""Our messages → messages of LangChain. Lost: reasoning, sources, data, calls that a provider ran."""

from collections.abc import Iterable, Sequence
from typing import Any, assert_never

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.messages import SystemMessage as ModelSystemMessage
from langchain_core.messages import ToolMessage as ModelToolMessage
from msgspec import UNSET
from msgspec.structs import replace

from partita.formats.answers.model_view import model_view
from partita.types.json import JsonObject, dumps, is_object
from partita.types.messages import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolCallPart,
    ToolMessage,
    UserMessage,
    UserPart,
    text_of,
)
from partita.types.parts import FilePart, ImagePart, ReasoningFilePart, TextPart
from partita.types.tools import (
    ContentItem,
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    InterruptedOutput,
    JsonOutput,
    TextOutput,
    ToolOutput,
    ToolResultPart,
)

from .interrupts import interrupt_id

BASE64 = ";base64,"
KINDS = ("image", "audio", "video")
DENIED = "The call was not allowed."
INTERRUPTED = "The call was interrupted."


def history_of(messages: Sequence[Message]) -> list[BaseMessage]:
    """The whole talk. Interrupts are no talk."""
    view = model_view([_without_interrupts(message) for message in messages]).messages
    return [made for message in view for made in _messages(message)]


def _without_interrupts(message: Message) -> Message:
    if not isinstance(message, AssistantMessage):
        return message
    kept = tuple(
        part
        for part in message.parts
        if not (isinstance(part, ToolCallPart) and interrupt_id(part) is not None)
    )
    return replace(message, content=replace(message.content, parts=kept))


def _messages(message: Message) -> list[BaseMessage]:
    match message:
        case SystemMessage():
            return [ModelSystemMessage(text_of(message), id=message.id)]
        case UserMessage():
            return [HumanMessage(_content(message.parts), id=message.id)]
        case AssistantMessage():
            return [_answer(message)]
        case ToolMessage():
            return [_result(part) for part in message.parts if isinstance(part, ToolResultPart)]
        case _:
            assert_never(message)


def _answer(message: AssistantMessage) -> AIMessage:
    calls = [part for part in message.parts if isinstance(part, ToolCallPart) and not part.provider_executed]
    made: list[Any] = [
        {
            "type": "tool_call",
            "id": call.id,
            "name": call.name,
            "args": call.input if is_object(call.input) else {},
        }
        for call in calls
        if call.input is not UNSET
    ]
    return AIMessage(text_of(message), tool_calls=made)


def _result(part: ToolResultPart) -> ModelToolMessage:
    content, is_error = _output(part.output)
    status = "error" if is_error else "success"
    return ModelToolMessage(content, tool_call_id=part.id, name=part.name, status=status)


def _output(output: ToolOutput) -> tuple[Any, bool]:
    match output:
        case TextOutput():
            return output.value, False
        case JsonOutput():
            return dumps(output.value).decode(), False
        case ContentOutput():
            return _content(output.value), False
        case ErrorTextOutput():
            return output.value, True
        case ErrorJsonOutput():
            return dumps(output.value).decode(), True
        case ExecutionDeniedOutput():
            return output.reason or DENIED, True
        case InterruptedOutput():
            return output.message or INTERRUPTED, True
        case _:
            assert_never(output)


def _content(parts: Iterable[UserPart | ContentItem]) -> Any:
    blocks: list[JsonObject] = []
    for part in parts:
        match part:
            case TextPart():
                blocks.append({"type": "text", "text": part.text})
            case ImagePart():
                blocks.append(_file(part.url, part.media_type or "image/*"))
            case FilePart() | ReasoningFilePart():
                blocks.append(_file(part.url, part.media_type))
            case _:
                pass
    only = blocks[0] if len(blocks) == 1 else {}
    return only.get("text", blocks)


def _file(url: str, media_type: str) -> JsonObject:
    kind = media_type.partition("/")[0]
    block: JsonObject = {"type": kind if kind in KINDS else "file"}
    if url.startswith("data:") and BASE64 in url:
        head, _, data = url.partition(BASE64)
        return {**block, "base64": data, "mime_type": head.removeprefix("data:") or media_type}
    return {**block, "url": url, "mime_type": media_type}
