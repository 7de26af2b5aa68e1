"""Responses of generateContent ↔ one assistant message: a body, an error, or the responses of a stream.

A body is the last assistant message. The sources and citations of its text are derived from its metadata.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from partita.errors import ConversionError, DecodeError
from partita.formats.core.codec import BEHIND
from partita.formats.core.decoder import INTERRUPTED
from partita.formats.core.members import list_in, object_in, text_in
from partita.formats.core.metadata import message_notes, notes, with_message_notes
from partita.formats.core.report import Entry, Record, Report
from partita.formats.core.response import RESPONSE_REASONS, last_step
from partita.formats.core.turns import Position
from partita.formats.core.unread import leaf_mark, leaf_marks
from partita.formats.core.wire import Codec, Wire, residue, restore, to_json
from partita.formats.event_streams import UNNAMED, fold
from partita.formats.format import Dumped, Loaded
from partita.formats.losses import DERIVED, NO_PLACE, REPLACED, REQUIRED, UNREAD, Loss
from partita.types.chunks import Chunk
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of, walk
from partita.types.messages import AssistantContent, AssistantMessage, Message, ToolCallPart
from partita.types.parts import (
    DataPart,
    ForeignPart,
    ReasoningPart,
    SourceDocumentPart,
    SourceUrlPart,
    StepStartPart,
    TextPart,
)
from partita.types.usage import Usage

from .parts import FIELDS, PARTS, UNKNOWN, UNTYPED, read_parts
from .sources import Sources
from .stream import (
    CANDIDATE,
    FEEDBACK,
    KNOWN,
    REASONS,
    STOP,
    Ending,
    GeminiDecoder,
    error_text,
    is_first,
    read_usage,
    write_usage,
)
from .wire import NAME, NAMES, NULLS, SIGNATURE, Names, camel, normal_parts, restore_parts

HINT: Final = "give a response {candidates}, or a list of them"
FIRST_ID: Final = "gemini"
"""The start of the ids of calls in a response without an id."""

OF_RESPONSE: Final = frozenset(
    {"promptFeedback", "createTime", "modelStatus", "error"}
    # members that only the `google-genai` package writes
    | {"sdk_http_response", "automatic_function_calling_history", "parsed"}
)
"""Metadata of a response. All others are metadata of its candidate."""

_RESPONSE_NAMES: Final = frozenset(
    {"createTime", "modelStatus", "modelVersion", "promptFeedback", "responseId", "usageMetadata"}
)
_CANDIDATE_NAMES: Final = frozenset(
    {
        "avgLogprobs",
        "citationMetadata",
        "finishMessage",
        "finishReason",
        "groundingMetadata",
        "logprobsResult",
    }
    | {"safetyRatings", "tokenCount", "urlContextMetadata", "continuationToken"}
)

REASONS_OF_OTHERS: Final[Mapping[str, str]] = {
    "stop": STOP,
    "tool-calls": STOP,
    "length": "MAX_TOKENS",
    "content-filter": "SAFETY",
}


REPORT: Final = Report(
    NAME,
    reasons=RESPONSE_REASONS,
    spelling=frozenset({NAMES, NULLS, BEHIND, UNTYPED}),
)

USAGE: Final[Codec[Usage]] = Codec(Usage)


def is_response(payload: Json) -> bool:
    """Whether a payload is a response."""
    return is_object(payload) and any(camel(name) in KNOWN for name in payload)


def load_response(payload: Json) -> Loaded:
    """Read a response: its body, an error, or the responses of its stream."""
    if is_array(payload):
        return _load_stream(payload)
    if not is_object(payload) or not is_response(payload):
        found = "an object without candidates" if is_object(payload) else kind_of(payload)
        raise ConversionError(f"{found} is not a response", where="$", hint=HINT)
    return Loaded((_read_body(payload)[0],))


# Names


def _rename(value: JsonObject, known: frozenset[str], names: Names) -> JsonObject:
    """An object with its known members, and all names in them, renamed."""
    found = names.members(value, known)
    return {name: names.deep(item) if camel(name) in known else item for name, item in found.items()}


def _normal(raw: Json) -> tuple[Json, JsonObject]:
    """A response in camelCase, and the notes to restore it."""
    if not is_object(raw):
        return raw, {}
    names = Names()
    noted: JsonObject = {}
    response = _rename(raw, _RESPONSE_NAMES, names)
    candidates = response.get("candidates")
    if is_array(candidates):
        response["candidates"] = [_normal_candidate(one, names, noted) for one in candidates]
    names.found |= set(noted.pop(NAMES, ()))
    return response, {**noted, NAMES: sorted(names.found)} if names.found else noted


def _normal_candidate(raw: Json, names: Names, noted: JsonObject) -> Json:
    if not is_object(raw):
        return raw
    candidate = _rename(raw, _CANDIDATE_NAMES, names)
    content = candidate.get("content")
    if is_object(content) and is_array(content.get("parts")):
        parts, about = normal_parts(content["parts"])
        noted |= about
        candidate["content"] = {**content, "parts": parts}
    return candidate


# Bodies


class _Frame(Wire):
    """A body without its parts and other candidates: lists of them are empty."""

    response: JsonObject
    candidate: JsonObject | UnsetType = UNSET


def _split_body(body: JsonObject) -> tuple[_Frame, Sequence[Json], Sequence[Json]]:
    """The frame of a body, its parts, and the other candidates."""
    candidates = body.get("candidates")
    if not is_array(candidates):
        return _Frame(body), (), ()
    first: JsonObject | None = None
    others: list[Json] = []
    for position, one in enumerate(candidates):
        if first is None and is_object(one) and is_first(one, position):
            first = one
        else:
            others.append(one)
    response = {**body, "candidates": []}
    if first is None:
        return _Frame(response), (), others
    content = first.get("content")
    if not is_object(content) or not is_array(content.get("parts")):
        return _Frame(response, first), (), others
    return _Frame(response, {**first, "content": {**content, "parts": []}}), content["parts"], others


def _read_body(raw: JsonObject) -> tuple[AssistantMessage, dict[Position, Any]]:
    """The message of a body, and its parts by their places."""
    body, noted = _normal(raw)
    frame, raws, others = _split_body(body)
    candidate: JsonObject = {} if frame.candidate is UNSET else frame.candidate
    response_id = text_in(body, "responseId")
    sources = Sources()
    positions: dict[Position, Any] = {"start": StepStartPart()}
    positions |= {("source", number): part for number, part in enumerate(sources.add(candidate))}
    texts = 0
    for part, position in read_parts(raws, response_id or FIRST_ID):
        match part:
            case ForeignPart():
                positions[position] = DataPart(UNKNOWN, part.value)
            case TextPart():
                cited = sources.citations(part.text, is_last=position == len(raws) - 1)
                positions[position] = replace(part, state="done", citations=cited or None)
                texts += 1
            case ReasoningPart():
                positions[position] = replace(part, state="done", id=str(texts))
                texts += 1
            case _:
                positions[position] = part
    positions |= {("candidate", number): DataPart(CANDIDATE, one) for number, one in enumerate(others)}
    parts = tuple(positions.values())
    counts = body.get("usageMetadata")
    content = AssistantContent(
        parts=parts,
        metadata=_read_metadata(body, candidate, parts),
        usage=read_usage(counts) if is_object(counts) else None,
    )
    message = AssistantMessage(id=UNNAMED, content=content)
    kept = residue(_write_frame(message, has_parts=bool(raws), has_others=bool(others), losses=[]), frame)
    message = with_message_notes(message, NAME, {**noted, FIELDS: kept} if kept else noted)
    return message, {**positions, (): message}


def _read_metadata(body: JsonObject, candidate: JsonObject, parts: Sequence[Any]) -> JsonObject:
    ending = Ending()
    ending.read(body, candidate)
    has_calls = any(type(part) is ToolCallPart and not part.provider_executed for part in parts)
    members = {
        **{
            key: item
            for key, item in body.items()
            if key == "error" or key not in KNOWN or key == "promptFeedback"
        },
        **{key: item for key, item in candidate.items() if key not in ("content", "finishReason", "index")},
    }
    known = {key: item for key, item in members.items() if item is not None and item not in ({}, [])}
    metadata: JsonObject = {
        "finishReason": ending.unified(has_calls=has_calls),
        "rawFinishReason": ending.raw,
        "errors": [error_text(body["error"])] if ending.has_failed else None,
        "model": text_in(body, "modelVersion") or None,
        "responseId": text_in(body, "responseId") or None,
        "complete": None if ending.is_complete else False,
        NAME: known or None,
    }
    return {key: item for key, item in metadata.items() if item is not None}


def dump_response(messages: Sequence[Message]) -> Dumped:
    """Write the last response as a body. All other messages are lost."""
    record = Record()
    step = last_step(messages, PARTS.is_written, record)
    blocks, positions = PARTS.write_all(step.parts, "assistant", step.text)
    others: list[Json] = []
    sources = 0
    for number, (part, _) in enumerate(step.parts):
        if isinstance(part, SourceUrlPart | SourceDocumentPart):
            positions[number] = ("source", sources)
            sources += 1
        elif isinstance(part, DataPart) and part.name == CANDIDATE:
            positions[number] = ("candidate", len(others))
            others.append(part.data)
    record.add(step._replace(number=1), (), positions)
    record.entries += [Entry(start, path, "start") for start, path in step.boundaries[-1:]]
    frame = _write_frame(step.message, has_parts=bool(blocks), has_others=bool(others), losses=record.losses)
    noted = message_notes(step.message, NAME)
    payload = _join_body(restore(frame, notes(noted, FIELDS)), to_json(blocks), others, noted)
    return Dumped(payload, lambda: REPORT.compare(record, _read_body(payload)[1]))


def _write_frame(
    message: AssistantMessage, *, has_parts: bool, has_others: bool, losses: list[Loss]
) -> _Frame:
    about = message.content.metadata if is_object(message.content.metadata) else {}
    own = notes(about, NAME)
    candidate: JsonObject = {"content": {"role": "model", "parts": []}} if has_parts else {}
    candidate |= {key: item for key, item in own.items() if key not in OF_RESPONSE}
    reason = _reason(about, own, has_parts=has_parts)
    if reason is None and has_parts and "finishReason" not in about:
        reason = STOP
        losses.append(Loss("$.candidates[0].finishReason", STOP, REQUIRED, "repaired"))
    candidate |= {} if reason is None else {"finishReason": reason}
    response: JsonObject = {
        "candidates": [] if candidate or has_others else None,
        "usageMetadata": _usage(message),
        "modelVersion": text_in(about, "model") or None,
        "responseId": text_in(about, "responseId") or None,
        **{key: item for key, item in own.items() if key in OF_RESPONSE},
    }
    written = {key: item for key, item in response.items() if item is not None}
    return _Frame(written or {"candidates": []}, {**candidate, "index": 0} if candidate else UNSET)


def _reason(about: JsonObject, own: JsonObject, *, has_parts: bool) -> str | None:
    raw, reason = text_in(about, "rawFinishReason"), text_in(about, "finishReason")
    if raw and (raw in REASONS or raw == raw.upper()):
        return raw
    if reason in ("", INTERRUPTED, "error") or (raw and raw.startswith(FEEDBACK) and "promptFeedback" in own):
        return None
    return REASONS_OF_OTHERS.get(reason, "OTHER")


def _usage(message: AssistantMessage) -> JsonObject | None:
    usage = message.content.usage
    counts = object_in(message.content.metadata, "usage")
    if usage is None and counts:
        try:
            usage = USAGE.read(counts)
        except DecodeError:
            return None
    return None if usage is None else write_usage(usage)


def _join_body(frame: _Frame, parts: list[Json], others: list[Json], noted: JsonObject) -> JsonObject:
    """The body of a frame, with its parts and other candidates."""
    response = frame.response
    candidate: Json = None if frame.candidate is UNSET else frame.candidate
    names = Names(noted.get(NAMES, []))
    response = _rename(response, _RESPONSE_NAMES, names)
    candidate = _rename(candidate, _CANDIDATE_NAMES, names) if is_object(candidate) else candidate
    content = candidate.get("content") if is_object(candidate) else None
    if is_object(content) and "parts" in content and is_array(content["parts"]):
        candidate = {**candidate, "content": {**content, "parts": restore_parts(parts, noted)}}
    candidates = [*([] if candidate is None else [candidate]), *others]
    if candidates or is_array(response.get("candidates")):
        response = {**response, "candidates": candidates}
    return response


# Streams

_Events: TypeAlias = Sequence[tuple[str, Json]]


def _load_stream(responses: Sequence[Json]) -> Loaded:
    """The message of a stream. An event may be an array of responses."""
    events: list[tuple[str, Json]] = []
    for index, event in enumerate(responses):
        if is_array(event):
            events += [(f"$[{index}][{at}]", _normal(one)[0]) for at, one in enumerate(event)]
        else:
            events.append((f"$[{index}]", _normal(event)[0]))
    decoder = GeminiDecoder()
    chunks: list[tuple[str, Chunk]] = []
    for path, event in events:
        chunks += [(path, chunk) for chunk in decoder.feed(event)]
    chunks += [(events[-1][0] if events else "$", chunk) for chunk in decoder.finish()]
    folded = fold(chunks, UNNAMED)
    message = _with_usage(folded.message)
    losses = [*folded.losses, *_replaced(events, folded.message), *_moved(events, message), *_pieces(events)]
    return Loaded((message,), losses, is_complete=True)


def _with_usage(message: AssistantMessage) -> AssistantMessage:
    """The message with the usage in its field instead of the metadata."""
    metadata: Json = message.content.metadata
    if not is_object(metadata) or not is_object(metadata.get("usage")):
        return message
    others = {key: item for key, item in metadata.items() if key != "usage"}
    content = replace(message.content, usage=USAGE.read(metadata["usage"]), metadata=others)
    return replace(message, content=content)


def _replaced(events: _Events, message: AssistantMessage) -> Iterator[Loss]:
    """Members of responses that are not in the metadata of the message."""
    metadata: Json = {} if message.content.metadata is UNSET else message.content.metadata
    kept = leaf_marks(metadata)
    for index, (path, event) in enumerate(events):
        is_last = index == len(events) - 1
        for where, leaf in walk(_around(event), path):
            is_default = (where.endswith(".index") and leaf == 0) or (
                where.endswith(".content.role") and leaf == "model"
            )
            if leaf not in (None, {}, [], "") and not is_default and leaf_mark(where, leaf) not in kept:
                yield Loss.of(where, leaf, UNREAD if is_last else REPLACED, "lost" if is_last else "minor")


def _around(event: Json) -> JsonObject:
    """A response without its parts, and without other candidates, which are kept whole."""
    if not is_object(event) or not is_response(event):
        return {}
    candidates: list[Json] = []
    for position, one in enumerate(list_in(event, "candidates")):
        if is_object(one) and is_first(one, position):
            candidates.append({**one, "content": {"role": object_in(one, "content").get("role")}})
        else:
            candidates.append({})
    return {**event, "candidates": candidates}


def _parts(events: _Events) -> Iterator[tuple[str, JsonObject]]:
    """The parts of all candidates, each with its path."""
    for path, event in events:
        for position, candidate in enumerate(list_in(event, "candidates")):
            for index, part in enumerate(list_in(object_in(candidate, "content"), "parts")):
                if is_object(part):
                    yield f"{path}.candidates[{position}].content.parts[{index}]", part


def _moved(events: _Events, message: AssistantMessage) -> Iterator[Loss]:
    """The signatures of empty texts that are now on others."""
    empty = [
        notes(part.provider_metadata, NAME).get(SIGNATURE)
        for part in message.parts
        if isinstance(part, TextPart | ReasoningPart) and not part.text
    ]
    for path, part in _parts(events):
        signature = part.get(SIGNATURE)
        if signature and part.get("text") == "" and signature not in empty:
            yield Loss.of(path, part, DERIVED, "changed")


# https://cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1/Content#PartialArg
PIECE: Final = frozenset({"jsonPath", "stringValue", "numberValue", "boolValue", "nullValue", "willContinue"})


def _pieces(events: _Events) -> Iterator[Loss]:
    """How inputs were cut into pieces."""
    calls = [object_in(part, "functionCall") for _, part in _parts(events)]
    pieces = [*calls, *(piece for call in calls for piece in list_in(call, "partialArgs"))]
    cuts = [one["willContinue"] for one in pieces if is_object(one) and one.get("willContinue") is not None]
    if cuts:
        yield Loss.of("$", cuts, NO_PLACE, "minor")
    for path, part in _parts(events):
        for number, piece in enumerate(list_in(object_in(part, "functionCall"), "partialArgs")):
            others = (
                {name: one for name, one in piece.items() if camel(name) not in PIECE}
                if is_object(piece)
                else {}
            )
            where = f"{path}.functionCall.partialArgs[{number}]"
            yield from (Loss.of(f"{where}.{name}", one, UNREAD) for name, one in others.items())
