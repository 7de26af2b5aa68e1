"""The laws of formats: checks that every format must pass, to run on your own.

    from partita.testing import check_format

    def test_my_format_keeps_the_laws() -> None:
        check_format(FORMAT, payloads=[PAYLOAD], streams=[EVENTS])

`check_format` checks all of them; each law is also a separate function. They raise `LawError`.
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

_OPEN_STATES: Final[Mapping[str, frozenset[str]]] = {
    "nothing": frozenset(),
    "texts": frozenset({"streaming"}),
    "calls": frozenset({"streaming", "input-streaming", "input-available", "approval-requested"}),
}
_NUMBER: Final = re.compile(r"\[\d+\]")

IMPLIED: Final = frozenset({"type", "state", "role", "createdAt", "mediaType", "filename"})
"""Members that a payload may imply, or write in another way."""
MIN_TEXT: Final = 6
"""Shorter texts may occur by chance."""

DEFAULT_LIMIT: Final = 24
"""How many leaves, cuts and damaged copies `check_format` tries for each example."""


class LawError(PartitaError, AssertionError):
    """A format violates a law: what is wrong, where, and how to fix it."""


def check_format(
    format_: Format,
    *,
    payloads: Iterable[Json] = (),
    streams: Iterable[Sequence[Json]] = (),
    conversations: Iterable[Sequence[Message]] = (),
    limit: int = DEFAULT_LIMIT,
) -> None:
    """Check all laws with payloads and streams of the format, and with conversations that it should write.

    A conversation with all features of messages is always written. `limit` is the maximum number of changed
    leaves, and of damaged copies, for each example.
    """
    if format_.dump is not None:
        check_values(format_, full_conversation())
        for messages in (full_conversation(), *conversations):
            check_conversation(format_, messages)
            check_conversation_leaves(format_, messages, spread(list(leaves(to_json(messages))), limit))
    for payload in payloads:
        check_payload(format_, payload)
        check_leaves(format_, payload, spread(list(leaves(payload)), limit))
        check_unknown_members(format_, payload, spread(list(extended(payload)), limit))
        check_damage(format_, islice(misplaced(payload), limit))
        check_damage(format_, spread(list(mistaken(payload)), limit))
    for events in streams:
        check_stream(format_, events, spread(range(len(events) + 1), limit))
        check_events(format_, [event for event in events for _ in range(2)])
        check_leaves(format_, list(events), spread(list(leaves(list(events))), limit))
        check_damage(format_, spread(list(mistaken(list(events))), limit))


def spread(cases: Sequence[Path] | Sequence[Json], limit: int) -> list[Json]:
    """At most `limit` cases, evenly spread."""
    if len(cases) <= limit:
        return list(cases)
    return [cases[number * len(cases) // limit] for number in range(limit)]


def check_reading(format_: Format, payload: Json) -> Loaded:
    """Reading a payload does not change it, and gives the same messages each time."""
    loaded = _read(format_, payload)
    if _read(format_, payload).messages != loaded.messages:
        raise LawError(
            "the same payload gives different messages the second time", hint="do not generate ids or times"
        )
    return loaded


def check_payload(format_: Format, payload: Json, adds: Collection[str] = ()) -> Loaded:
    """A payload that is read and written is unchanged, unless a loss is reported.

    `adds`: members that are always written, as paths with `*` for numbers.
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
    """Writing does not change the messages, and what is read back is written the same again."""
    before = dumps(to_json(messages))
    payload = write(Loaded(tuple(messages)), format_).payload
    dumps(payload)  # a payload is JSON
    if dumps(to_json(messages)) != before:
        raise LawError("messages were changed by writing them", hint="copy values before you change them")
    if format_.load is not None:
        loaded = _read(format_, payload)
        again = write(loaded, format_)
        if not (loaded.losses or again.losses):
            _check_same(payload, again.payload, (), "it is written differently the second time")


def check_values(format_: Format, messages: Sequence[Message]) -> None:
    """Each text that messages contain once is in the payload or in a loss.

    All texts are checked at once: faster than changing one at a time, but less thorough.
    """
    value = to_json(messages)
    written = write(Loaded(tuple(messages)), format_)
    seen = dumps([written.payload, [loss.what for loss in written.losses]]).decode().replace("\\", "")
    paths = [path for path in leaves(value) if path[-1] not in IMPLIED]
    texts = [(path, text) for path in paths if isinstance(text := value_at(value, path), str)]
    counts = Counter(text for _, text in texts)
    for path, text in texts:
        is_distinct = counts[text] == 1 and len(text) >= MIN_TEXT and not text.startswith("data:")
        if is_distinct and dumps(text).decode()[1:-1].replace("\\", "") not in seen:
            raise LawError(
                "a value is lost without a report", where=_path_text(path), hint="keep it or report a loss"
            )


def check_leaves(format_: Format, payload: Json, paths: Iterable[Path]) -> None:
    """A change of any leaf of a payload changes the messages or the losses, or is rejected."""
    _check_changes(payload, paths, lambda value: _seen(format_, value))


def check_unknown_members(format_: Format, payload: Json, cases: Iterable[tuple[Path, Json]]) -> None:
    """An unknown member appears in the messages or the losses, or is rejected.

    `cases`: some of `extended(payload)`.
    """
    before = _seen(format_, payload)
    for path, value in cases:
        if before is not None and _seen(format_, value) == before:
            raise LawError(
                "an unknown member is lost without a report", where=_path_text(path), hint="report a loss"
            )


def check_conversation_leaves(format_: Format, messages: Sequence[Message], paths: Iterable[Path]) -> None:
    """A change of any leaf of messages changes what is read back or the losses, or is rejected."""

    def seen(value: Json) -> bytes | None:
        try:
            written = write(Loaded(tuple(read_message(message) for message in value)), format_)
            again: Json = written.payload
            if format_.load is not None:
                again = to_json(format_.load(written.payload).messages)
            return dumps([again, [tuple(loss) for loss in written.losses]])
        except PartitaError:
            return None

    _check_changes(to_json(messages), paths, seen)


def check_damage(format_: Format, payloads: Iterable[Json]) -> None:
    """A damaged payload is read, or rejected with an error that describes the problem, and never changed."""
    for payload in payloads:
        before = repr(payload)
        try:
            _load(format_, payload)
        except PartitaError as error:
            _check_error(error)
        if repr(payload) != before:
            raise LawError("a payload was changed by reading it", hint="copy values before you change them")


def check_messages(format_: Format, messages: Sequence[Message]) -> None:
    """Messages with any content are written, or rejected with an error that describes the problem."""
    try:
        write(Loaded(tuple(messages)), format_).losses  # noqa: B018 # losses are computed on access
    except PartitaError as error:
        _check_error(error)


def check_refused(format_: Format, payload: Json) -> None:
    """A payload is rejected with an error that states what is wrong, where, and how to fix it."""
    try:
        read(payload, format_)
    except PartitaError as error:
        if not (error.what and error.where and error.hint):
            hint = "give `where` and `hint`"
            raise LawError(f"an error without details: {error}", hint=hint) from error
    else:
        raise LawError("it is not rejected", hint="raise ConversionError for input you cannot read")


def check_stream(
    format_: Format,
    events: Sequence[Json],
    cuts: Iterable[int],
    *,
    closes: Literal["nothing", "texts", "calls"] = "texts",
) -> None:
    """A stream cut at any event folds and leaves nothing open. The same events give the same chunks.

    `closes`: what `finish` closes. For agents also calls that will get no result; for formats whose events
    are chunks, nothing.
    """
    before = dumps(list(events))
    for cut in cuts:
        folded = fold_strictly(format_, events[:cut])
        parts = [part for message in folded.messages for part in message.parts]
        states = {getattr(part, "state", None) for part in parts}
        if states & _OPEN_STATES[closes]:
            raise LawError(f"after {cut} events a part stays open", hint="close it in `finish`")
    if dumps(list(events)) != before:
        raise LawError("events were changed by reading them", hint="copy values before you change them")
    if fold_strictly(format_, events) != fold_strictly(format_, events):
        raise LawError(
            "the same events give different messages the second time", hint="do not generate ids or times"
        )
    decoder = _decoder(format_)
    for event in events:
        decoder.feed(event)
    decoder.finish()
    if more := decoder.finish():
        raise LawError(f"a second `finish` returns chunks: {more}", hint="clear the state in `finish`")


def check_events(format_: Format, events: Sequence[Json]) -> None:
    """Any events in any order fold: each chunk fits those before it, or the event is rejected."""
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
        raise LawError("events were changed by reading them", hint="copy values before you change them")


def check_pieces(
    format_: Format, events: Sequence[Json], path: Path, indices: Iterable[int] | None = None
) -> None:
    """How a text is split into pieces does not matter: one more split gives the same messages.

    `path`: the piece in an event; `indices`: the events to split, by default all with a piece.
    """
    whole = fold_strictly(format_, events).messages
    for index in pieces_at(events, path) if indices is None else indices:
        event = events[index]
        text = value_at(event, path)
        half = len(text) // 2
        pieces = [with_value(event, path, piece) for piece in (text[:half], text[half:])]
        if fold_strictly(format_, [*events[:index], *pieces, *events[index + 1 :]]).messages != whole:
            raise LawError("a text in two pieces gives a different message", where=f"$[{index}]")


def pieces_at(events: Sequence[Json], path: Path) -> list[int]:
    """The indices of events with a text at a path that can be split."""
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
    """The messages of a stream. Every chunk must fit those before it."""
    folded = fold_events(_decoder(format_), events)
    if folded.diagnostics:
        raise LawError(f"a chunk does not fit the stream: {folded.diagnostics[0]}")
    return folded


def _check_error(error: PartitaError) -> None:
    if not error.what or not (error.where or error.hint):
        raise LawError(f"an error without details: {error}", hint="give `where` and `hint`") from error


def _check_same(before: Json, after: Json, adds: Collection[str], what: str) -> None:
    """Raise unless two payloads are the same JSON."""
    hint = "keep it in provider metadata, or report a loss"
    for loss in json_losses(before, after, "$", ""):
        raise LawError(what, where=loss.path, hint=hint)
    for loss in json_losses(after, before, "$", ""):
        if wildcard_path(loss.path) not in adds:
            raise LawError(f"{what}: {loss.what} was added", where=loss.path, hint=hint)


def wildcard_path(path: str) -> str:
    """A path with `*` for every number."""
    return _NUMBER.sub("[*]", path)


def _check_changes(value: Json, paths: Iterable[Path], seen: Callable[[Json], bytes | None]) -> None:
    before = seen(value)
    for path in paths:
        if before is not None and seen(changed(value, path)) == before:
            raise LawError(
                "a value is lost without a report", where=_path_text(path), hint="keep it or report a loss"
            )


def _path_text(path: Path) -> str:
    return "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)


def _seen(format_: Format, payload: Json) -> bytes | None:
    """Everything that is read from a payload; `None` if it is rejected."""
    try:
        loaded = _read(format_, payload)
    except PartitaError:
        return None
    request = loaded.request and [to_json(loaded.request.tools), loaded.request.settings]
    return dumps([to_json(loaded.messages), request, [tuple(loss) for loss in loaded.losses]])


def _read(format_: Format, payload: Json) -> Loaded:
    """Read a payload, which must not change."""
    before = dumps(payload)
    loaded = read(payload, format_)
    loaded.losses  # noqa: B018 # losses are computed on access
    if dumps(payload) != before:
        raise LawError("a payload was changed by reading it", hint="copy values before you change them")
    return loaded


def _load(format_: Format, payload: Json) -> None:
    if format_.load is not None:
        format_.load(payload)
    if format_.decoder is not None:
        fold_events(format_.decoder(), payload if isinstance(payload, list) else [payload], lenient=True)


def _decoder(format_: Format) -> Decoder:
    assert format_.decoder is not None
    return format_.decoder()
