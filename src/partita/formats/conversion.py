"""Conversion from one format to another: `convert`, which consists of `read` and `write`.

`read` calls the `load` of a format (or its decoder), `write` calls its `dump`. Both also handle what no
format does itself: the sidecar, repairs of calls, requests for another API, and the paths and severity of
losses.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
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
from .losses import Loss, by_member, in_messages, relocate
from .model_view import OpenCalls, repair_calls
from .registry import ALIASES, CHAT, get_format

NOTES: Final = (".mastra:note", ".foreign:type")
"""Ends of the paths of notes that readers add: the form of a value, and the type that a message had."""

CANONICAL: Final = ("canonical", "legacy")
"""Formats whose payload is canonical messages."""

MODEL_MESSAGES: Final = "ai-sdk-model-v"
MODEL_VERSIONS: Final = frozenset({"5", "6", "7"})


_GENERATED: Final = re.compile(r'"(message-\d+|instructions|system)"')


class Converted(Dumped):
    """A payload in another format, and everything that reading and writing could not carry over."""

    __slots__ = ("guess", "source")

    def __init__(
        self, payload: Json, losses: FoundLosses, source: str, guess: FormatGuess | None = None
    ) -> None:
        """`source`: the format of the original payload; `guess`: its certainty, if it was detected."""
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
    """Convert a payload to another format and report everything that could not be carried over.

    Paths of losses begin with `$` in the payload, and with `messages` in the canonical messages read from it,
    which have what the target cannot hold. If the payload is canonical, all begin with `$`.

    `source` is detected if it is `None`. The events of a stream are folded into messages. With `carry`,
    values that the target has no place for are embedded in its metadata field, if it has one: then nothing is
    lost, and converting the payload back restores them. With `repair`, every call gets exactly one result, as
    models require: a call without a result gets one (`answer`) or is removed (`remove`).
    """
    writing = get_format(target, "written")
    if source is None:
        loaded, guess = detect_and_read(payload, partial(read, payload))
        name = guess.format
    else:
        reading, guess = get_format(source, "read"), None
        loaded, name = read(payload, reading), reading.name
    dumped = write(loaded, writing, carry=carry, repair=repair)

    def losses() -> Iterator[Loss]:
        yield from loaded.losses
        yield from losses_of_writing(dumped.losses, name)

    return Converted(dumped.payload, losses, name, guess)


def losses_of_writing(losses: Iterable[Loss], source: str) -> Iterable[Loss]:
    """Return the losses of canonical messages that were read from a format, as `convert` does."""
    return losses if source in CANONICAL else in_messages(losses)


def detect_and_read(payload: Json, reader: Callable[[Format], Loaded]) -> tuple[Loaded, FormatGuess]:
    """Return what `reader` returns for the likeliest format that accepts the payload, and that guess.

    If all formats refuse the payload, the error of the likeliest is raised.
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
    """Read the messages of a payload, including those parts that are embedded in its sidecar."""
    loaded = extract(payload, reading) or _load(payload, reading)
    request = loaded.request and replace(loaded.request, api=loaded.request.api or reading.name)
    if loaded.is_complete or reading.is_complete or reading.dump is not None or not is_array(payload):
        return Loaded(loaded.messages, lambda: loaded.losses, request)
    complete = read_completely(loaded, payload, partial(_facts_of, reading))
    return Loaded(loaded.messages, lambda: complete.losses, request)


def _facts_of(reading: Format, record: Json) -> set[Fact]:
    """Return the facts of a record that is read alone."""
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
    """Write messages in a format. The settings of a request are only written for the same API.

    `session`: facts of the session, for formats of session files.
    """
    if session is not None and writing.dump_session is not None:
        dumped = _with_original_paths(writing.dump_session(loaded.messages, session), loaded.messages)
    else:
        dumped = _dump(loaded, writing) if repair is None else _dump_repaired(loaded, writing, repair)
    if carry:
        filled = embed(dumped.payload, loaded, writing)
        if filled is not None:
            return Dumped(filled)
    return Dumped(dumped.payload, lambda: map(_with_severity, dumped.losses))


def _with_severity(loss: Loss) -> Loss:
    """Return a loss with its final severity: generated ids and notes of readers are minor."""
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


def _with_original_paths(dumped: Dumped, messages: Sequence[Message]) -> Dumped:
    """Return what a format has written, with losses by the paths of the original messages."""
    return Dumped(dumped.payload, lambda: _relocate_to_originals(dumped.losses, messages))


def _relocate_to_originals(losses: Sequence[Loss], messages: Sequence[Message]) -> Iterable[Loss]:
    """Return losses by the paths of the original messages. Formats use those of folded messages."""
    if not losses or not any(isinstance(message, ToolMessage) for message in messages):
        return by_member(losses)
    return relocate(by_member(losses), origins(messages))


def _dump(loaded: Loaded, writing: Format) -> Dumped:
    if writing.dump is None:
        raise FormatError(f"{writing.name} can be read but not written", hint="choose another target")
    request = loaded.request
    if request is None:
        return _with_original_paths(writing.dump(loaded.messages), loaded.messages)
    is_same = writing.takes_request and _is_same_api(request.api, writing.name)
    losses = [] if is_same else list(_setting_losses(request))
    if not writing.takes_request:
        dumped = writing.dump(loaded.messages)
        losses += [Loss.of(f"$.tools[{i}]", to_json(one), NO_PLACE) for i, one in enumerate(request.tools)]
    else:
        losses += [] if is_same else _tool_member_losses(request)
        dumped = writing.dump(loaded.messages, request if is_same else Request(_without_extra(request)))
    return Dumped(dumped.payload, lambda: (*losses, *_relocate_to_originals(dumped.losses, loaded.messages)))


def _setting_losses(request: Request) -> Sequence[Loss]:
    return [Loss.of(f"$.{name}", value, SETTING) for name, value in request.settings.items()]


def _tool_member_losses(request: Request) -> Sequence[Loss]:
    """Return the losses of those members of tools that another API does not have."""
    return [
        Loss.of(f"$.tools[{index}].{name}", value, SETTING)
        for index, tool in enumerate(request.tools)
        for name, value in kept_fields(tool.extra).items()
    ]


def _without_extra(request: Request) -> tuple[ToolSpec, ...]:
    return tuple(struct_replace(tool, extra=None) for tool in request.tools)


def _is_same_api(one: str, other: str) -> bool:
    """Whether two formats are of one API. A response repeats settings of its request."""
    apis = [ALIASES.get(name, name).removesuffix("-response") for name in (one, other)]
    return apis[0] == apis[1] or all(api.startswith(CHAT) for api in apis)
