"""Bodies of Cohere's chat API, its finish reasons and its usage."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import UNSET
from msgspec.structs import replace

from partita.formats.core.metadata import message_notes, notes
from partita.formats.core.report import Place
from partita.formats.core.residue import restore
from partita.formats.core.response import Body, Responses, metadata_of, raw_reason, said_of, usage_of
from partita.formats.core.turns import Placed
from partita.formats.core.wire import read_wire
from partita.types.json import JsonObject, is_object
from partita.types.messages import AssistantMessage
from partita.types.value import Extra

from . import wire
from .parts import FIELDS, is_written, read_assistant, write_assistant
from .stream import EVENTS, REASONS, CohereDecoder, read_usage, write_usage
from .wire import NAME

STOPS: Final[Mapping[str, str]] = {
    "stop": "COMPLETE",
    "tool-calls": "TOOL_CALL",
    "length": "MAX_TOKENS",
    "content-filter": "ERROR",
    "error": "ERROR",
}
"""Finish reasons of the API for those of other providers."""

MESSAGE: Final = "message"
"""The note of the residue of the message in a body."""


def _read_body(body: JsonObject) -> Body:
    response: wire.Response = read_wire(wire.RESPONSE, body, "$", "give a body or its events")
    parts, noted = read_assistant(response.message)
    kept = notes(noted, FIELDS)
    return Body(
        replace(response, message=wire.Assistant()),
        parts,
        response.finish_reason if isinstance(response.finish_reason, str) else None,
        read_usage(response.usage) if is_object(response.usage) else None,
        dict(response.extra or {}),
        response.id if isinstance(response.id, str) else None,
        noted={MESSAGE: kept} if kept else {},
    )


def _write_body(message: AssistantMessage, written: wire.Assistant) -> wire.Response:
    said, id_ = said_of(message, NAME), metadata_of(message).get("responseId")
    return wire.Response(
        id=id_ if isinstance(id_, str) else UNSET,
        finish_reason=raw_reason(message, REASONS, STOPS, "TOOL_CALL" if written.tool_calls else "COMPLETE"),
        message=restore(written, notes(message_notes(message, NAME), MESSAGE)),
        usage=write_usage(usage_of(message)),
        extra=Extra(said) if said else None,
    )


def _write_parts(parts: Sequence[Placed], text: str | None) -> tuple[Any, Sequence[Place | None]]:
    return write_assistant(parts, is_request=False, text=text)


def _error_text(payload: JsonObject) -> str | None:
    text = payload.get("message")
    return text if isinstance(text, str) else None


RESPONSES: Final = Responses(
    NAME,
    CohereDecoder,
    is_body=lambda payload: is_object(payload.get("message")),
    is_event=lambda payload: str(payload.get("type")) in EVENTS,
    error_text=_error_text,
    read_body=_read_body,
    write_body=_write_body,
    write_parts=_write_parts,
    is_written=is_written,
    required=("responseId", "finishReason", "usage"),
    finish_reasons=REASONS,
)
