"""Bodies of the Messages API, and their stop reasons."""

from collections.abc import Sequence
from typing import Any, Final

from msgspec.structs import replace

from partita.formats.core.anthropic_response import FINISH_REASONS
from partita.formats.core.response import About, Body, Responses
from partita.formats.core.server_tools import BEHIND
from partita.formats.events import UNNAMED

from . import wire
from .parts import BLOCKS, read_blocks
from .stream import EVENTS, SAID, AnthropicDecoder, error_text
from .usage import USAGE, read_usage
from .wire import NAME


def _read_body(response: wire.Response) -> Body:
    return Body(
        replace(response, content=()),
        read_blocks(response.content, response.id or UNNAMED),
        response.stop_reason,
        response.id,
        response.model,
        {"stop_sequence": response.stop_sequence},
    )


def _write_body(about: About, blocks: Sequence[Any]) -> wire.Response:
    stop_sequence = about.said.pop("stop_sequence", None)
    return wire.Response(
        id=about.id or about.message.id,
        model=about.model or "",
        content=tuple(blocks),
        stop_reason=about.stop,
        stop_sequence=stop_sequence,
        usage=about.usage,
        extra=about.extra,
    )


RESPONSES: Final = Responses(
    NAME,
    AnthropicDecoder,
    wire.RESPONSE,
    is_body=lambda payload: payload.get("type") == "message",
    is_event=lambda payload: str(payload.get("type")) in EVENTS and payload["type"] != "error",
    error_text=lambda payload: error_text(payload["error"]) if "error" in payload else None,
    read_body=_read_body,
    write_body=_write_body,
    blocks=BLOCKS,
    required=("model", "responseId", "finishReason", "usage"),
    finish_reasons=FINISH_REASONS,
    other_reasons={"error": None},
    usage=USAGE,
    read_usage=read_usage,
    names=SAID,
    spelling=frozenset({BEHIND}),
)
