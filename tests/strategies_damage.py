"""Damaged streams: misplaced and invalid chunks."""

from collections.abc import Callable
from copy import deepcopy
from typing import TypeAlias

from hypothesis import strategies as st

from partita.types.json import Json, JsonObject, is_array, is_object

from .strategies_chunks import Track, valid_streams
from .strategies_fields import BLOCK_IDS, CALL_IDS, MESSAGE_IDS, single_chunks
from .strategies_json import json_values, texts

Damage: TypeAlias = Callable[[st.DrawFn, Track], Track]
"""A change of a stream with at least one chunk; it may change the list in place."""

ID_FIELDS = ("id", "toolCallId", "approvalId", "messageId")
UNKNOWN_TYPES = ("", "text", "data", "tool-xyz", "step-start", "finish-message", "Text-Start", "tool-output")
GHOST = "ghost"


def chunk_streams(version: int, *, valid: bool = True) -> st.SearchStrategy[Track]:
    """Streams of chunks that a release reads to the end, or such streams with a damaged structure."""
    return valid_streams(version) if valid else _damaged_streams(version)


@st.composite
def _damaged_streams(draw: st.DrawFn, version: int) -> Track:
    chunks: Track = draw(valid_streams(version))
    for _ in range(draw(st.integers(1, 3))):
        damage = draw(st.sampled_from(STRUCTURAL))
        chunks = damage(draw, chunks or [{"type": "start"}])
    return chunks


def _place(draw: st.DrawFn, chunks: Track) -> int:
    return draw(st.integers(0, len(chunks) - 1))


def _insert(draw: st.DrawFn, chunks: Track, chunk: JsonObject) -> Track:
    chunks.insert(draw(st.integers(0, len(chunks))), chunk)
    return chunks


def _drop(draw: st.DrawFn, chunks: Track) -> Track:
    del chunks[_place(draw, chunks)]
    return chunks


def _duplicate(draw: st.DrawFn, chunks: Track) -> Track:
    place = _place(draw, chunks)
    return [*chunks[:place], chunks[place], *chunks[place:]]


def _swap(draw: st.DrawFn, chunks: Track) -> Track:
    a, b = _place(draw, chunks), _place(draw, chunks)
    chunks[a], chunks[b] = chunks[b], chunks[a]
    return chunks


def _move(draw: st.DrawFn, chunks: Track) -> Track:
    chunk = chunks.pop(_place(draw, chunks))
    return _insert(draw, chunks, chunk)


def _repeat_late(draw: st.DrawFn, chunks: Track) -> Track:
    """Repeat a delta after its end, an end, or an output after the next step."""
    return [*chunks, chunks[_place(draw, chunks)]]


def _rename(draw: st.DrawFn, chunks: Track) -> Track:
    """Change the id of a chunk to that of another or an unknown block, call or approval."""
    places = [(chunk, field) for chunk in chunks for field in ID_FIELDS if field in chunk]
    if not places:
        return chunks
    chunk, field = draw(st.sampled_from(places))
    others = [other[field] for other in chunks if field in other]
    renamed = {**chunk, field: draw(st.sampled_from([GHOST, *others]))}
    return [renamed if other is chunk else other for other in chunks]


def _change_kind(draw: st.DrawFn, chunks: Track) -> Track:
    """Change a chunk of a text block to one of a reasoning block, or the reverse."""
    place = _place(draw, chunks)
    chunk = chunks[place]
    kinds = {"text": "reasoning", "reasoning": "text"}
    kind, _, event = chunk["type"].partition("-")
    chunks[place] = {**chunk, "type": f"{kinds.get(kind, kind)}-{event}"} if event else chunk
    return chunks


def _insert_unknown(draw: st.DrawFn, chunks: Track) -> Track:
    chunk = {"type": draw(st.sampled_from(UNKNOWN_TYPES)), "id": "t0", "data": draw(json_values(2))}
    return _insert(draw, chunks, chunk)


def _insert_orphan(draw: st.DrawFn, chunks: Track) -> Track:
    """Insert a chunk of a block or a call that may not exist."""
    block: JsonObject = {"id": draw(st.sampled_from((GHOST, *BLOCK_IDS)))}
    call: JsonObject = {"toolCallId": draw(st.sampled_from((GHOST, *CALL_IDS)))}
    approval: JsonObject = {"approvalId": f"approval-{call['toolCallId']}"}
    orphans: tuple[JsonObject, ...] = (
        {"type": "text-delta", **block, "delta": "x"},
        {"type": "text-end", **block},
        {"type": "reasoning-delta", **block, "delta": "x"},
        {"type": "reasoning-end", **block},
        {"type": "tool-input-delta", **call, "inputTextDelta": '{"a'},
        {"type": "tool-output-available", **call, "output": 1},
        {"type": "tool-output-available", **call, "output": 1, "dynamic": True},
        {"type": "tool-output-error", **call, "errorText": "x"},
        {"type": "tool-output-denied", **call},
        {"type": "tool-approval-request", **call, **approval},
        {"type": "tool-approval-response", **approval, "approved": True},
    )
    return _insert(draw, chunks, draw(st.sampled_from(orphans)))


def _insert_frame(draw: st.DrawFn, chunks: Track) -> Track:
    """Insert a misplaced boundary."""
    frames: tuple[JsonObject, ...] = (
        {"type": "start-step"},
        {"type": "finish-step"},
        {"type": "reset-step"},
        {"type": "finish"},
        {"type": "abort"},
        {"type": "error", "errorText": "x"},
        *({"type": "start", "messageId": message_id} for message_id in MESSAGE_IDS),
    )
    return _insert(draw, chunks, draw(st.sampled_from(frames)))


def _insert_metadata(draw: st.DrawFn, chunks: Track) -> Track:
    """Insert metadata that cannot be merged."""
    metadata = draw(
        st.sampled_from((1, 0, True, False, "", "ab", [], [1], {}, {"a": 1}, {"a": {"b": 1}}, None))
    )
    return _insert(draw, chunks, {"type": "message-metadata", "messageMetadata": metadata})


# The most effective changes are repeated.
STRUCTURAL: tuple[Damage, ...] = (
    _drop,
    _duplicate,
    _swap,
    _move,
    _repeat_late,
    _rename,
    _rename,
    _change_kind,
    _change_kind,
    _insert_unknown,
    _insert_orphan,
    _insert_orphan,
    _insert_orphan,
    _insert_frame,
    _insert_metadata,
)

# Damage to one chunk, which the schema must find

INVALID: tuple[Json, ...] = (None, True, 0, 1.5, "", "x", [], ["x"], {}, {"x": 1}, {"x": {"y": 1}})
NOT_CHUNKS: tuple[Json, ...] = (
    *(None, True, 1, "start", [], {}),
    *({"type": None}, {"type": 1}, {"type": ["start"]}, {"id": "t0"}),
)
ENUMS = {
    "finishReason": ("unknown", "interrupted", "nonsense", "", None),
    "inputEncoding": ("xml", "", None),
}


@st.composite
def damaged_chunks(draw: st.DrawFn, version: int) -> Json:
    """A chunk with a member that is missing, `null`, unknown or of a wrong type; or not a chunk."""
    chunk: JsonObject = draw(single_chunks(version))
    match draw(st.integers(0, 5)):
        case 0:
            return draw(st.sampled_from(NOT_CHUNKS))
        case 1:
            return {**chunk, "type": draw(st.sampled_from(UNKNOWN_TYPES) | texts())}
        case 2:
            return {**chunk, "extra": draw(json_values(2))}
        case 3:
            field = draw(st.sampled_from(tuple(ENUMS)))
            return {**chunk, field: draw(st.sampled_from(ENUMS[field]))}
        case 4:
            field = draw(st.sampled_from([*chunk, "providerMetadata", "toolMetadata", "citations"]))
            return {**chunk, field: draw(st.sampled_from(INVALID))}
        case _:
            missing = draw(st.sampled_from(list(chunk)))
            return {field: value for field, value in chunk.items() if field != missing}


@st.composite
def sse_damage(draw: st.DrawFn, version: int) -> list[Json]:
    """A stream with such a chunk, which a client refuses or accepts."""
    chunks: list[Json] = list(draw(valid_streams(version)))
    place = draw(st.integers(0, len(chunks)))
    chunks[place : place + draw(st.integers(0, 1))] = [draw(damaged_chunks(version))]
    return chunks


def damage_value(draw: st.DrawFn, event: Json) -> Json:
    """A copy of a JSON value in which one value, at any depth, is replaced or removed."""
    spoiled: Json = deepcopy(event)
    place: Json = spoiled
    for _ in range(draw(st.integers(0, 5))):
        inner = [key for key in _members(place) if is_object(place[key]) or is_array(place[key])]
        if not inner:
            break
        place = place[draw(st.sampled_from(inner))]
    if place:
        key: Json = draw(st.sampled_from(_members(place)))
        if draw(st.booleans()):
            del place[key]
        else:
            place[key] = draw(json_values(2))
    return spoiled


def _members(value: Json) -> list[Json]:
    return list(value) if is_object(value) else list(range(len(value)))
