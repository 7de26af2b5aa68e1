"""A payload of one format in another, with everything that could not be carried over."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from msgspec.structs import replace as struct_replace

from partita.errors import FormatError, PartitaError
from partita.formats.losses import NO_PLACE, SETTING
from partita.types.codec import to_json
from partita.types.json import Json, is_array, limited_depth
from partita.types.messages import Message, ToolMessage
from partita.types.tool_results import origins
from partita.types.value import kept_fields

from .core.sidecar import embed, extract
from .core.unread import Fact, message_facts, read_completely, read_events
from .detection.guess import FormatGuess, guess_format, sniff
from .event_streams import load_events
from .format import Dumped, Format, FoundLosses, Loaded, Request, ToolSpec
from .log.session_file import SessionFacts
from .losses import Loss, by_member, relocate
from .model_view import OpenCalls, repair_calls
from .registry import ALIASES, CHAT, get_format

NOTES: Final = (".mastra:note", ".foreign:type")
"""Members that readers add: the form in which a value was written, and the type that a message had."""

MODEL_MESSAGES: Final = "ai-sdk-model-v"
MODEL_VERSIONS: Final = frozenset({"5", "6", "7"})


_GENERATED: Final = re.compile(r'"(message-\d+|instructions|system)"')


class Converted(Dumped):
    """A payload in another format, and what reading and writing could not carry over."""

    __slots__ = ("guess", "source")

    def __init__(
        self, payload: Json, losses: FoundLosses, source: str, guess: FormatGuess | None = None
    ) -> None:
        """`source`: the format that it was read as; `guess`: how certain that is, if none was given."""
        super().__init__(payload, losses)
        self.source, self.guess = source, guess


def convert(
    payload: Json,
    source: str | None = None,
    target: str = "canonical",
    *,
    carry: bool = False,
    repair: OpenCalls | None = None,
) -> Converted:
    """A payload of one format in another, with the losses of both ways.

    `source` is detected if it is not given. The events of a stream are folded. With `carry`, what the target
    has no place for is embedded in its metadata field, if it has one, and nothing is lost: converting it back
    restores it. With `repair`, every call gets exactly one result, as models require: a call that has none is
    answered or removed.
    """
    writing = get_format(target)
    if source is None:
        loaded, guess = read_guessed(payload, partial(read, payload))
        name = guess.format
    else:
        reading, guess = get_format(source), None
        loaded, name = read(payload, reading), reading.name
    dumped = write(loaded, writing, carry=carry, repair=repair)
    return Converted(dumped.payload, lambda: (*loaded.losses, *dumped.losses), name, guess)


def read_guessed(payload: Json, reader: Callable[[Format], Loaded]) -> tuple[Loaded, FormatGuess]:
    """What `reader` returns for the likeliest format that accepts the payload, and that guess.

    If all formats refuse the payload, the error is that of the likeliest.
    """
    guesses = (guess_format(payload), *sniff(payload)[1:])
    refusals: list[tuple[FormatGuess, PartitaError]] = []
    for guess in guesses:
        try:
            loaded = reader(get_format(guess.format))
        except PartitaError as error:
            refusals.append((guess, error))
        else:
            refused = [
                f"{other.format} refuses it: {error.what} ({error.where})" for other, error in refusals
            ]
            return loaded, guess._replace(why="; ".join([guess.why, *refused]))
    raise refusals[0][1]


@limited_depth()
def read(payload: Json, reading: Format) -> Loaded:
    """The messages of a payload, with what it carries along, and all losses."""
    loaded = extract(payload, reading) or _load(payload, reading)
    asked = loaded.request and replace(loaded.request, api=loaded.request.api or reading.name)
    if loaded.is_complete or reading.is_complete or reading.dump is not None or not is_array(payload):
        return Loaded(loaded.messages, lambda: loaded.losses, asked)
    complete = read_completely(loaded, payload, partial(_facts_of, reading))
    return Loaded(loaded.messages, lambda: complete.losses, asked)


def _facts_of(reading: Format, record: Json) -> set[Fact]:
    """What the messages of a record contain if it is read alone."""
    try:
        return message_facts(_load([record], reading).messages)
    except PartitaError:
        return set()


@limited_depth()
def write(
    loaded: Loaded,
    writing: Format,
    *,
    carry: bool = False,
    repair: OpenCalls | None = None,
    session: SessionFacts | None = None,
) -> Dumped:
    """Messages in a format, and all losses. Settings of a request are only written for the same API.

    `session`: what is known of the session, for formats of session files.
    """
    if session is not None and writing.dump_session is not None:
        dumped = _with_places(writing.dump_session(loaded.messages, session), loaded.messages)
    else:
        dumped = _dump(loaded, writing) if repair is None else _dump_repaired(loaded, writing, repair)
    if carry:
        filled = embed(dumped.payload, loaded, writing)
        if filled is not None:
            return Dumped(filled)
    return Dumped(dumped.payload, lambda: map(_weighed, dumped.losses))


def _weighed(loss: Loss) -> Loss:
    """A loss with its severity: ids that a reader has generated and notes of readers are minor."""
    is_generated = loss.path.endswith("].id") and _GENERATED.fullmatch(loss.what)
    is_note = loss.path.endswith(NOTES)
    return loss._replace(severity="minor") if is_generated or is_note else loss


def _load(payload: Json, reading: Format) -> Loaded:
    if reading.load is not None:
        return reading.load(payload)
    if reading.decoder is None:
        raise FormatError(f"{reading.name} can be written but not read", hint="choose another source")
    events = payload if is_array(payload) else [payload]
    return (
        load_events(reading.decoder(), events)
        if reading.is_complete
        else read_events(reading.decoder, events)
    )


def _dump_repaired(loaded: Loaded, writing: Format, open_calls: OpenCalls) -> Dumped:
    version = writing.name.removeprefix(MODEL_MESSAGES)
    if version in MODEL_VERSIONS and loaded.request is None:
        from .ai_sdk.model.repair import to_model_messages  # not loaded for other formats

        return to_model_messages(loaded.messages, version=int(version), open_calls=open_calls)
    repaired = repair_calls(loaded.messages, open_calls=open_calls)
    dumped = _dump(Loaded(repaired.messages, request=loaded.request), writing)
    return Dumped(dumped.payload, lambda: (*repaired.repairs, *relocate(dumped.losses, repaired.origins)))


def _with_places(dumped: Dumped, messages: Sequence[Message]) -> Dumped:
    """What a format has written, with losses by the places of the given messages."""
    return Dumped(dumped.payload, lambda: _relocated(dumped.losses, messages))


def _relocated(losses: Sequence[Loss], messages: Sequence[Message]) -> Iterable[Loss]:
    """Losses of a format, whose paths are those of folded messages, with the paths of the given ones."""
    if not losses or not any(isinstance(message, ToolMessage) for message in messages):
        return by_member(losses)
    return relocate(by_member(losses), origins(messages))


def _dump(loaded: Loaded, writing: Format) -> Dumped:
    if writing.dump is None:
        raise FormatError(f"{writing.name} can be read but not written", hint="choose another target")
    request = loaded.request
    if request is None:
        return _with_places(writing.dump(loaded.messages), loaded.messages)
    same = writing.takes_request and _is_same_api(request.api, writing.name)
    losses = [] if same else list(_settings(request))
    if not writing.takes_request:
        dumped = writing.dump(loaded.messages)
        losses += [Loss.of(f"$.tools[{i}]", to_json(one), NO_PLACE) for i, one in enumerate(request.tools)]
    else:
        losses += [] if same else _members(request)
        dumped = writing.dump(loaded.messages, request if same else Request(_bare(request)))
    return Dumped(dumped.payload, lambda: (*losses, *_relocated(dumped.losses, loaded.messages)))


def _settings(request: Request) -> Sequence[Loss]:
    return [Loss.of(f"$.{name}", value, SETTING) for name, value in request.settings.items()]


def _members(request: Request) -> Sequence[Loss]:
    """Members of tools that another API does not have."""
    return [
        Loss.of(f"$.tools[{index}].{name}", value, SETTING)
        for index, tool in enumerate(request.tools)
        for name, value in kept_fields(tool.extra).items()
    ]


def _bare(request: Request) -> tuple[ToolSpec, ...]:
    return tuple(struct_replace(tool, extra=None) for tool in request.tools)


def _is_same_api(one: str, other: str) -> bool:
    """Whether two formats are of one API. A response repeats settings of its request."""
    apis = [ALIASES.get(name, name).removesuffix("-response") for name in (one, other)]
    return apis[0] == apis[1] or all(api.startswith(CHAT) for api in apis)
