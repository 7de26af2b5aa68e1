"""The laws of formats: what must hold for every format, as checks to run on yours.

    from partita.testing import check_format

    def test_my_format_keeps_the_laws() -> None:
        check_format(FORMAT, payloads=[PAYLOAD], streams=[EVENTS])

`check_format` tries all of them; each law is also a function of its own. They raise `LawError`.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import Final, Literal

from partita.errors import PartitaError
from partita.formats.conversion import read, write
from partita.formats.event_streams import FoldedEvents, fold_events
from partita.formats.format import Decoder, Format, Loaded
from partita.formats.losses import OTHER_FORM, json_losses
from partita.types.codec import read_message, to_json
from partita.types.json import Json, dumps
from partita.types.messages import Message

from .full_conversation import full_conversation
from .mutations import Path, changed, extended, leaves, misplaced, mistaken, value_at, with_value

_OPEN: Final[Mapping[str, frozenset[str]]] = {
    "nothing": frozenset(),
    "texts": frozenset({"streaming"}),
    "calls": frozenset({"streaming", "input-streaming", "input-available", "approval-requested"}),
}
_NUMBER: Final = re.compile(r"\[\d+\]")

IMPLIED: Final = frozenset({"type", "state", "role", "createdAt", "mediaType", "filename"})
"""Members that a payload may imply, or spell in another way."""
SHORTEST: Final = 5
"""Texts that are not longer may occur by chance."""

FEW: Final = 24
"""How many leaves, cuts and damages `check_format` tries for each example."""


class LawError(PartitaError, AssertionError):
    """A format that breaks a law: what, where, and what to do."""


def check_format(
    format_: Format,
    *,
    payloads: Iterable[Json] = (),
    streams: Iterable[Sequence[Json]] = (),
    conversations: Iterable[Sequence[Message]] = (),
    most: int = FEW,
) -> None:
    """Check all laws with payloads and streams of the format, and with conversations that it should write.

    The conversation that has everything a message can hold is always written. `most` limits how many leaves
    are changed and how many damages are done for each of them.
    """
    if format_.dump is not None:
        check_values(format_, full_conversation())
        for messages in (full_conversation(), *conversations):
            check_conversation(format_, messages)
            check_conversation_leaves(format_, messages, spread(list(leaves(to_json(messages))), most))
    for payload in payloads:
        check_payload(format_, payload)
        check_leaves(format_, payload, spread(list(leaves(payload)), most))
        check_unknown_members(format_, payload, spread(list(extended(payload)), most))
        check_damage(format_, islice(misplaced(payload), most))
        check_damage(format_, spread(list(mistaken(payload)), most))
    for events in streams:
        check_stream(format_, events, spread(range(len(events) + 1), most))
        check_events(format_, [event for event in events for _ in range(2)])
        check_leaves(format_, list(events), spread(list(leaves(list(events))), most))
        check_damage(format_, spread(list(mistaken(list(events))), most))


def spread(cases: Sequence[Path] | Sequence[Json], most: int) -> list[Json]:
    """So many of the cases, evenly spread."""
    if len(cases) <= most:
        return list(cases)
    return [cases[number * len(cases) // most] for number in range(most)]


def check_reading(format_: Format, payload: Json) -> Loaded:
    """A payload is read, is not changed by that, and gives the same messages each time."""
    loaded = _read(format_, payload)
    if _read(format_, payload).messages != loaded.messages:
        raise LawError("the same payload gives other messages the second time", hint="make no ids or times")
    return loaded


def check_payload(format_: Format, payload: Json, adds: Collection[str] = ()) -> Loaded:
    """A payload is written back as it was read, unless a loss is reported.

    `adds`: members that are written even if they were not there, as paths with `*` for numbers.
    """
    loaded = check_reading(format_, payload)
    if format_.dump is not None:
        written = write(loaded, format_)
        is_single = isinstance(written.payload, list) and not isinstance(payload, list)
        given = [payload] if is_single else payload
        if not (loaded.losses or written.losses):
            _check_same(given, written.payload, adds, OTHER_FORM)
    return loaded


def check_conversation(format_: Format, messages: Sequence[Message]) -> None:
    """Messages are written and not changed by that; what is read back is written in the same way again."""
    before = dumps(to_json(messages))
    payload = write(Loaded(tuple(messages)), format_).payload
    dumps(payload)  # a payload is JSON
    if dumps(to_json(messages)) != before:
        raise LawError("messages were changed by writing them", hint="copy what you change")
    if format_.load is not None:
        loaded = _read(format_, payload)
        again = write(loaded, format_)
        if not (loaded.losses or again.losses):
            _check_same(payload, again.payload, (), "it is written in another way the second time")


def check_values(format_: Format, messages: Sequence[Message]) -> None:
    """Each text that messages contain once is in the payload or in a loss.

    This looks at all of them at once, so it is cheaper than changing one at a time, and it finds less.
    """
    value = to_json(messages)
    written = write(Loaded(tuple(messages)), format_)
    seen = dumps([written.payload, [loss.what for loss in written.losses]]).decode().replace("\\", "")
    paths = [path for path in leaves(value) if path[-1] not in IMPLIED]
    texts = [(path, text) for path in paths if isinstance(text := value_at(value, path), str)]
    counts = Counter(text for _, text in texts)
    for path, text in texts:
        is_distinct = counts[text] == 1 and len(text) > SHORTEST and not text.startswith("data:")
        if is_distinct and dumps(text).decode()[1:-1].replace("\\", "") not in seen:
            raise LawError(
                "a value is lost in silence", where=_spelled(path), hint="keep it or report a loss"
            )


def check_leaves(format_: Format, payload: Json, paths: Iterable[Path]) -> None:
    """A change of any leaf of a payload shows in the messages or the losses, or is refused."""
    _check_changes(payload, paths, lambda value: _seen(format_, value))


def check_unknown_members(format_: Format, payload: Json, cases: Iterable[tuple[Path, Json]]) -> None:
    """A member that a format does not know shows in the messages or the losses, or is refused.

    `cases`: some of `extended(payload)`.
    """
    before = _seen(format_, payload)
    for path, value in cases:
        if before is not None and _seen(format_, value) == before:
            raise LawError("an unknown member is lost in silence", where=_spelled(path), hint="report a loss")


def check_conversation_leaves(format_: Format, messages: Sequence[Message], paths: Iterable[Path]) -> None:
    """A change of any leaf of messages shows in what is read back or in the losses, or is refused."""

    def seen(value: Json) -> bytes | None:
        try:
            made = [read_message(message) for message in value]
            written = write(Loaded(tuple(made)), format_)
            again: Json = written.payload
            if format_.load is not None:
                again = to_json(format_.load(written.payload).messages)
            return dumps([again, [tuple(loss) for loss in written.losses]])
        except PartitaError:
            return None

    _check_changes(to_json(messages), paths, seen)


def check_damage(format_: Format, payloads: Iterable[Json]) -> None:
    """A damaged payload is read or refused with an error that says what is wrong. It is never changed."""
    for payload in payloads:
        before = repr(payload)
        try:
            _load(format_, payload)
        except PartitaError as error:
            _check_error(error)
        if repr(payload) != before:
            raise LawError("a payload was changed by reading it", hint="copy what you change")


def check_messages(format_: Format, messages: Sequence[Message]) -> None:
    """Messages with anything in them are written, or refused with an error that says what is wrong."""
    try:
        write(Loaded(tuple(messages)), format_).losses  # noqa: B018 # they are found when they are asked for
    except PartitaError as error:
        _check_error(error)


def check_refused(format_: Format, payload: Json) -> None:
    """A payload is refused with an error that says what is wrong, where, and how to fix it."""
    try:
        read(payload, format_)
    except PartitaError as error:
        if not (error.what and error.where and error.hint):
            hint = "give `where` and `hint`"
            raise LawError(f"an error that does not help: {error}", hint=hint) from error
    else:
        raise LawError("it is not refused", hint="raise ConversionError for what you cannot read")


def check_stream(
    format_: Format,
    events: Sequence[Json],
    cuts: Iterable[int],
    *,
    closes: Literal["nothing", "texts", "calls"] = "texts",
) -> None:
    """A stream that ends anywhere folds, and leaves nothing open. The same events give the same chunks.

    `closes`: what `finish` closes. That of an agent also closes calls that nothing will answer; a format
    whose events are chunks themselves closes nothing.
    """
    before = dumps(list(events))
    for cut in cuts:
        folded = fold_strictly(format_, events[:cut])
        parts = [part for message in folded.messages for part in message.parts]
        states = {getattr(part, "state", None) for part in parts}
        if states & _OPEN[closes]:
            raise LawError(f"after {cut} events something stays open", hint="close it in `finish`")
    if dumps(list(events)) != before:
        raise LawError("events were changed by reading them", hint="copy what you change")
    if fold_strictly(format_, events) != fold_strictly(format_, events):
        raise LawError("the same events give other messages the second time", hint="make no ids or times")
    decoder = _decoder(format_)
    for event in events:
        decoder.feed(event)
    decoder.finish()
    if more := decoder.finish():
        raise LawError(f"`finish` gives chunks again: {more}", hint="forget what was closed")


def check_events(format_: Format, events: Sequence[Json]) -> None:
    """Events of any kind in any order fold: each chunk fits those before it, or the event is refused."""
    before, decoder = repr(events), _decoder(format_)
    try:
        for event in events:
            decoder.feed(event)
        decoder.finish()
    except PartitaError as error:
        _check_error(error)
    else:
        fold_strictly(format_, events)
    if repr(events) != before:
        raise LawError("events were changed by reading them", hint="copy what you change")


def check_pieces(
    format_: Format, events: Sequence[Json], path: Path, indices: Iterable[int] | None = None
) -> None:
    """The pieces that a text comes in do not matter: one more cut gives the same messages.

    `path`: where the piece is in an event; `indices`: the events to cut, all that have one by default.
    """
    whole = fold_strictly(format_, events).messages
    for index in pieces_at(events, path) if indices is None else indices:
        event = events[index]
        text = value_at(event, path)
        half = len(text) // 2
        pieces = [with_value(event, path, piece) for piece in (text[:half], text[half:])]
        if fold_strictly(format_, [*events[:index], *pieces, *events[index + 1 :]]).messages != whole:
            raise LawError("a text in two pieces gives another message", where=f"$[{index}]")


def pieces_at(events: Sequence[Json], path: Path) -> list[int]:
    """The events that have a piece of a text at a path which can be cut."""
    found: list[int] = []
    for index, event in enumerate(events):
        try:
            text = value_at(event, path)
        except (LookupError, TypeError):
            continue
        if isinstance(text, str) and len(text) > 1:
            found.append(index)
    return found


def fold_strictly(format_: Format, events: Sequence[Json]) -> FoldedEvents:
    """The messages of a stream; every chunk must fit those before it."""
    folded = fold_events(_decoder(format_), events)
    if folded.diagnostics:
        raise LawError(f"a chunk does not fit the stream: {folded.diagnostics[0]}")
    return folded


def _check_error(error: PartitaError) -> None:
    if not error.what or not (error.where or error.hint):
        raise LawError(f"an error that does not help: {error}", hint="give `where` and `hint`") from error


def _check_same(before: Json, after: Json, adds: Collection[str], what: str) -> None:
    """Two payloads are the same JSON, and no loss was reported."""
    hint = "keep it in provider metadata, or report a loss"
    for loss in json_losses(before, after, "$", ""):
        raise LawError(what, where=loss.path, hint=hint)
    for loss in json_losses(after, before, "$", ""):
        if pattern_of(loss.path) not in adds:
            raise LawError(f"{what}: {loss.what} was added", where=loss.path, hint=hint)


def pattern_of(path: str) -> str:
    """A path with `*` for every number."""
    return _NUMBER.sub("[*]", path)


def _check_changes(value: Json, paths: Iterable[Path], seen: Callable[[Json], bytes | None]) -> None:
    before = seen(value)
    for path in paths:
        if before is not None and seen(changed(value, path)) == before:
            raise LawError(
                "a value is lost in silence", where=_spelled(path), hint="keep it or report a loss"
            )


def _spelled(path: Path) -> str:
    return "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)


def _seen(format_: Format, payload: Json) -> bytes | None:
    """All that a reader of a payload can see; nothing if it is refused."""
    try:
        loaded = _read(format_, payload)
    except PartitaError:
        return None
    request = loaded.request and [to_json(loaded.request.tools), loaded.request.settings]
    return dumps([to_json(loaded.messages), request, [tuple(loss) for loss in loaded.losses]])


def _read(format_: Format, payload: Json) -> Loaded:
    """A payload as messages. It must stay as it was."""
    before = dumps(payload)
    loaded = read(payload, format_)
    loaded.losses  # noqa: B018 # they are found when they are asked for
    if dumps(payload) != before:
        raise LawError("a payload was changed by reading it", hint="copy what you change")
    return loaded


def _load(format_: Format, payload: Json) -> None:
    if format_.load is not None:
        format_.load(payload)
    if format_.decoder is not None:
        fold_events(format_.decoder(), payload if isinstance(payload, list) else [payload], lenient=True)


def _decoder(format_: Format) -> Decoder:
    assert format_.decoder is not None
    return format_.decoder()
