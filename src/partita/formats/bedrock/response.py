"""Bodies of Amazon Bedrock Converse, and its finish reasons.

Wire: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html#API_runtime_Converse_ResponseSyntax
"""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from partita.formats.answers.outlet import INTERRUPTED
from partita.formats.core.last_step import NO_OUTPUT
from partita.formats.core.metadata import notes
from partita.formats.core.report import Place, Report
from partita.formats.core.response import (
    ERRORS,
    Body,
    Responses,
    metadata,
    metadata_of,
    raw_reason,
    usage_of,
)
from partita.formats.core.turns import Placed
from partita.formats.core.wire import read_wire
from partita.types.json import JsonObject, is_object
from partita.types.messages import AssistantMessage
from partita.types.value import Extra

from . import wire
from .blocks import is_written, read_blocks, write_blocks
from .stream import REASONS, USAGE, BedrockDecoder, error_text, read_usage
from .wire import NAME

STOPS: Final[Mapping[str, str]] = {
    "stop": "end_turn",
    "tool-calls": "tool_use",
    "length": "max_tokens",
    "content-filter": "content_filtered",
    "error": "malformed_model_output",
}
"""Stop reasons for the finish reasons of other providers."""


def _read_body(body: JsonObject) -> Body:
    response: wire.Response = read_wire(wire.RESPONSE, body, "$", "give a body or its events")
    inner = response.output.message
    parts = read_blocks([block for block in inner.content if is_object(block)], "assistant", {})
    said: JsonObject = dict(response.extra or {})
    stop = response.stop_reason
    reason = INTERRUPTED if stop is None else REASONS.get(stop, "other")
    usage = read_usage(response.usage) if is_object(response.usage) else None
    bare = replace(response, output=replace(response.output, message=replace(inner, content=[])))
    return Body(bare, parts, metadata(reason, stop, usage, {NAME: said} if said else {}))


def _write_body(message: AssistantMessage, blocks: Sequence[JsonObject]) -> wire.Response:
    said = {key: item for key, item in notes(metadata_of(message), NAME).items() if key != ERRORS}
    default = "tool_use" if any("toolUse" in block for block in blocks) else "end_turn"
    return wire.Response(
        output=wire.Output(message=wire.Message(role="assistant", content=list(blocks))),
        stop_reason=raw_reason(message, REASONS, STOPS, default),
        usage=USAGE.write(usage_of(message)),
        extra=Extra(said) if said else None,
    )


def _write_parts(
    parts: Sequence[Placed], text: str | None
) -> tuple[list[JsonObject], Sequence[Place | None]]:
    blocks, places = write_blocks(parts, "assistant")
    return (blocks if text is None else [*blocks, {"text": text}]), places


RESPONSES: Final = Responses(
    Report(
        NAME,
        default="a body has no place for it",
        reasons={
            "output": NO_OUTPUT,
            "id": "responses have no id",
            "usage": "Bedrock has other names for it",
        },
    ),
    BedrockDecoder,
    is_body=lambda payload: "output" in payload,
    error_text=error_text,
    read_body=_read_body,
    write_body=_write_body,
    write_parts=_write_parts,
    is_written=is_written,
    required=("finishReason", "usage"),
)
