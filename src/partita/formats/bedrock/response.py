"""Bodies of Amazon Bedrock Converse.

Wire: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html#API_runtime_Converse_ResponseSyntax
"""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from partita.formats.core.report import Place
from partita.formats.core.response import Body, Responses, raw_reason, said_of, usage_of
from partita.formats.core.turns import Placed
from partita.formats.core.wire import read_wire
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import AssistantMessage
from partita.types.value import Extra

from . import wire
from .parts import is_written, read_blocks, write_blocks
from .stream import EVENTS, REASONS, USAGE, BedrockDecoder, error_text, read_usage
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
    return Body(
        replace(response, output=replace(response.output, message=replace(inner, content=[]))),
        read_blocks([block for block in inner.content if is_object(block)], "assistant", {}),
        response.stop_reason,
        read_usage(response.usage) if is_object(response.usage) else None,
        dict(response.extra or {}),
    )


def _write_body(message: AssistantMessage, blocks: Sequence[Json]) -> wire.Response:
    said = said_of(message, NAME)
    default = "tool_use" if any("toolUse" in block for block in blocks) else "end_turn"
    return wire.Response(
        output=wire.Output(message=wire.Message(role="assistant", content=list(blocks))),
        stop_reason=raw_reason(message, REASONS, STOPS, default),
        usage=USAGE.write(usage_of(message)),
        extra=Extra(said) if said else None,
    )


def _write_parts(parts: Sequence[Placed], text: str | None) -> tuple[list[Json], Sequence[Place | None]]:
    return write_blocks(parts, "assistant", text)


RESPONSES: Final = Responses(
    NAME,
    BedrockDecoder,
    is_body=lambda payload: "output" in payload,
    is_event=lambda payload: not EVENTS.isdisjoint(payload),
    error_text=error_text,
    read_body=_read_body,
    write_body=_write_body,
    write_parts=_write_parts,
    is_written=is_written,
    required=("finishReason", "usage"),
    finish_reasons=REASONS,
    reasons={"id": "responses have no id"},
)
