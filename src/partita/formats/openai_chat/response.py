"""Responses of Chat Completions ↔ one assistant message: a body, an error, or recorded records of a stream.

A body is the last step of the last assistant message. The decoder of streams reads it. Members that are not
written for that message are noted, so that the body can be written back.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any, Final, NamedTuple, TypeAlias

from msgspec import UNSET
from msgspec.structs import replace

from partita.errors import ConversionError, DecodeError
from partita.formats.core.decoder import INTERRUPTED
from partita.formats.core.members import count_in, described, is_empty, items_in, objects_in, text_in
from partita.formats.core.metadata import RAW_INPUT, notes, with_message_notes
from partita.formats.core.report import Record, Report
from partita.formats.core.response import last_step
from partita.formats.core.turns import LocatedPart, Position
from partita.formats.core.unread import leaf_mark, leaf_marks, member_name
from partita.formats.core.wire import residue, restore
from partita.formats.event_streams import UNNAMED, fold
from partita.formats.format import Dumped, Loaded
from partita.formats.losses import (
    DERIVED,
    NO_PLACE,
    OTHER_FORM,
    REPLACED,
    REQUIRED,
    RESPONSE,
    UNREAD,
    Loss,
    Severity,
    json_losses,
)
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, dumps, is_array, is_object, walk
from partita.types.messages import AssistantMessage, Message, ToolCallPart
from partita.types.parts import (
    Citation,
    CustomPart,
    FilePart,
    JsonOutput,
    ReasoningPart,
    SourceUrlPart,
    StepStartPart,
    TextPart,
    UrlCitationSource,
)
from partita.types.tool_results import without_output
from partita.types.value import Extra

from . import wire
from .assistant import AUDIO, CALLS, ORDER, TextSlice, add_slices, write_assistant
from .dialects import DIALECTS, OPENAI, Dialect
from .parts import AUDIO_TYPE, CONTENT, Codecs, codecs_of, media_type_of
from .stream import DONE, FINISHES, ChatDecoder, errors_in, read_usage, usage_in, write_usage

HINT: Final = "give a body, or the records of a stream"

# Notes about the message of a response: the residues of its objects
IN_BODY: Final = "body"
IN_CHOICE: Final = "choice"
IN_MESSAGE: Final = "message"

REASONS: Final[Mapping[str, str]] = {
    "stop": "stop",
    "tool-calls": "tool_calls",
    "length": "length",
    "content-filter": "content_filter",
}
"""Finish reasons of the API by those of Partita."""

OF_CHOICE: Final = frozenset(
    {"stop_reason", "native_finish_reason", "content_filter_results", "content_filter_offsets", "seed"}
)
OF_MESSAGE: Final = frozenset({AUDIO, "annotations", "channel", "name", "thought_signature", "extra_content"})
"""Metadata that servers have in the choice and in its message. The rest is next to the choices."""

HANDLED: Final = frozenset({"logprobs", "errors", "other_choices", "created"}) | OF_CHOICE | OF_MESSAGE

NO_RESPONSE: Final[JsonObject] = {
    "id": "",
    "object": "chat.completion",
    "created": 0,
    "model": "",
    "choices": [],
}

NOT_A_PAGE: Final = "a response cites only pages"

_Source: TypeAlias = tuple[str, str, int | None, int | None]
_MADE_ID: Final = re.compile(r"message-\d+")


@cache
def report_of(namespace: str) -> Report:
    """Return the report that finds the losses of a body."""
    reasons = {"output": RESPONSE, "usage": OTHER_FORM, "citations": NOT_A_PAGE}
    return Report(namespace, NO_PLACE, reasons, frozenset({CONTENT}))


def is_response(payload: Json) -> bool:
    """Whether a payload is a body, an error, or a record."""
    signs = {"choices", "usage", "object", "error", "detail"}
    return is_object(payload) and (not signs.isdisjoint(payload) or bool(errors_in(payload)))


def load_response(payload: Json, dialect: Dialect = OPENAI) -> Loaded:
    """Read a response: its body, an error, or the records of its stream."""
    if is_array(payload):
        message = _decoded(payload, dialect, is_body=False)
        return Loaded((message,), lambda: list(stream_losses(payload, message)), is_complete=True)
    if not is_object(payload) or not is_response(payload):
        raise ConversionError(
            f"{described(payload)} is not a response of Chat Completions", where="$", hint=HINT
        )
    if payload == NO_RESPONSE:
        return Loaded((), is_complete=True)
    codecs = codecs_of(dialect, is_exact=True)
    message = _read(payload, codecs)

    def losses() -> list[Loss]:
        return list(json_losses(payload, _write(message, _parts_of(message), codecs).payload, "$", UNREAD))

    return Loaded((message,), losses, is_complete=True)


def _decoded(records: Sequence[Json], dialect: Dialect, *, is_body: bool) -> AssistantMessage:
    decoder = ChatDecoder(dialect.namespace)
    read = decoder.read_body if is_body else decoder.feed
    chunks = [chunk for record in records for chunk in read(record)] + decoder.finish()
    return fold([("$", chunk) for chunk in chunks], UNNAMED).message


# Reading


def _read(body: JsonObject, codecs: Codecs) -> AssistantMessage:
    """The message of a body, with the residue of the body."""
    message = _decoded([body], codecs.dialect, is_body=True)
    choice: JsonObject = next(iter(objects_in(body.get("choices"))), {})
    if not is_object(choice.get("message")):
        return message
    try:
        raw = wire.RESPONSE_MESSAGE.read(choice["message"])
        choice_read = wire.CHOICE.read({key: item for key, item in choice.items() if key != "message"})
        body_read = wire.RESPONSE.read({key: item for key, item in body.items() if key != "choices"})
    except DecodeError:
        return message
    written = _write(message, _parts_of(message), codecs)
    found = {
        IN_MESSAGE: residue(written.message, raw),
        IN_CHOICE: residue(written.choice, choice_read),
        IN_BODY: residue(written.body, body_read),
    }
    return with_message_notes(message, codecs.namespace, {name: item for name, item in found.items() if item})


def _parts_of(message: AssistantMessage) -> list[LocatedPart]:
    return [LocatedPart(part, "") for part in message.parts if type(part) is not StepStartPart]


def _positions(message: AssistantMessage, codecs: Codecs) -> dict[Position, Any]:
    """The parts of a message that was read, by their positions: the kind, and the number among its kind."""
    positions: dict[Position, Any] = {}
    for part, _ in _parts_of(message):
        kind = _kind(part, codecs)
        if isinstance(part, SourceUrlPart):
            positions[_source_position(part)] = part
        else:
            number = sum(position[0] == kind for position in positions if isinstance(position, tuple))
            positions[kind, number] = without_output(part) if kind == CALLS else part
    return positions


def _kind(part: Any, codecs: Codecs) -> str:
    match part:
        case TextPart():
            is_refusal = notes(part.provider_metadata, codecs.namespace).get("refusal")
            return "refusal" if is_refusal else "content"
        case ReasoningPart():
            return "reasoning"
        case ToolCallPart():
            return "executed_tools" if part.provider_executed else CALLS
        case FilePart():
            return AUDIO if part.media_type.partition("/")[0] == AUDIO_TYPE else "images"
        case _:
            return str(part.kind).rpartition(".")[2] if isinstance(part, CustomPart) else part.type


def _source_position(part: SourceUrlPart) -> _Source:
    """The position of a source: what it refers to."""
    facts = next(iter((part.provider_metadata or {}).values()), {})
    return "source", part.url, count_in(facts, "start_index"), count_in(facts, "end_index")


# Writing


class _Written(NamedTuple):
    """A body, its objects without each other, and the position of each part."""

    payload: JsonObject
    message: wire.ResponseMessage
    choice: wire.Choice
    body: wire.Response
    positions: list[Position | None]
    slices: dict[Position, TextSlice]


def dump_response(messages: Sequence[Message]) -> Dumped:
    """Write the last response as a body. All other messages are lost."""
    record = Record()
    step = last_step(messages, lambda part: True, record)
    if not step.path:
        return Dumped(dict(NO_RESPONSE), record.losses)
    message, codecs = step.message, codecs_of(_dialect_of(step.message), is_exact=True)
    about = message.content.metadata if is_object(message.content.metadata) else {}
    given = step.parts if step.text is None else [*step.parts, LocatedPart(TextPart(step.text), "")]
    written = _write(message, given, codecs)
    if "choices" in written.payload:
        for name in ("finishReason", "model"):
            if about.get(name) in (None, ""):
                record.losses.append(
                    Loss(f"{step.path}.content.metadata.{name}", f"no {name}", REQUIRED, "repaired")
                )
        if message.created_at is None and "created" not in notes(about, codecs.namespace):
            record.losses.append(Loss(f"{step.path}.createdAt", "no time", REQUIRED, "repaired"))
    record.add(step._replace(number=1), (), written.positions[: len(step.parts)])
    report = report_of(codecs.namespace)
    return Dumped(written.payload, lambda: report.compare(record, _read_back(written, message, codecs)))


def _dialect_of(message: AssistantMessage) -> Dialect:
    """The dialect of the server that the message is from."""
    metadata = message.content.metadata
    spaces = [*metadata] if is_object(metadata) else []
    for part in message.parts:
        if isinstance(part, TextPart | ReasoningPart):
            spaces += part.provider_metadata or {}
    return next((DIALECTS[space] for space in spaces if space in DIALECTS), OPENAI)


def _read_back(written: _Written, given: AssistantMessage, codecs: Codecs) -> dict[Position, Any]:
    """The values in a body, by position. Its id, time and usage are where the message had them."""
    message = _read(written.payload, codecs)
    positions = _positions(message, codecs)
    add_slices(positions, written.slices)
    content, about = message.content, given.content.metadata
    if not is_object(about) or "responseId" not in about:
        message = replace(message, id=text_in(written.payload, "id") or message.id)
    if given.created_at is not None and "created" not in notes(_object(about), codecs.namespace):
        created = datetime.fromtimestamp(written.payload.get("created") or 0, UTC)
        message = replace(message, created_at=created)
    if given.content.usage is not None and (usage := usage_in(written.payload)) is not None:
        content = replace(content, usage=read_usage(usage))
    return {**positions, (): replace(message, content=content)}


def _object(value: Any) -> JsonObject:
    return value if is_object(value) else {}


def _write(message: AssistantMessage, parts: Sequence[LocatedPart], codecs: Codecs) -> _Written:
    """Return the body of a message with these parts, and with its residues."""
    about = _object(message.content.metadata)
    own, noted = notes(about, codecs.namespace), notes(message.content.provider_metadata, codecs.namespace)
    other_parts = _OtherParts(codecs)
    rest = [(number, one) for number, one in enumerate(parts) if not other_parts.take(number, one.part)]
    failed = {part.id for part in message.parts if type(part) is ToolCallPart and _has_failed(part)}
    texts = [LocatedPart(_prepared(part, failed, codecs), path) for _, (part, path) in rest]
    form = {CONTENT: noted[CONTENT]} if CONTENT in noted else {}
    answer, found, _ = write_assistant(texts, form, codecs)
    wheres, slices = _text_positions([part for part, _ in texts], found, codecs)
    positions: dict[int, Position | None] = dict(other_parts.positions)
    positions |= {number: position for (number, _), position in zip(rest, wheres, strict=True)}
    members = _members(answer)
    for name in OF_MESSAGE & own.keys():
        members.setdefault(name, own[name])
    members |= other_parts.members(items_in(own.get("annotations")))
    members.setdefault("refusal", None)  # OpenAI's bodies always have it, those of other servers do not
    response_message = wire.ResponseMessage(
        **{name: item for name, item in members.items() if name in wire.ResponseMessage.__struct_fields__},
        extra=_extra(members, wire.ResponseMessage.__struct_fields__),
    )
    choice = wire.Choice(
        finish_reason=_finish_reason(about, own, response_message),
        logprobs=_logprobs(own, [part for _, (part, _) in rest], codecs),
        extra=_extra({name: own[name] for name in OF_CHOICE & own.keys()}),
    )
    body = _body(message, about, own, other_parts.mentioned)
    errors = items_in(own.get("errors"))
    if answer is None and errors and not body.model:
        payload: JsonObject = dict(body.extra or {})
    else:
        first: JsonObject = to_json(restore(choice, notes(noted, IN_CHOICE)))
        first["message"] = to_json(restore(response_message, notes(noted, IN_MESSAGE)))
        payload = to_json(restore(body, notes(noted, IN_BODY)))
        payload["choices"] = [first, *items_in(own.get("other_choices"))]
    ordered = [positions.get(number) for number in range(len(parts))]
    return _Written(payload, response_message, choice, body, ordered, slices)


def _text_positions(
    parts: Sequence[Any], found: Sequence[Position | None], codecs: Codecs
) -> tuple[list[Position | None], dict[Position, TextSlice]]:
    """Where parts are read from, given where they are written. Texts of one kind in a row are read as one."""
    positions: list[Position | None] = [
        position if isinstance(position, tuple) or position is None else (position, 0) for position in found
    ]
    texts: list[tuple[int, int, int]] = []
    counts: Counter[str] = Counter()
    for number, (part, position) in enumerate(zip(parts, found, strict=True)):
        if isinstance(part, TextPart | ReasoningPart) and position is not None:
            member, index = position if isinstance(position, tuple) else (position, number)
            texts.append((ORDER[member], index, number))
        elif isinstance(part, CustomPart) and position is not None:
            kind = _kind(part, codecs)
            positions[number] = (kind, counts[kind])
            counts[kind] += 1
    slices: dict[Position, TextSlice] = {}
    last, start = "", 0
    for _, _, number in sorted(texts):
        kind, text = _kind(parts[number], codecs), parts[number].text
        if kind != last:
            counts[kind] += 1
            last, start = kind, 0
        run = (kind, counts[kind] - 1)
        positions[number] = (*run, number)
        slices[*run, number] = TextSlice(run, start, start + len(text))
        start += len(text)
    return positions, slices


def _members(answer: wire.Assistant | None) -> dict[str, Any]:
    if answer is None:
        return {}
    names = (name for name in answer.__struct_fields__ if name != "extra")
    found = {name: item for name in names if (item := getattr(answer, name)) is not UNSET}
    return {**found, "content": found.get("content") or None}


def _extra(members: Mapping[str, Any], declared: Sequence[str] = ()) -> Extra | None:
    left = {name: item for name, item in members.items() if name not in declared}
    return Extra(left) if left else None


def _has_failed(call: ToolCallPart) -> bool:
    """Whether the input of a call is a text because it is not JSON."""
    return call.state in ("input-streaming", "output-error") and isinstance(call.input, str)


def _prepared(part: Any, failed: set[str], codecs: Codecs) -> Any:
    """Return a part as it is written: reasoning of another provider as text, an invalid input as it was."""
    if type(part) is ToolCallPart and part.id in failed:
        return replace(part, input=UNSET, raw_input=part.input)
    if not isinstance(part, ReasoningPart) or codecs.namespace in (part.provider_metadata or {}):
        return part
    return replace(part, provider_metadata={codecs.namespace: {}})


def _finish_reason(about: JsonObject, own: JsonObject, message: wire.ResponseMessage) -> str | None:
    raw, reason = about.get("rawFinishReason"), about.get("finishReason")
    if isinstance(raw, str) and (raw.lower() in FINISHES or own):
        return raw
    if reason is None:
        return "tool_calls" if message.tool_calls else "stop"
    return None if reason == INTERRUPTED else REASONS.get(str(reason), "stop")


def _logprobs(own: JsonObject, parts: Sequence[Any], codecs: Codecs) -> JsonObject | None:
    found: JsonObject = dict(_object(own.get("logprobs")))
    for part in parts:
        kind = _kind(part, codecs) if isinstance(part, TextPart) else None
        logprobs = None if kind is None else notes(part.provider_metadata, codecs.namespace).get("logprobs")
        if kind is not None and is_array(logprobs):
            found[kind] = [*found.get(kind, ()), *logprobs]
    return {"content": None, "refusal": None, **found} if found else None


def _body(
    message: AssistantMessage, about: JsonObject, own: JsonObject, mentioned: list[Json]
) -> wire.Response:
    """The body without its choices."""
    created, moment = own.get("created"), message.created_at
    if type(created) is not int:
        created = 0 if moment is None else int(moment.timestamp())
    made_id = "" if _MADE_ID.fullmatch(message.id) else message.id
    usages = (message.content.usage, about.get("usage"))
    counts = next(
        (found for one in usages if one is not None and (found := write_usage(one)) is not None), UNSET
    )
    more = {name: item for name, item in own.items() if name not in HANDLED}
    errors = [one for one in items_in(own.get("errors")) if one not in more.values()]
    more |= {"citations": mentioned} if mentioned else {}
    more |= {"error": errors[0] if len(errors) == 1 else errors} if errors else {}
    return wire.Response(
        id=text_in(about, "responseId") or made_id,
        created=created,
        model=text_in(about, "model"),
        usage=counts,
        extra=_extra(more),
    )


class _OtherParts:
    """Parts that are neither texts nor calls of the client: sources, images, sounds, tools of the server."""

    def __init__(self, codecs: Codecs) -> None:
        self.positions: dict[int, Position] = {}
        self.mentioned: list[Json] = []
        """Pages that no text cites."""
        self._codecs = codecs
        self._urls: set[str] = set()
        self._cited: list[Citation] = []
        self._pages: dict[_Source, JsonObject] = {}
        self._images: list[Json] = []
        self._tools: list[Json] = []
        self._audio: JsonObject | None = None

    def take(self, number: int, part: Any) -> bool:
        """Add a part, if it is of such a kind; return whether it is."""
        match part:
            case TextPart():
                self._cited += [
                    one for one in part.citations or () if isinstance(one.source, UrlCitationSource)
                ]
                return False
            case ToolCallPart(provider_executed=True):
                self._tool(number, part)
            case SourceUrlPart() if part.url:
                self._source(number, part)
            case FilePart() if part.url:
                self._file(number, part)
            case _:
                return False
        return True

    def _own(self, metadata: JsonObject | None) -> JsonObject:
        return notes(metadata, self._codecs.namespace)

    def _tool(self, number: int, call: ToolCallPart) -> None:
        """A tool that the server ran, if it numbers them."""
        own = self._own(call.call_provider_metadata)
        result = call.output.value if isinstance(call.output, JsonOutput) else {}
        if "index" not in own or not is_object(result) or not isinstance(call.output, JsonOutput | None):
            return
        raw = own.get(RAW_INPUT)
        given = {} if call.input is UNSET else call.input
        arguments = raw if isinstance(raw, str) else dumps(given).decode()
        self.positions[number] = ("executed_tools", len(self._tools))
        self._tools.append({"index": own["index"], "type": call.name, "arguments": arguments, **result})

    def _source(self, number: int, part: SourceUrlPart) -> None:
        facts = self._own(part.provider_metadata)
        page = {**({"title": part.title} if part.title else {}), **facts}
        start, end = count_in(facts, "start_index"), count_in(facts, "end_index")
        position = _source_position(part)
        is_cited = any(one.source.id == part.source_id for one in self._cited)
        if start is not None or end is not None or is_cited:
            self._pages[position] = page
        elif part.url in self._urls:
            return
        else:
            self._urls.add(part.url)
            self.mentioned.append({"url": part.url, **page} if page else part.url)
        self.positions[number] = position

    def _file(self, number: int, part: FilePart) -> None:
        own = self._own(part.provider_metadata)
        if media_type_of(part.url).partition("/")[0] == AUDIO_TYPE and self._audio is None:
            self._audio = {**_object(own.get(AUDIO)), "data": part.url.partition(",")[2]}
            self.positions[number] = (AUDIO, 0)
        elif part.media_type.startswith("image/"):
            self.positions[number] = ("images", len(self._images))
            self._images.append({"type": "image_url", "image_url": {"url": part.url}, **own})

    def members(self, others: Sequence[Json]) -> JsonObject:
        """The members of the message for these parts, and for `others`, annotations that are not of pages."""
        pages = dict(self._pages)
        cited: list[JsonObject] = []
        for citation in self._cited:
            source, start, end = citation.source, citation.start_index, citation.end_index
            assert isinstance(source, UrlCitationSource), "others are not taken"
            range_ = {"start_index": start or 0, "end_index": end or 0}
            known = pages.pop(("source", source.url, start, end), range_)
            cited.append({"url": source.url, "title": source.title or "", **known})
        cited += [
            {"url": position[1], "title": "", **page}
            for position, page in pages.items()
            if type(position) is tuple
        ]
        annotations = [*({"type": "url_citation", "url_citation": page} for page in cited), *others]
        found = {"annotations": annotations, "executed_tools": self._tools, "images": self._images}
        members: JsonObject = {name: item for name, item in found.items() if item}
        return members | ({} if self._audio is None else {AUDIO: self._audio})


# Members of a recorded stream that its message does not have: padding, and replaced values

PADDING: Final = "padding, so that the length of encrypted records reveals nothing"

CONSTANTS: Final[Mapping[str, frozenset[Any]]] = {
    "object": frozenset({"chat.completion", "chat.completion.chunk", "list"}),
    "role": frozenset({"assistant"}),
    "type": frozenset({"text", "function", "custom", "image_url", "refusal", "thinking", "url_citation"}),
    "finish_reason": frozenset({"stop", "tool_calls", "function_call"}),
}
"""Values that follow from the message, by the name of their member."""

DELTAS: Final = frozenset(
    {"content", "refusal", "reasoning_content", "reasoning", "arguments", "input", "text", "thinking"}
    | {"summary", "data", "transcript", "token", "logprob"}
)
"""Members whose texts are parts of others."""

UPDATED: Final = frozenset({"usage", "id", "created"})
"""Members that servers send in every record, with other values."""


def stream_losses(records: Sequence[Json], message: Message) -> Iterator[Loss]:
    """Return the losses of records that are not in the message."""
    finder = _Finder(to_json(message))
    for index, record in enumerate(records):
        if record != DONE and is_object(record):
            yield from finder.record(record, f"$[{index}]")


class _Finder:
    """Finds the values in records that are not in a message. Each value is reported once."""

    def __init__(self, message: Json) -> None:
        self._leaves = leaf_marks(message)
        self._reported: set[tuple[str, str]] = set()
        self._calls: dict[int, int] = {}

    def record(self, record: JsonObject, path: str) -> Iterator[Loss]:
        for key, value in record.items():
            if key == "choices" and is_array(value):
                for index, choice in enumerate(value):
                    yield from self._choice(choice, f"{path}.choices[{index}]", index)
            elif key in ("obfuscation", "p"):
                yield Loss.of(f"{path}.{key}", value, PADDING, "minor")
            else:
                yield from self._value(value, f"{path}.{key}", "minor" if key in UPDATED else "lost")

    def _choice(self, choice: Json, path: str, number: int) -> Iterator[Loss]:
        if not is_object(choice):
            return
        index = choice.get("index", number)
        if isinstance(index, int) and index != 0:
            return  # kept whole among the other choices
        if index not in (0, None):
            yield Loss.of(f"{path}.index", index, REPLACED)
        form = next((form for form in ("delta", "message") if choice.get(form) is not None), None)
        for key, value in choice.items():
            where = f"{path}.{key}"
            if form is not None and key == form and is_object(value):
                yield from self._message(value, where)
            elif key == "logprobs" and is_object(value):
                yield from self._logprobs(value, where)
            elif key in ("delta", "message", "text"):
                if not is_empty(value):
                    yield Loss.of(where, value, DERIVED, "minor")
            elif key != "index":
                yield from self._value(value, where)

    def _logprobs(self, logprobs: JsonObject, path: str) -> Iterator[Loss]:
        for key, value in logprobs.items():
            if key in ("content", "refusal") and not is_array(value) and not is_empty(value):
                yield Loss.of(f"{path}.{key}", value, REPLACED)
            else:
                yield from self._value(value, f"{path}.{key}")

    def _message(self, message: JsonObject, path: str) -> Iterator[Loss]:
        for key, value in message.items():
            where = f"{path}.{key}"
            if key == "tool_calls" and is_array(value):
                for number, call in enumerate(value):
                    yield from self._call(call, f"{where}[{number}]", number)
            elif key == "index":
                if value not in (0, None):
                    yield Loss.of(where, value, REPLACED, "minor")
            elif key in ("reasoning_content", "reasoning") and isinstance(value, str):
                first = message.get("reasoning_content")
                if key == "reasoning" and isinstance(first, str) and first not in ("", value):
                    yield Loss.of(where, value, DERIVED)
            else:
                yield from self._value(value, where)

    def _call(self, call: Json, path: str, number: int) -> Iterator[Loss]:
        """Return the losses of a delta of a call. Its index only identifies the call."""
        if not is_object(call):
            return
        index = call.get("index")
        expected = self._calls.setdefault(index, len(self._calls)) if isinstance(index, int) else number
        if index not in (None, expected):
            yield Loss.of(f"{path}.index", index, REPLACED, "minor")
        for key, value in call.items():
            if key != "index":
                yield from self._value(value, f"{path}.{key}")

    def _value(self, value: Json, path: str, severity: Severity = "lost") -> Iterator[Loss]:
        """Return the leaves of a value that the message does not have."""
        for where, leaf in walk(value, path):
            known = (where.rpartition(".")[2], str(leaf))
            if not is_empty(leaf) and not self._is_found(where, leaf) and known not in self._reported:
                self._reported.add(known)
                yield Loss.of(where, leaf, REPLACED, severity)

    def _is_found(self, path: str, leaf: Json) -> bool:
        if leaf_mark(path, leaf) in self._leaves:
            return True
        name = member_name(path)
        return isinstance(leaf, str) and (name in DELTAS or leaf in CONSTANTS.get(name, ()))
