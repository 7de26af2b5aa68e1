"""The fields of every chunk type, and single chunks with these fields."""

from collections.abc import Mapping
from functools import cache
from typing import TypeAlias

from hypothesis import strategies as st

from partita.types.json import Json, JsonObject

from .strategies_json import (
    json_objects,
    json_texts,
    json_values,
    provider_metadata,
    records,
    texts,
    whole_json_texts,
)

Fields: TypeAlias = dict[str, st.SearchStrategy[Json]]

MESSAGE_IDS = ("msg-1", "msg-2", "")
BLOCK_IDS = ("t0", "0", "", "toString", "__proto__", "ключ")
CALL_IDS = ("call-1", "call-2", "call-3", "__proto__")
TOOL_NAMES = ("weather", "get-time", "search_web", "readFile")
DATA_NAMES = ("progress", "chart", "")
DATA_IDS = ("d1", "d2", "")
MEDIA_TYPES = ("text/plain", "image/png", "image/*", "application/json")
URLS = ("https://example.com/a.png", "data:text/plain;base64,aGk=", "https://example.com/b?c=d#e")
FINISH_REASONS = {
    5: ("stop", "length", "content-filter", "tool-calls", "error", "other", "unknown"),
    6: ("stop", "length", "content-filter", "tool-calls", "error", "other"),
    7: ("stop", "length", "content-filter", "tool-calls", "error", "other", "interrupted"),
}


def maybe(fields: Mapping[str, st.SearchStrategy[Json]]) -> st.SearchStrategy[JsonObject]:
    """Some of the fields, often none."""
    return records({}, fields, bare=True)


@cache
def citations() -> st.SearchStrategy[list[JsonObject]]:
    """Citations of a text block."""
    url = {"sourceType": "url", "id": "s1", "url": URLS[0]}
    document = {"sourceType": "document", "id": "s2", "mediaType": "text/plain", "title": "Notes"}
    source = st.sampled_from(({"type": "source", **url}, {"type": "source", **document}))
    place = {"startIndex": st.integers(0, 9), "endIndex": st.integers(0, 99), "citedText": texts()}
    return st.lists(records({"source": source}, place), max_size=2)


@cache
def steering_parts() -> st.SearchStrategy[list[JsonObject]]:
    """Parts of a steering message."""
    extras = {"providerMetadata": provider_metadata()}
    text = records({"type": st.just("text"), "text": texts()}, extras)
    file = records(
        {"type": st.just("file"), "url": st.sampled_from(URLS), "mediaType": st.sampled_from(MEDIA_TYPES)},
        {**extras, "filename": texts(), "providerReference": st.just({"openai": "file-1"})},
    )
    return st.lists(text | file, max_size=2)


_METADATA = {"providerMetadata": provider_metadata()}
_FLAGS = {"providerExecuted": st.booleans()}
_TOOL = {**_METADATA, **_FLAGS, "title": texts(), "toolMetadata": json_objects(2)}

# Optional fields by chunk type, those of release 7. Older releases accept newer fields as unknown ones,
# so every release gets all of them.
OPTIONAL: dict[str, Fields] = {
    "start-step": {"extra": json_values(1)},
    "finish-step": {"extra": json_values(1)},
    "reset-step": {},
    "abort": {"reason": texts()},
    "error": {"extra": json_values(1)},
    "text-start": _METADATA,
    "text-delta": _METADATA,
    "text-end": {**_METADATA, "citations": citations()},
    "reasoning-start": _METADATA,
    "reasoning-delta": _METADATA,
    "reasoning-end": _METADATA,
    "file": {**_METADATA, "filename": texts()},
    "reasoning-file": _METADATA,
    "source-url": {**_METADATA, "title": texts()},
    "source-document": {**_METADATA, "filename": texts()},
    "custom": _METADATA,
    "steering-message": {},
    "tool-input-delta": {},
    "tool-input-start": _TOOL,
    "tool-input-available": _TOOL,
    "tool-input-error": _TOOL,
    "tool-approval-request": {
        "signature": texts(),
        "approvalDescriptor": json_values(2),
        "inputSchemaInput": json_values(2),
        "isAutomatic": st.booleans(),
        "reason": texts(),
    },
    "tool-approval-response": {**_METADATA, **_FLAGS, "reason": texts()},
    "tool-output-available": {**_METADATA, **_FLAGS, "toolMetadata": json_objects(2)},
    "tool-output-error": {**_METADATA, **_FLAGS, "toolMetadata": json_objects(2)},
    "tool-output-denied": {"extra": json_values(1)},
}


# Required fields by chunk type, for single chunks. In a stream the writer chooses them.
_BLOCK = {"id": st.sampled_from(BLOCK_IDS)}
_CALL = {"toolCallId": st.sampled_from(CALL_IDS)}
_NAMED_CALL = {**_CALL, "toolName": st.sampled_from(TOOL_NAMES)}
_FILE = {"url": st.sampled_from(URLS), "mediaType": st.sampled_from(MEDIA_TYPES)}
_APPROVAL = {"approvalId": texts()}
REQUIRED: dict[str, Fields] = {
    "error": {"errorText": texts()},
    "text-start": _BLOCK,
    "text-delta": {**_BLOCK, "delta": texts()},
    "text-end": _BLOCK,
    "reasoning-start": _BLOCK,
    "reasoning-delta": {**_BLOCK, "delta": texts()},
    "reasoning-end": _BLOCK,
    "file": _FILE,
    "reasoning-file": _FILE,
    "source-url": {"sourceId": texts(), "url": st.sampled_from(URLS)},
    "source-document": {"sourceId": texts(), "title": texts(), "mediaType": st.sampled_from(MEDIA_TYPES)},
    "custom": {"kind": texts()},
    "steering-message": {"id": texts(), "parts": steering_parts()},
    "tool-input-start": _NAMED_CALL,
    "tool-input-delta": {**_CALL, "inputTextDelta": texts()},
    "tool-input-available": {**_NAMED_CALL, "input": json_values(2)},
    "tool-input-error": {**_NAMED_CALL, "input": json_values(2), "errorText": texts()},
    "tool-approval-request": {**_CALL, **_APPROVAL},
    "tool-approval-response": {**_APPROVAL, "approved": st.booleans()},
    "tool-output-available": {**_CALL, "output": json_values(2)},
    "tool-output-error": {**_CALL, "errorText": texts()},
    "tool-output-denied": _CALL,
}


@cache
def single_chunks(version: int) -> st.SearchStrategy[JsonObject]:
    """A chunk of any type, mostly with optional fields; older releases refuse some types."""
    finish: Fields = {
        "finishReason": st.sampled_from(FINISH_REASONS[version]),
        "messageMetadata": json_values(2),
    }
    optional = {
        **OPTIONAL,
        "start": {"messageId": texts(), "messageMetadata": json_values(2)},
        "finish": finish,
        "message-metadata": {},
        "data-progress": {"id": texts(), "transient": st.booleans()},
    }
    required: dict[str, Fields] = {
        **REQUIRED,
        "message-metadata": {"messageMetadata": json_values(2)},
        "data-progress": {"data": json_values(2)},
    }
    kinds = [
        records({"type": st.just(kind), **required.get(kind, {})}, fields)
        for kind, fields in optional.items()
    ]
    return st.one_of(kinds)


@cache
def optional_fields(type: str) -> st.SearchStrategy[JsonObject]:
    """Some of the optional fields of a chunk type, sometimes."""
    return maybe(OPTIONAL[type])


@cache
def message_metadata() -> st.SearchStrategy[Json]:
    """Metadata of a message: mostly an object."""
    return st.one_of(json_objects(), json_objects(), json_values(2))


@cache
def metadata_fields() -> st.SearchStrategy[JsonObject]:
    """Message metadata, or none."""
    return maybe({"messageMetadata": message_metadata()})


@cache
def finish_fields(version: int) -> st.SearchStrategy[JsonObject]:
    """A finish reason of the release, or none."""
    return maybe({"finishReason": st.sampled_from(FINISH_REASONS[version])})


@cache
def data_fields() -> st.SearchStrategy[JsonObject]:
    """Fields of a data chunk besides its data."""
    return maybe({"id": st.sampled_from(DATA_IDS), "transient": st.booleans(), "extra": texts()})


@cache
def kind_fields() -> st.SearchStrategy[JsonObject]:
    """A flag that newer releases ignore."""
    return maybe({"dynamic": st.booleans()})


@cache
def input_texts() -> st.SearchStrategy[str]:
    """Texts of tool input: mostly JSON, also broken JSON and plain text."""
    return st.one_of(whole_json_texts(), whole_json_texts(), json_texts(), texts())
