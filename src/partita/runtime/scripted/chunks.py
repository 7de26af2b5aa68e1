"""A step of a script → the chunks that a model would stream for it, in pieces of a few words."""

import re
from collections.abc import Iterator

from msgspec import UNSET

from partita.types.chunks import (
    Chunk,
    FileChunk,
    MessageFinish,
    MessageStart,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    SourceUrlChunk,
    StepFinish,
    StepStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolInputAvailable,
    ToolInputDelta,
    ToolInputStart,
)
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, dumps
from partita.types.messages import AssistantPart, ToolCallPart
from partita.types.parts import FilePart, ReasoningPart, SourceUrlPart, TextPart

from .script import Step

PIECE = re.compile(r"\S+\s*|\s+")


def chunks_of(step: Step, call_ids: Iterator[str]) -> Iterator[Chunk]:
    """All chunks of one answer. A call whose id is empty gets the next of `call_ids`."""
    yield MessageStart()
    yield StepStart()
    for number, part in enumerate(step.parts):
        yield from _part(part, str(number), call_ids)
    if step.error is None:
        calls = any(isinstance(part, ToolCallPart) for part in step.parts)
        reason = step.finish_reason or ("tool-calls" if calls else "stop")
        said: JsonObject = {"finishReason": reason}
        if step.usage is not None:
            said["usage"] = to_json(step.usage)
        yield StepFinish()
        yield MessageFinish(reason, said)


def _part(part: AssistantPart, id: str, call_ids: Iterator[str]) -> Iterator[Chunk]:
    match part:
        case TextPart():
            yield TextStart(id, part.provider_metadata)
            yield from (TextDelta(id, piece) for piece in PIECE.findall(part.text))
            yield TextEnd(id, citations=part.citations)
        case ReasoningPart():
            yield ReasoningStart(id, part.provider_metadata)
            yield from (ReasoningDelta(id, piece) for piece in PIECE.findall(part.text))
            yield ReasoningEnd(id)
        case ToolCallPart():
            call_id = part.id or next(call_ids)
            given: Json = {} if part.input is UNSET else part.input
            yield ToolInputStart(call_id, part.name)
            yield from (ToolInputDelta(call_id, piece) for piece in PIECE.findall(dumps(given).decode()))
            yield ToolInputAvailable(call_id, part.name, given, provider_metadata=part.call_provider_metadata)
        case SourceUrlPart():
            yield SourceUrlChunk(part.source_id, part.url, part.title, part.provider_metadata)
        case FilePart():
            yield FileChunk(part.url, part.media_type, part.provider_metadata)
        case _:
            pass
