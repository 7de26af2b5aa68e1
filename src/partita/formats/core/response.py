"""Responses of an API ↔ one assistant message. A payload is a body, an error, or recorded events of a stream.

A body is one step of the model. Its blocks are read and written by the codecs of requests; everything else in
it, such as the finish reason and usage, is the metadata of the message, exactly as `decoder` reads a stream.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from partita.errors import ConversionError, DecodeError
from partita.formats.event_streams import UNNAMED, load_events
from partita.formats.format import Decoder, Dumped, Format, Loaded
from partita.formats.losses import OTHER_FORM, REQUIRED, RESPONSE, Loss
from partita.types.codec import Codec, to_json
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import AssistantContent, AssistantMessage, AssistantPart, Message, ToolCallPart
from partita.types.parts import ReasoningPart, StepStartPart, TextPart
from partita.types.usage import Usage, UsageNames
from partita.types.value import Extra

from .codec import MessageBlocks
from .decoder import INTERRUPTED
from .members import described
from .metadata import FIELDS, NO_NOTES, message_notes, notes, with_message_notes
from .report import Record, Report
from .turns import Position, ReadPart, Results, Step, split, turn_losses
from .wire import Wire, read_wire, residue, restore

HINT: Final = "give a body or its events"
ERRORS: Final = "errors"
"""The member of the metadata with errors as texts. In the API's own metadata it has them as they were."""

MADE_BY_DECODERS: Final = frozenset({ERRORS, "replaced"})
"""Members of the API's own metadata that only decoders add, so that they are not members of a body."""

RESPONSE_REASONS: Final[Mapping[str, str]] = {
    "output": RESPONSE,
    "usage": OTHER_FORM,
}
_USAGE: Final[Codec[Usage]] = Codec(Usage)


class ReadBody(NamedTuple):
    """The result of reading a body."""

    response: Wire
    """The body without its blocks."""
    parts: Sequence[ReadPart]
    stop: str | UnsetType | None
    """The finish reason as the API names it; `None` if the response was interrupted."""
    id: str | UnsetType | None = None
    model: str | None = None
    members: JsonObject = NO_NOTES
    """Declared members that become metadata. Undeclared ones always do."""
    notes: JsonObject = NO_NOTES
    """Notes about the message."""


class BodyFacts(NamedTuple):
    """The values for a body, besides its blocks."""

    message: AssistantMessage
    stop: str | None
    usage: JsonObject
    members: JsonObject
    """The API's own metadata, by the names of the body's members."""
    id: str | None
    model: str | None

    @property
    def extra(self) -> Extra | None:
        """The members of the body that are not declared."""
        return Extra(self.members) if self.members else None


class Responses:
    """Reads and writes the responses of an API."""

    def __init__(
        self,
        namespace: str,
        decoder: Callable[[], Decoder],
        body: Codec[Any],
        *,
        is_body: Callable[[JsonObject], bool],
        is_event: Callable[[JsonObject], bool],
        error_text: Callable[[JsonObject], str | None],
        read_body: Callable[[Any], ReadBody],
        write_body: Callable[[BodyFacts, Any], Wire],
        blocks: MessageBlocks,
        required: Sequence[str],
        finish_reasons: Mapping[str, str],
        usage: UsageNames,
        read_usage: Callable[[JsonObject], Usage | None],
        other_reasons: Mapping[str, str | None] | None = None,
        names: Mapping[str, str] | None = None,
        reasons: Mapping[str, str] | None = None,
        spelling: frozenset[str] = frozenset(),
    ) -> None:
        """`body`: reads a body, whose member `usage` has the counts.

        `error_text`: returns the text of an error, or `None` for any other payload.
        `write_body`: returns a body with the blocks that `blocks` writes for a response.
        `required`: the metadata that a body must have.
        `finish_reasons`: our finish reasons by those of the API. If several are the same, the first is
        written.
        `other_reasons`: the API's finish reasons by ours, where those are not to be used.
        `names`: names of the body's members in metadata, where they have another one.
        `reasons`, `spelling`: see `Report`.
        """
        reasons = {**RESPONSE_REASONS, **(reasons or {})}
        self._report = Report(namespace, reasons=reasons, spelling=spelling)
        self.decoder, self._body, self._is_body, self._is_event = decoder, body, is_body, is_event
        self._error_text = error_text
        self._read_body, self._write_body = read_body, write_body
        self._blocks, self._required = blocks, required
        self._namespace, self._finish_reasons = namespace, finish_reasons
        first = {reason: raw for raw, reason in reversed([*finish_reasons.items()]) if reason != "other"}
        self._other_reasons = {**first, **(other_reasons or {})}
        self._usage, self._read_usage = usage, read_usage
        self._names = names or {}
        self._members = {name: member for member, name in self._names.items()}

    def format(self, name: str, title: str) -> Format:
        """Return the format of the responses."""
        return Format(name, title, self.load, self.dump, self.decoder, is_complete=True)

    def is_response(self, payload: JsonObject) -> bool:
        """Whether a payload is a body, an error, or an event."""
        return self._is_body(payload) or self._is_event(payload) or self._error_text(payload) is not None

    def load(self, payload: Json) -> Loaded:
        """Read a body, an error, or events."""
        if is_array(payload):
            return self._load_events(payload)
        if not is_object(payload) or not self.is_response(payload):
            what = f"{described(payload)} is not a response"
            raise ConversionError(what, where="$", hint=HINT)
        if self._is_body(payload):
            return self._loaded(self._read(payload)[0])
        if self._is_event(payload):
            return self._load_events([payload])
        more: JsonObject = {ERRORS: [self._error_text(payload)], self._namespace: {ERRORS: [payload]}}
        content = AssistantContent(parts=(), metadata={"finishReason": "error", **more})
        return self._loaded(AssistantMessage(id=UNNAMED, content=content))

    def _loaded(self, message: AssistantMessage) -> Loaded:
        """Return a message that is written back as a body, even if it was read by the format of requests."""
        return Loaded((message,), write_back=lambda: self.dump((message,)).payload)

    def _load_events(self, events: Sequence[Json]) -> Loaded:
        loaded = load_events(self.decoder(), events)
        found = (one for one in loaded.messages if isinstance(one, AssistantMessage))
        return Loaded(tuple(map(_as_response, found)), loaded.losses, is_complete=True)

    def dump(self, messages: Sequence[Message]) -> Dumped:
        """Write the last response as a body. Everything else is reported as lost."""
        record = Record()
        step = last_step(messages, self._blocks.is_written, record)
        message = step.message
        written, positions = self._blocks.write_response(step.parts, step.text)
        record.add(step._replace(number=1), (), positions)
        errors = notes(metadata_of(message), self._namespace).get(ERRORS)
        error = errors[0] if is_array(errors) and len(errors) == 1 else None
        has_content = "responseId" in metadata_of(message) or step.text is not None or {*positions} - {None}
        if is_object(error) and self.is_response(error) and not has_content:
            payload: JsonObject = error
        else:
            for name in self._required:
                if name not in metadata_of(message):
                    path = f"{step.path}.content.metadata.{name}"
                    record.losses.append(Loss(path, f"no {name}", REQUIRED, "repaired"))
            kept = notes(message_notes(message, self._namespace), FIELDS)
            has_calls = any(
                position is not None and type(part) is ToolCallPart and not part.provider_executed
                for (part, _), position in zip(step.parts, positions, strict=True)
            )
            facts = self._facts(message, "tool-calls" if has_calls else "stop")
            payload = to_json(restore(self._write_body(facts, written), kept))
        return Dumped(payload, lambda: self._report.compare(record, self._read_back(payload)))

    def _read(self, body: JsonObject) -> tuple[AssistantMessage, dict[Position, Any]]:
        """Return the message of a body, and its parts by position."""
        response = read_wire(self._body, body, "$", HINT)
        read = self._read_body(response)
        parts = tuple(_finished(part) for part, _ in read.parts)
        stop = read.stop if isinstance(read.stop, str) else None
        reason = INTERRUPTED if stop is None else self._finish_reasons.get(stop, "other")
        usage = self._read_usage(response.usage) if is_object(response.usage) else None
        members = {**(response.extra or {}), **read.members}
        own = {self._names.get(name, name): item for name, item in members.items() if item is not None}
        id_ = read.id if isinstance(read.id, str) and read.id else None
        found: JsonObject = {
            "finishReason": reason,
            "rawFinishReason": stop,
            "usage": usage and to_json(usage),
            "complete": False if reason == INTERRUPTED else None,
            "model": read.model or None,
            "responseId": id_,
            self._namespace: own or None,
        }
        metadata = {name: item for name, item in found.items() if item is not None}
        message = AssistantMessage(
            id=id_ or UNNAMED, content=AssistantContent(parts=parts, metadata=metadata)
        )
        written = self._write_body(self._facts(message, "stop"), self._blocks.write_response((), None)[0])
        kept = residue(written, read.response)
        noted = {**read.notes, FIELDS: kept} if kept else read.notes
        message = with_message_notes(message, self._namespace, noted)
        positions = {position: part for part, (_, position) in zip(parts, read.parts, strict=True)}
        return message, {**positions, (): message}

    def _facts(self, message: AssistantMessage, default: str) -> BodyFacts:
        """Collect the values for a body. `default`: the finish reason if the message has none."""
        found, usage = metadata_of(message), usage_of(message)
        own = notes(found, self._namespace)
        raw, id_, model = usage.raw, found.get("responseId"), found.get("model")
        is_own = is_object(raw) and self._read_usage(raw) == usage
        return BodyFacts(
            message,
            self._raw_reason(found, default),
            raw if is_object(raw) and is_own else self._usage.write(replace(usage, raw=UNSET, extra=None)),
            {self._members.get(key, key): one for key, one in own.items() if key not in MADE_BY_DECODERS},
            id_ if isinstance(id_, str) else None,
            model if isinstance(model, str) else None,
        )

    def _raw_reason(self, metadata: JsonObject, default: str) -> str | None:
        """Return the finish reason as the API names it: the raw one, if it is of this API, or one for ours.

        `None` if the response was interrupted.
        """
        reason, raw = metadata.get("finishReason"), metadata.get("rawFinishReason")
        if isinstance(raw, str) and self._finish_reasons.get(raw, "other") == reason:
            return raw
        if reason == INTERRUPTED:
            return None
        usual = self._other_reasons[default]
        return self._other_reasons.get(reason, usual) if isinstance(reason, str) else usual

    def _read_back(self, payload: JsonObject) -> dict[Position, Any]:
        if self._is_body(payload):
            return self._read(payload)[1]
        return {(): self.load(payload).messages[0]}


def last_step(
    messages: Sequence[Message], is_written: Callable[[AssistantPart], bool], record: Record
) -> Step:
    """Return the last step of the model. Everything else is reported as lost."""
    turns = list(split(messages, is_written))
    steps = [turn for turn in turns if isinstance(turn, Step) and not _is_hidden(turn)]
    step = steps[-1] if steps else Step(AssistantMessage(id=UNNAMED, content=[]), "", [], 1, [])
    if not steps:
        record.losses.append(Loss("$", "no response", RESPONSE, "repaired"))
    for turn in turns:
        if turn is step:
            continue
        if isinstance(turn, Results) and turn.step is not None and turn.step.message is step.message:
            record.losses.extend(turn_losses(turn, RESPONSE))
        elif isinstance(turn, Step) and turn.message is step.message:
            record.losses += [Loss.of(path, part, RESPONSE) for part, path in turn.parts]
        else:
            record.losses.extend(turn_losses(turn, RESPONSE))
    return step


def _is_hidden(step: Step) -> bool:
    return step.message.internal or step.message.type == "event"


def metadata_of(message: AssistantMessage) -> JsonObject:
    """Return the metadata of a message, or an empty object if it is another value."""
    found = message.content.metadata
    return found if is_object(found) else {}


def usage_of(message: AssistantMessage) -> Usage:
    """Return the usage of a message, without counts if it has none."""
    counts: Json = metadata_of(message).get("usage")
    if is_object(counts):
        with suppress(DecodeError):  # metadata may hold anything
            return _USAGE.read(counts)
    return message.content.usage or Usage()


def _finished(part: Any) -> Any:
    return replace(part, state="done") if isinstance(part, TextPart | ReasoningPart) else part


def _as_response(message: AssistantMessage) -> AssistantMessage:
    """Return the message of a stream in the form of a body's message: id of the response, no step start."""
    shown = message.parts[1:] if message.parts[:1] == (StepStartPart(),) else message.parts
    parts = tuple(replace(part, id=None) if isinstance(part, ReasoningPart) else part for part in shown)
    name = metadata_of(message).get("responseId")
    id_ = name if isinstance(name, str) and name else message.id
    return replace(message, id=id_, content=replace(message.content, parts=parts))
