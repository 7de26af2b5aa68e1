"""The chunks of a UI message stream, type by type. Chunks are loose: extra members are accepted."""

from collections.abc import Callable
from typing import Final, NamedTuple

from partita.types.json import JsonObject

from .schema_checks import ANY, BOOLEAN, NOTHING, Kind, Problem, one_of, shown
from .schema_fields import (
    CITATIONS,
    INPUT_ENCODING,
    JSON_OBJECT,
    PROVIDER_METADATA,
    STEERING_PARTS,
    Field,
    may,
    members,
    need,
)


class Chunk(NamedTuple):
    """The members of one type of chunk, and the first version that knows the type."""

    fields: tuple[Field, ...] = ()
    since: int = 5


_REASONS = ("stop", "length", "content-filter", "tool-calls", "error", "other")
_OPTIONS: Final = may("providerMetadata", PROVIDER_METADATA)
_OPTIONS_6: Final = may("providerMetadata", PROVIDER_METADATA, since=6)
_BLOCK: Final = (need("id"), _OPTIONS)
_DELTA: Final = (need("id"), need("delta"), _OPTIONS)
_CALL: Final = (
    need("toolCallId"),
    may("providerExecuted", BOOLEAN),
    may("dynamic", BOOLEAN),
    may("toolMetadata", JSON_OBJECT, since=6),
)
_NAMED_CALL: Final = (*_CALL, need("toolName"), may("title", since=6))
_FILE: Final = (need("url"), need("mediaType"), _OPTIONS)

CHUNKS: Final[dict[str, Chunk]] = {
    "start": Chunk((may("messageId"), may("messageMetadata", ANY))),
    "start-step": Chunk(),
    "finish-step": Chunk(),
    "reset-step": Chunk(since=7),
    "finish": Chunk(
        (
            may("finishReason", one_of(*_REASONS, "unknown"), until=5),
            may("finishReason", one_of(*_REASONS), since=6, until=6),
            may("finishReason", one_of(*_REASONS, "interrupted"), since=7),
            may("messageMetadata", ANY),
        )
    ),
    "abort": Chunk((may("reason", since=6),)),
    "error": Chunk((need("errorText"),)),
    "message-metadata": Chunk((need("messageMetadata", ANY),)),
    "text-start": Chunk(_BLOCK),
    "text-delta": Chunk(_DELTA),
    "text-end": Chunk((*_BLOCK, may("citations", CITATIONS, since=7))),
    "reasoning-start": Chunk(_BLOCK),
    "reasoning-delta": Chunk(_DELTA),
    "reasoning-end": Chunk(_BLOCK),
    "file": Chunk(_FILE),
    "reasoning-file": Chunk(_FILE, since=7),
    "source-url": Chunk((need("sourceId"), need("url"), may("title"), _OPTIONS)),
    "source-document": Chunk((need("sourceId"), need("mediaType"), need("title"), may("filename"), _OPTIONS)),
    "custom": Chunk((need("kind"), _OPTIONS), since=7),
    "steering-message": Chunk((need("id"), need("parts", STEERING_PARTS)), since=7),
    "tool-input-start": Chunk((*_NAMED_CALL, _OPTIONS_6, may("inputEncoding", INPUT_ENCODING, since=6))),
    "tool-input-delta": Chunk((need("toolCallId"), need("inputTextDelta"))),
    "tool-input-available": Chunk((*_NAMED_CALL, need("input", ANY), _OPTIONS)),
    "tool-input-error": Chunk((*_NAMED_CALL, need("input", ANY), need("errorText"), _OPTIONS)),
    "tool-approval-request": Chunk(
        (
            need("approvalId"),
            need("toolCallId"),
            may("approvalDescriptor", ANY),
            may("inputSchemaInput", ANY),
            may("signature"),
            may("reason", since=7),
            may("isAutomatic", BOOLEAN, since=7),
        ),
        since=6,
    ),
    "tool-approval-response": Chunk(
        (
            need("approvalId"),
            need("approved", BOOLEAN),
            may("reason"),
            may("providerExecuted", BOOLEAN),
            _OPTIONS,
        ),
        since=7,
    ),
    "tool-output-available": Chunk((*_CALL, need("output", ANY), may("preliminary", BOOLEAN), _OPTIONS_6)),
    "tool-output-error": Chunk((*_CALL, need("errorText"), _OPTIONS_6)),
    "tool-output-denied": Chunk((need("toolCallId"),), since=6),
}
DATA_CHUNK: Final = (need("data", ANY), may("id"), may("transient", BOOLEAN))


def chunk_pick(version: int) -> Callable[[JsonObject], Kind | Problem]:
    """Choose the kind of a chunk by its type, as a client of that version knows it."""
    kinds = {name: members(chunk.fields, version) for name, chunk in CHUNKS.items() if chunk.since <= version}
    data = members(DATA_CHUNK, version)

    def pick(chunk: JsonObject) -> Kind | Problem:
        type_ = chunk.get("type")
        if isinstance(type_, str):
            kind = data if type_.startswith("data-") else kinds.get(type_)
            if kind is not None:
                return kind
        found = shown(type_) if "type" in chunk else NOTHING
        return Problem("type", f"a chunk type that version {version} knows", found)

    return pick
