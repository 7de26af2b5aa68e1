"""Bodies of the Messages API, and their stop reasons."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from partita.formats.core.report import Place
from partita.formats.core.response import (
    Body,
    Responses,
    metadata_of,
    raw_reason,
    said_of,
    usage_of,
)
from partita.formats.core.server_tools import BEHIND
from partita.formats.core.turns import Placed
from partita.formats.events import UNNAMED
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import AssistantMessage
from partita.types.value import Extra

from . import wire
from .parts import is_written, read_blocks, write_blocks
from .server_tools import inverse, renamed
from .stream import EVENTS, REASONS, SAID, AnthropicDecoder, error_text
from .usage import read_usage, write_usage
from .wire import NAME

STOPS: Final[Mapping[str, str | None]] = {
    "stop": "end_turn",
    "tool-calls": "tool_use",
    "length": "max_tokens",
    "content-filter": "refusal",
    "error": None,
}
"""Stop reasons for the finish reasons of other providers."""


def _read_body(body: JsonObject) -> Body:
    response = wire.RESPONSE.read(body)
    said = {SAID.get(key, key): item for key, item in (response.extra or {}).items() if item is not None}
    if isinstance(response.stop_sequence, str):
        said[SAID["stop_sequence"]] = response.stop_sequence
    return Body(
        replace(response, content=()),
        read_blocks(response.content, response.id or UNNAMED),
        response.stop_reason,
        read_usage(response.usage) if is_object(response.usage) else None,
        said,
        response.id,
        response.model,
    )


def _write_body(message: AssistantMessage, blocks: Sequence[Any]) -> wire.Response:
    about = metadata_of(message)
    said: Any = renamed(said_of(message, NAME), inverse(SAID))
    stop_sequence = said.pop("stop_sequence", None)
    name, model = about.get("responseId"), about.get("model")
    default = "tool_use" if any(isinstance(block, wire.ToolUse) for block in blocks) else "end_turn"
    return wire.Response(
        id=name if isinstance(name, str) and name else message.id,
        model=model if isinstance(model, str) else "",
        content=tuple(blocks),
        stop_reason=raw_reason(message, REASONS, STOPS, default),
        stop_sequence=stop_sequence,
        usage=write_usage(usage_of(message)),
        extra=Extra(said) if said else None,
    )


def _write_parts(parts: Sequence[Placed], text: str | None) -> tuple[list[Json], Sequence[Place | None]]:
    return write_blocks(parts, None, text)


RESPONSES: Final = Responses(
    NAME,
    AnthropicDecoder,
    is_body=lambda payload: payload.get("type") == "message",
    is_event=lambda payload: str(payload.get("type")) in EVENTS and payload["type"] != "error",
    error_text=lambda payload: error_text(payload["error"]) if "error" in payload else None,
    read_body=_read_body,
    write_body=_write_body,
    write_parts=_write_parts,
    is_written=is_written,
    required=("model", "responseId", "finishReason", "usage"),
    finish_reasons=REASONS,
    spelling=frozenset({BEHIND}),
)
