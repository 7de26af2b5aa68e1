"""Outputs of tools that the client ran → `tool_result` blocks."""

from typing import Final, assert_never

from partita.formats.losses import Loss
from partita.types.json import JsonObject, dumps
from partita.types.parts import FilePart, ForeignPart, ImagePart, TextPart, UnknownPart
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

from .media import media_block
from .names import id_of
from .words import ANTHROPIC, BLOCKS, FORM, beside_text, fields_of, own_of

DENIED: Final = "The user did not allow this call."
UNANSWERED: Final = "This call was never answered."
NOT_TAKEN: Final = "the API takes no such content in a result"


def result_block(result: ToolResultPart, path: str, losses: list[Loss]) -> JsonObject:
    """The block of a result."""
    own = own_of(result.provider_metadata) or {}
    said = _said(result.output, path, losses, is_list=own.get(FORM) == BLOCKS)
    return {"type": "tool_result", "tool_use_id": id_of(result.id), **said, **fields_of(own)}


def missing_block(call_id: str) -> JsonObject:
    """The block that stands for the result of a call that has none: the API insists on one."""
    return {"type": "tool_result", "tool_use_id": id_of(call_id), "content": UNANSWERED, "is_error": True}


def _said(output: ToolOutput, path: str, losses: list[Loss], *, is_list: bool = False) -> JsonObject:
    match output:
        case ErrorTextOutput(value=text) if is_list and text:
            return {"content": [{"type": "text", "text": text}], "is_error": True}
        case ErrorJsonOutput(value=value) if is_list:
            return {**_content(value), "is_error": True}
        case TextOutput(value=text):
            return _content(text)
        case JsonOutput(value=value):
            return _content(dumps(value).decode())
        case ErrorTextOutput(value=text):
            return {**_content(text), "is_error": True}
        case ErrorJsonOutput(value=value):
            return {**_content(dumps(value).decode()), "is_error": True}
        case ExecutionDeniedOutput(reason=reason):
            return _content(reason or DENIED)
        case ContentOutput(value=items):
            found = [_item(item, f"{path}.output.value[{index}]", losses) for index, item in enumerate(items)]
            return _content([block for block in found if block is not None])
        case InterruptedOutput(reason=reason, message=message):
            words = f"This call was interrupted: {reason}{f', {message}' if message else ''}."
            return {**_content(words), "is_error": True}
        case _:
            assert_never(output)


def _content(content: str | list[JsonObject]) -> JsonObject:
    """Content, unless there is none: the API takes a missing one, and no empty one."""
    return {"content": content} if content else {}


def _item(item: ContentItem, path: str, losses: list[Loss]) -> JsonObject | None:
    match item:
        case TextPart(text=text):
            own = own_of(item.provider_metadata) or {}
            return {"type": "text", "text": text, **beside_text(own)} if text.strip() else None
        case ImagePart() | FilePart():
            block = media_block(item)
            if not isinstance(block, str):
                return block
            losses.append(Loss.of(path, item, block))
        case ForeignPart(format=format, value={"type": str(), **rest}) if format == ANTHROPIC and rest:
            return dict(item.value)
        case ForeignPart() | UnknownPart():
            losses.append(Loss.of(path, item, NOT_TAKEN))
        case _:
            assert_never(item)
    return None
