"""Responses of Chat Completions ↔ one assistant message: a body, an error, or recorded records of a stream.

A body is the last step of the last assistant message. The decoder of streams reads it. What is not written
for that message is noted, so that the body can be written again.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any, Final, NamedTuple, TypeAlias

from msgspec import UNSET
from msgspec.structs import replace

from partita.errors import ConversionError, DecodeError
from partita.formats.answers.outlet import INTERRUPTED, RAW_INPUT
from partita.formats.core.members import count_in, items_in, objects_in, text_in
from partita.formats.core.metadata import notes, with_message_notes
from partita.formats.core.report import NO_PLACE, Place, Record, Report
from partita.formats.core.request import describe
from partita.formats.core.residue import residue, restore
from partita.formats.core.response import last_step
from partita.formats.core.turns import Placed
from partita.formats.events import UNNAMED, fold
from partita.formats.format import Dumped, Loaded
from partita.formats.losses import Loss, json_losses
from partita.formats.reasons import OTHER_FORM, REQUIRED, RESPONSE, UNREAD
from partita.types.codec import to_json
from partita.types.fold import open_again
from partita.types.json import Json, JsonObject, dumps, is_array, is_object
from partita.types.messages import AssistantMessage, Message, ToolCallPart
from partita.types.parts import (
    Citation,
    CustomPart,
    FilePart,
    ReasoningPart,
    SourceUrlPart,
    StepStartPart,
    TextPart,
    UrlCitationSource,
)
from partita.types.tools import JsonOutput
from partita.types.value import Extra

from . import wire
from .assistant import AUDIO, CALLS, ORDER, Piece, add_pieces, write_assistant
from .dialects import DIALECTS, OPENAI, Dialect
from .parts import CONTENT, Codecs, codecs_of, media_type_of
from .response_parts import AUDIO_TYPE, FINISHES, errors_in, read_usage, usage_in, write_usage
from .stream import ChatDecoder, stream_losses

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
"""Finish reasons of the API by ours."""

OF_CHOICE: Final = frozenset(
    {"stop_reason", "native_finish_reason", "content_filter_results", "content_filter_offsets", "seed"}
)
OF_MESSAGE: Final = frozenset({AUDIO, "annotations", "channel", "name", "thought_signature", "extra_content"})
"""Metadata that servers have in the choice and in its message. The rest is beside the choices."""

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
    """Finds the losses of a body."""
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
            f"{describe(payload)} is not a response of Chat Completions", where="$", hint=HINT
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
    """The message of a body, with what the body has besides what is written for it."""
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


def _parts_of(message: AssistantMessage) -> list[Placed]:
    return [Placed(part, "") for part in message.parts if type(part) is not StepStartPart]


def _places(message: AssistantMessage, codecs: Codecs) -> dict[Place, Any]:
    """The parts of a message that was read, by their places: the kind, and the number among its kind."""
    places: dict[Place, Any] = {}
    for part, _ in _parts_of(message):
        kind = _kind(part, codecs)
        if isinstance(part, SourceUrlPart):
            places[_source_place(part)] = part
        else:
            number = sum(place[0] == kind for place in places if isinstance(place, tuple))
            places[kind, number] = open_again(part) if kind == CALLS else part
    return places


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


def _source_place(part: SourceUrlPart) -> _Source:
    """The place of a source: what it refers to."""
    facts = next(iter((part.provider_metadata or {}).values()), {})
    return "source", part.url, count_in(facts, "start_index"), count_in(facts, "end_index")


# Writing


class _Written(NamedTuple):
    """A body, its objects without each other, and the place of each part."""

    payload: JsonObject
    message: wire.ResponseMessage
    choice: wire.Choice
    body: wire.Response
    places: list[Place | None]
    pieces: dict[Place, Piece]


def dump_response(messages: Sequence[Message]) -> Dumped:
    """Write the last response as a body. All other messages are lost."""
    record = Record()
    step = last_step(messages, lambda part: True, record)
    if not step.path:
        return Dumped(dict(NO_RESPONSE), record.losses)
    message, codecs = step.message, codecs_of(_dialect_of(step.message), is_exact=True)
    about = message.content.metadata if is_object(message.content.metadata) else {}
    given = step.parts if step.text is None else [*step.parts, Placed(TextPart(step.text), "")]
    written = _write(message, given, codecs)
    if "choices" in written.payload:
        for name in ("finishReason", "model"):
            if about.get(name) in (None, ""):
                record.losses.append(
                    Loss(f"{step.path}.content.metadata.{name}", f"no {name}", REQUIRED, "repaired")
                )
        if message.created_at is None and "created" not in notes(about, codecs.namespace):
            record.losses.append(Loss(f"{step.path}.createdAt", "no time", REQUIRED, "repaired"))
    record.add(step._replace(number=1), (), written.places[: len(step.parts)])
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


def _read_back(written: _Written, given: AssistantMessage, codecs: Codecs) -> dict[Place, Any]:
    """The values in a body, by their places. Its id, time and usage are where the message had them."""
    message = _read(written.payload, codecs)
    places = _places(message, codecs)
    add_pieces(places, written.pieces)
    content, about = message.content, given.content.metadata
    if not is_object(about) or "responseId" not in about:
        message = replace(message, id=text_in(written.payload, "id") or message.id)
    if given.created_at is not None and "created" not in notes(_object(about), codecs.namespace):
        created = datetime.fromtimestamp(written.payload.get("created") or 0, UTC)
        message = replace(message, created_at=created)
    if given.content.usage is not None and (usage := usage_in(written.payload)) is not None:
        content = replace(content, usage=read_usage(usage))
    return {**places, (): replace(message, content=content)}


def _object(value: Any) -> JsonObject:
    return value if is_object(value) else {}


def _write(message: AssistantMessage, parts: Sequence[Placed], codecs: Codecs) -> _Written:
    """The body of a message with these parts, and with its residues."""
    about = _object(message.content.metadata)
    own, noted = notes(about, codecs.namespace), notes(message.content.provider_metadata, codecs.namespace)
    beside = _Beside(codecs)
    rest = [(number, one) for number, one in enumerate(parts) if not beside.take(number, one.part)]
    failed = {part.id for part in message.parts if type(part) is ToolCallPart and _has_failed(part)}
    texts = [Placed(_prepared(part, failed, codecs), path) for _, (part, path) in rest]
    form = {CONTENT: noted[CONTENT]} if CONTENT in noted else {}
    answer, found, _ = write_assistant(texts, form, codecs)
    wheres, pieces = _text_places([part for part, _ in texts], found, codecs)
    places: dict[int, Place | None] = dict(beside.places)
    places |= {number: place for (number, _), place in zip(rest, wheres, strict=True)}
    members = _members(answer)
    for name in OF_MESSAGE & own.keys():
        members.setdefault(name, own[name])
    members |= beside.members(items_in(own.get("annotations")))
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
    body = _body(message, about, own, beside.mentioned)
    errors = items_in(own.get("errors"))
    if answer is None and errors and not body.model:
        payload: JsonObject = dict(body.extra or {})
    else:
        first: JsonObject = to_json(restore(choice, notes(noted, IN_CHOICE)))
        first["message"] = to_json(restore(response_message, notes(noted, IN_MESSAGE)))
        payload = to_json(restore(body, notes(noted, IN_BODY)))
        payload["choices"] = [first, *items_in(own.get("other_choices"))]
    ordered = [places.get(number) for number in range(len(parts))]
    return _Written(payload, response_message, choice, body, ordered, pieces)


def _text_places(
    parts: Sequence[Any], found: Sequence[Place | None], codecs: Codecs
) -> tuple[list[Place | None], dict[Place, Piece]]:
    """Where parts are read from, given where they are written. Texts of one kind in a row are read as one."""
    places: list[Place | None] = [
        place if isinstance(place, tuple) or place is None else (place, 0) for place in found
    ]
    texts: list[tuple[int, int, int]] = []
    counts: Counter[str] = Counter()
    for number, (part, place) in enumerate(zip(parts, found, strict=True)):
        if isinstance(part, TextPart | ReasoningPart) and place is not None:
            member, index = place if isinstance(place, tuple) else (place, number)
            texts.append((ORDER[member], index, number))
        elif isinstance(part, CustomPart) and place is not None:
            kind = _kind(part, codecs)
            places[number] = (kind, counts[kind])
            counts[kind] += 1
    pieces: dict[Place, Piece] = {}
    last, start = "", 0
    for _, _, number in sorted(texts):
        kind, text = _kind(parts[number], codecs), parts[number].text
        if kind != last:
            counts[kind] += 1
            last, start = kind, 0
        run = (kind, counts[kind] - 1)
        places[number] = (*run, number)
        pieces[*run, number] = Piece(run, start, start + len(text))
        start += len(text)
    return places, pieces


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
    """A part as it is written: reasoning of another provider as text alone, an invalid input as it was."""
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


class _Beside:
    """Parts beside the texts and calls of a response: sources, images, sounds, tools of the server."""

    def __init__(self, codecs: Codecs) -> None:
        self.places: dict[int, Place] = {}
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
        """Whether a part is beside the texts and calls."""
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
        self.places[number] = ("executed_tools", len(self._tools))
        self._tools.append({"index": own["index"], "type": call.name, "arguments": arguments, **result})

    def _source(self, number: int, part: SourceUrlPart) -> None:
        facts = self._own(part.provider_metadata)
        page = {**({"title": part.title} if part.title else {}), **facts}
        start, end = count_in(facts, "start_index"), count_in(facts, "end_index")
        place = _source_place(part)
        is_cited = any(one.source.id == part.source_id for one in self._cited)
        if start is not None or end is not None or is_cited:
            self._pages[place] = page
        elif part.url in self._urls:
            return
        else:
            self._urls.add(part.url)
            self.mentioned.append({"url": part.url, **page} if page else part.url)
        self.places[number] = place

    def _file(self, number: int, part: FilePart) -> None:
        own = self._own(part.provider_metadata)
        if media_type_of(part.url).partition("/")[0] == AUDIO_TYPE and self._audio is None:
            self._audio = {**_object(own.get(AUDIO)), "data": part.url.partition(",")[2]}
            self.places[number] = (AUDIO, 0)
        elif part.media_type.startswith("image/"):
            self.places[number] = ("images", len(self._images))
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
            {"url": place[1], "title": "", **page} for place, page in pages.items() if type(place) is tuple
        ]
        annotations = [*({"type": "url_citation", "url_citation": page} for page in cited), *others]
        found = {"annotations": annotations, "executed_tools": self._tools, "images": self._images}
        members: JsonObject = {name: item for name, item in found.items() if item}
        return members | ({} if self._audio is None else {AUDIO: self._audio})
