"""Responses of the Messages API ↔ one assistant message: a body, an error, or recorded events.

A body is the last step of the last assistant message.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from partita.errors import ConversionError
from partita.formats.answers.outlet import INTERRUPTED
from partita.formats.core.last_step import NO_OUTPUT, last_step
from partita.formats.core.metadata import notes
from partita.formats.core.report import Place, Record, Report
from partita.formats.core.residue import residue, restore
from partita.formats.events import UNNAMED, fold, load_events
from partita.formats.format import Dumped, Loaded
from partita.formats.losses import Loss
from partita.types.codec import Codec, to_json
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of
from partita.types.messages import AssistantContent, AssistantMessage, Message
from partita.types.parts import ReasoningPart, StepStartPart, TextPart
from partita.types.usage import Usage
from partita.types.value import Extra

from . import wire
from .blocks import is_written, read_blocks, write_blocks
from .server_tools import FIELDS, inverse
from .stream import EVENTS, REASONS, SAID, AnthropicDecoder, replaced_losses
from .usage import read_usage, write_usage
from .wire import NAME

USAGE: Final[Codec[Usage]] = Codec(Usage)

STOPS: Final[Mapping[str, str]] = {
    "stop": "end_turn",
    "tool-calls": "tool_use",
    "length": "max_tokens",
    "content-filter": "refusal",
}
"""Stop reasons for the finish reasons of other providers."""

ADDED: Final = "a body requires it"

REPORT: Final = Report(
    NAME,
    default="a body has no place for it",
    reasons={"output": NO_OUTPUT, "usage": "Anthropic counts under other names"},
    spelling=frozenset({"index"}),
)


def is_response(payload: Json) -> bool:
    """Whether a payload is a body, an error, or an event."""
    kind = payload.get("type") if is_object(payload) else None
    return is_object(payload) and ((isinstance(kind, str) and kind in EVENTS) or "error" in payload)


def load_response(payload: Json) -> Loaded:
    """Read a response: its body, an error, or its events."""
    if is_array(payload):
        return _load_events(payload)
    if not is_object(payload) or not is_response(payload):
        found = kind_of(payload) if not is_object(payload) else "an object without a known type"
        raise ConversionError(f"{found} is not a response", where="$", hint="give a body or its events")
    if payload.get("type") == "message" and is_array(payload.get("content", [])):
        return Loaded((_read_body(payload)[0],))
    if payload.get("type", "error") not in ("message", "error"):
        return _load_events([payload])
    folded = fold([("$", chunk) for chunk in AnthropicDecoder().read_body(payload)], UNNAMED)
    return Loaded((_named(folded.message),), folded.losses, is_complete=payload.get("type") == "message")


def _load_events(events: Sequence[Json]) -> Loaded:
    loaded = load_events(AnthropicDecoder(), events)
    messages = tuple(_named(one) if isinstance(one, AssistantMessage) else one for one in loaded.messages)
    return Loaded(messages, (*loaded.losses, *replaced_losses(events)), is_complete=True)


def _named(message: AssistantMessage) -> AssistantMessage:
    """The message of a stream under the id of the response, without what only a stream says of its parts."""
    shown = message.parts[1:] if message.parts[:1] == (StepStartPart(),) else message.parts
    parts = tuple(replace(part, id=None) if isinstance(part, ReasoningPart) else part for part in shown)
    metadata = message.content.metadata
    name = metadata.get("responseId") if is_object(metadata) else None
    id_ = name if isinstance(name, str) and name else message.id
    return replace(message, id=id_, content=replace(message.content, parts=parts))


def _read_body(body: JsonObject) -> tuple[AssistantMessage, dict[Place, Any]]:
    """The message of a body, and its parts by their places."""
    response = wire.RESPONSE.read(body)
    found = read_blocks(response.content, response.id or UNNAMED)
    parts = tuple(_done(part) for part, _ in found)
    said = {SAID.get(key, key): item for key, item in (response.extra or {}).items() if item is not None}
    if isinstance(response.stop_sequence, str):
        said[SAID["stop_sequence"]] = response.stop_sequence
    stop = response.stop_reason if isinstance(response.stop_reason, str) else None
    metadata: JsonObject = {"finishReason": INTERRUPTED if stop is None else REASONS.get(stop, "other")}
    metadata |= {} if stop is None else {"rawFinishReason": stop}
    metadata |= (
        {"usage": to_json(read_usage(response.usage))} if is_object(response.usage) and response.usage else {}
    )
    metadata |= {"complete": False} if stop is None else {}
    metadata |= {"model": response.model} if response.model else {}
    metadata |= {"responseId": response.id} if response.id else {}
    metadata |= {NAME: said} if said else {}
    message = AssistantMessage(
        id=response.id or UNNAMED, content=AssistantContent(parts=parts, metadata=metadata)
    )
    kept = residue(_write_body(message, []), replace(response, content=()))
    if kept:
        content = replace(message.content, provider_metadata={NAME: {FIELDS: kept}})
        message = replace(message, content=content)
    places: dict[Place, Any] = {place: part for part, (_, place) in zip(parts, found, strict=True)}
    return message, {**places, (): message}


def _done(part: Any) -> Any:
    return replace(part, state="done") if isinstance(part, TextPart | ReasoningPart) else part


def dump_response(messages: Sequence[Message]) -> Dumped:
    """Write the last response as a body. All other messages are lost."""
    record = Record()
    step = last_step(messages, is_written, record)
    blocks, places = write_blocks(step.parts, None)
    error = _write_error(step.message) if not blocks else None
    record.add(step._replace(number=1), (), places)
    if error is not None:
        payload: JsonObject = error
    else:
        if step.text is not None:
            blocks.append(wire.Text(text=step.text))
        metadata = step.message.content.metadata
        for name in ("model", "responseId", "finishReason", "usage"):
            if not is_object(metadata) or name not in metadata:
                path = f"{step.path}.content.metadata.{name}"
                record.losses.append(Loss(path, f"no {name}", ADDED, "repaired"))
        kept = notes(notes(step.message.content.provider_metadata, NAME), FIELDS)
        payload = to_json(restore(_write_body(step.message, blocks), kept))
    return Dumped(payload, lambda: REPORT.compare(record, _read_back(payload)))


def _read_back(payload: JsonObject) -> dict[Place, Any]:
    if payload.get("type") == "message":
        return _read_body(payload)[1]
    return {(): load_response(payload).messages[0]}


def _write_body(message: AssistantMessage, blocks: Sequence[Any]) -> wire.Response:
    about = message.content.metadata if is_object(message.content.metadata) else {}
    own = notes(about, NAME)
    said = {
        inverse(SAID).get(key, key): item for key, item in own.items() if key not in ("errors", "replaced")
    }
    name, model = about.get("responseId"), about.get("model")
    stop_sequence = said.pop("stop_sequence", None)
    return wire.Response(
        id=name if isinstance(name, str) and name else message.id,
        model=model if isinstance(model, str) else "",
        content=tuple(blocks),
        stop_reason=_stop_reason(about, blocks),
        stop_sequence=stop_sequence,
        usage=_usage(about, message.content.usage),
        extra=Extra(said) if said else None,
    )


def _stop_reason(about: JsonObject, blocks: Iterable[Any]) -> str | None:
    reason, raw = about.get("finishReason"), about.get("rawFinishReason")
    if isinstance(raw, str) and REASONS.get(raw, "other") == reason:
        return raw
    if reason == INTERRUPTED or (reason == "error" and raw is None):
        return None
    waits = any(isinstance(block, wire.ToolUse) for block in blocks)
    stop = STOPS.get(reason) if isinstance(reason, str) else None
    return stop or ("tool_use" if waits else "end_turn")


def _usage(about: JsonObject, usage: Usage | None) -> JsonObject:
    counts: Json = about.get("usage")
    if is_object(counts):  # the metadata may hold anything
        known = {name: count for name, count in counts.items() if type(count) is int or name == "raw"}
        extra = {name: count for name, count in counts.items() if name == "billed"}
        usage = USAGE.read({**known, **extra})
    return write_usage(usage or Usage())


def _write_error(message: AssistantMessage) -> JsonObject | None:
    """The error that came instead of a body."""
    about = message.content.metadata if is_object(message.content.metadata) else {}
    own = notes(about, NAME)
    errors = own.get("errors")
    if not is_array(errors) or len(errors) != 1 or "responseId" in about:
        return None
    more = {inverse(SAID).get(key, key): item for key, item in own.items() if key != "errors"}
    return {"type": "error", "error": errors[0], **more}
