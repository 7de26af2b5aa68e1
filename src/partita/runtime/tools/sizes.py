"""Outputs of any size → outputs that a message can hold and a model can read."""

from typing import assert_never

from msgspec.structs import replace

from partita.types.codec import encode
from partita.types.json import dumps
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
)

OUTPUT_LIMIT = 10_000_000
"""Characters of one output, unless said otherwise."""


def shortened(output: ToolOutput, limit: int = OUTPUT_LIMIT) -> ToolOutput:
    """The output, or if it is longer than `limit` characters its head and its tail, and what is between."""
    match output:
        case TextOutput() | ErrorTextOutput():
            return replace(output, value=cut(output.value, limit)) if len(output.value) > limit else output
        case JsonOutput() | ErrorJsonOutput():
            return _shortened_json(output, limit)
        case ContentOutput():
            return _shortened_content(output, limit)
        case ExecutionDeniedOutput(reason=str(reason)) if len(reason) > limit:
            return replace(output, reason=cut(reason, limit))
        case InterruptedOutput(message=str(message)) if len(message) > limit:
            return replace(output, message=cut(message, limit))
        case ExecutionDeniedOutput() | InterruptedOutput():
            return output
        case _:
            assert_never(output)


def cut(text: str, limit: int) -> str:
    """`limit` characters of a text: its head, how many were left out, its tail."""
    if len(text) <= limit:
        return text
    head, tail = (limit + 1) // 2, limit // 2
    return f"{text[:head]}\n… {len(text) - limit} characters left out …\n{text[len(text) - tail :]}"


def _shortened_json(output: JsonOutput | ErrorJsonOutput, limit: int) -> ToolOutput:
    """JSON that is cut is JSON no more: its text is kept."""
    data = dumps(output.value)
    if len(data) <= limit or len(text := data.decode()) <= limit:
        return output
    type_ = TextOutput if isinstance(output, JsonOutput) else ErrorTextOutput
    return type_(cut(text, limit), provider_metadata=output.provider_metadata)


def _shortened_content(output: ContentOutput, limit: int) -> ContentOutput:
    """The items that have room, in order; a text is cut, half an image would be none."""
    if sum(map(_length, output.value)) <= limit:
        return output
    kept: list[ContentItem] = []
    room, items, characters = limit, 0, 0
    for item in output.value:
        length = _length(item)
        if length <= room:
            kept.append(item)
            room -= length
        elif isinstance(item, TextPart) and room:
            kept.append(TextPart(cut(item.text, room)))
            room = 0
        else:
            items, characters = items + 1, characters + length
    if items:
        kept.append(TextPart(f"… {items} parts left out, {characters} characters …"))
    return replace(output, value=tuple(kept))


def _length(item: ContentItem) -> int:
    match item:
        case TextPart(text=text):
            return len(text)
        case ImagePart(url=url) | FilePart(url=url):
            return len(url)
        case ForeignPart() | UnknownPart():
            return len(encode(item))
        case _:
            assert_never(item)
