"""The losses of logs and streams that are not written back: values of records that no message depends on.

Such records cannot be compared with what `dump` writes, because many records form one message and some repeat
others. So each record is also read alone, or with a few related ones, and its messages are reduced to facts:
a text, the input of a call, a note about a part. A leaf of the record was read if changing it removes or adds
a fact that the messages of the whole log have, too.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

from msgspec import UNSET

from partita.errors import PartitaError
from partita.formats.event_streams import fold_events, load_events
from partita.formats.format import Decoder, Loaded
from partita.formats.losses import UNREAD, Loss, Severity
from partita.types.chunks import Chunk, MessageStart
from partita.types.codec import encode
from partita.types.json import Json, JsonObject, dumps, is_array, is_object, walk
from partita.types.messages import AssistantMessage, Message, ToolCallPart, UserMessage, text_of
from partita.types.parts import (
    DataPart,
    FilePart,
    ForeignPart,
    ImagePart,
    ReasoningPart,
    SourceUrlPart,
    SteeringMessagePart,
    TextPart,
)

Fact: TypeAlias = tuple[Hashable, ...]

PARTLY_READ: Final = "it describes only the record, or other records repeat it"

KNOWN: Final[Fact] = ("known",)
"""The fact of a record that is read but leaves no fact of its own, as it begins or repeats something."""

MANY: Final = 8
"""Items of longer arrays are checked one by one, so that the duration does not grow with their square."""

CONTENT: Final = frozenset(
    {"arguments", "content", "input", "message", "output", "parameters", "rawInput", "rawOutput", "text"}
)
"""Members of events whose loss is not minor."""

FAR: Final = 3
"""How many relations are followed: a response refers to a request, that to a terminal, and that to a call."""

TEXTS: Final = ("text", "reasoning")
PARAGRAPHS: Final = 32
"""Up to this many paragraphs of a reasoning are also compared alone: a stream may have had them so."""


def read_completely(
    loaded: Loaded,
    records: Sequence[Json],
    facts_of: Callable[[Json], set[Fact]],
    *,
    content: frozenset[str] = frozenset(),
    more: Iterable[Fact] = (),
    paths: Sequence[str] = (),
    pieces: bool = False,
) -> Loaded:
    """Return what was loaded, with a loss for each record that has unread leaves.

    The loss is minor if other leaves of the record were read, unless an unread member is in `content`.
    `facts_of`: returns the facts of one record; `more`: facts that follow from the messages.
    `paths`: the paths of the records, if the payload is not a list of them. `pieces`: texts are streamed in
    pieces.
    """

    def losses() -> Iterator[Loss]:
        ways = [_Way(facts_of)]
        return _losses(
            loaded, records, lambda _: ways, content=content, more=more, paths=paths, pieces=pieces
        )

    return Loaded(loaded.messages, losses, is_complete=True)


def read_events(
    make: Callable[[], Decoder], events: Sequence[Json], *, content: frozenset[str] = CONTENT
) -> Loaded:
    """Return the messages of a recorded stream, with a loss for each event that has unread leaves.

    An event may have no effect without others: a result without its call, a response without its request. So
    it is also read with the first and the last event of each id in it, and with the start of the message.
    """
    loaded = load_events(make(), events)

    def losses() -> Iterator[Loss]:
        related = _RelatedEvents(make, events)
        return _losses(loaded, events, related.ways, content=content, pieces=True)

    return Loaded(loaded.messages, losses, is_complete=True)


class _Way(NamedTuple):
    """A way to read a record: alone, or together with related ones."""

    facts_of: Callable[[Json], set[Fact]]
    given: frozenset[Fact] = frozenset()
    """The facts that the related records have without this one."""


def _losses(
    loaded: Loaded,
    records: Sequence[Json],
    ways: Callable[[int], Sequence[_Way]],
    *,
    content: frozenset[str],
    more: Iterable[Fact] = (),
    paths: Sequence[str] = (),
    pieces: bool,
) -> Iterator[Loss]:
    yield from loaded.losses
    held = {KNOWN, *message_facts(loaded.messages), *more}
    texts = "\0".join(str(fact[1]) for fact in held if fact[0] in TEXTS) if pieces else ""
    reported = {loss.path: loss.what for loss in loaded.losses}
    for index, value in enumerate(records):
        path = paths[index] if paths else f"$[{index}]"
        if data_fact(value) in held or dumps(value).decode() in reported.get(path, ""):
            continue
        record = _Record(value, ways(index), held, texts)
        rest = record.unread()
        if rest is not UNSET:
            is_minor = record.is_read and not _has_member(rest, content)
            severity: Severity = "minor" if is_minor else "lost"
            yield Loss.of(path, rest, PARTLY_READ if is_minor else UNREAD, severity)


class _RelatedEvents:
    """Finds the events of a stream that are related by ids."""

    def __init__(self, make: Callable[[], Decoder], events: Sequence[Json]) -> None:
        self._make, self._events = make, events
        self._ids = [set(_ids(event)) for event in events]
        self._ends: dict[str | int, tuple[int, int]] = {}
        for index, ids in enumerate(self._ids):
            self._ends |= {id_: (self._ends.get(id_, (index,))[0], index) for id_ in ids}
        decoder = make()
        self._start = next((at for at, event in enumerate(events) if _starts(decoder.feed(event))), 0)

    def ways(self, index: int) -> Sequence[_Way]:
        """Return the ways to read an event: alone, and with related ones."""
        related = self._related(index)
        before = [self._events[at] for at in related if at < index]
        after = [self._events[at] for at in related if at > index]
        return (
            _Way(self._facts_alone),
            _Way(
                lambda event: self._facts([*before, event, *after]),
                frozenset(self._facts([*before, *after])),
            ),
        )

    def _related(self, index: int) -> list[int]:
        """Return the numbers of related events: those with the same ids, and those with the ids of these."""
        found = {self._start, index}
        for _ in range(FAR):
            if len(found) < MANY:
                found |= {at for one in found for id_ in self._ids[one] for at in self._ends[id_]}
        return sorted(found)

    def _facts_alone(self, event: Json) -> set[Fact]:
        facts = self._facts([event])
        return facts | {KNOWN} if is_object(event) and event.keys() == {"type"} else facts

    def _facts(self, events: Sequence[Json]) -> set[Fact]:
        try:
            messages = fold_events(self._make(), events, lenient=True).messages
        except PartitaError:
            return set()
        return message_facts(messages) - {("id", "")}


def _starts(chunks: Iterable[Chunk]) -> bool:
    return any(isinstance(chunk, MessageStart) for chunk in chunks)


def _ids(value: Json) -> Iterator[str | int]:
    """Yield the ids in a value."""
    if is_array(value):
        yield from (id_ for item in value for id_ in _ids(item))
    if is_object(value):
        for name, item in value.items():
            if name == "id" or name.endswith(("Id", "_id")):
                if isinstance(item, str | int) and not isinstance(item, bool):
                    yield item
            else:
                yield from _ids(item)


class _Reading:
    """The facts of a record if it is read in one way."""

    def __init__(self, record: Json, way: _Way, held: set[Fact], texts: str) -> None:
        self._facts_of, self._all = way.facts_of, way.facts_of(record)
        own = self._all - way.given
        self.stated = {one for one in own if one in held or (one[0] in TEXTS and str(one[1]) in texts)}
        """The facts of the record that the messages have, too."""

    def is_affected_by(self, changed: Json) -> bool:
        """Whether a change has an effect: a fact of the messages is gone, or there is one more."""
        if not self.stated:
            return False
        facts = self._facts_of(changed)
        return not self.stated <= facts or self._all < facts


class _Record:
    """Finds the leaves of a record that were not read, by changing one at a time."""

    def __init__(self, record: Json, ways: Sequence[_Way], held: set[Fact], texts: str) -> None:
        self._record, self._ways, self._held, self._texts = record, ways, held, texts
        self._readings = [_Reading(record, way, held, texts) for way in ways]

    @property
    def is_read(self) -> bool:
        """Whether the messages have facts of the record."""
        return any(reading.stated for reading in self._readings)

    def unread(self) -> Json:
        """Return the record with only its unread leaves, or unset if there are none."""
        return self._unread(self._record, lambda value: value)

    def _unread(self, value: Json, inside: Callable[[Json], Json]) -> Json:
        """Return the unread leaves of a value. `inside` returns the record with another value there."""
        if value is None or value in ("", [], {}):
            return UNSET
        if is_object(value):
            if data_fact(value) in self._held:
                return UNSET
            members = {
                name: self._unread(item, lambda other, name=name: inside({**value, name: other}))
                for name, item in value.items()
            }
            return {name: rest for name, rest in members.items() if rest is not UNSET} or UNSET
        if is_array(value):
            if data_fact(value) in self._held:
                return UNSET
            if len(value) > MANY:
                items = [self._alone(item, inside) for item in value]
            else:
                items = [
                    self._unread(item, lambda other, at=at: inside([*value[:at], other, *value[at + 1 :]]))
                    for at, item in enumerate(value)
                ]
            return [rest for rest in items if rest is not UNSET] or UNSET
        changed = inside(_another(value))
        return UNSET if any(reading.is_affected_by(changed) for reading in self._readings) else value

    def _alone(self, item: Json, inside: Callable[[Json], Json]) -> Json:
        """Return the unread leaves of an item of a long array, which is read without the other items."""
        record = _Record(inside([item]), self._ways, self._held, self._texts)
        return record._unread(item, lambda other: inside([other]))


def _has_member(value: Json, names: frozenset[str]) -> bool:
    if is_object(value):
        return not names.isdisjoint(value) or any(_has_member(item, names) for item in value.values())
    return is_array(value) and any(_has_member(item, names) for item in value)


def _another(leaf: Json) -> Json:
    """Return another value of the same type."""
    if isinstance(leaf, bool):
        return not leaf
    return f"{leaf}~" if isinstance(leaf, str) else leaf * 2 + 1


# Leaves of values, for formats that keep metadata as it is


def leaf_marks(value: Json) -> set[tuple[str, bytes]]:
    """Return all leaves of a value."""
    return {leaf_mark(path, leaf) for path, leaf in walk(value)}


def leaf_mark(path: str, leaf: Json) -> tuple[str, bytes]:
    """Return a leaf as it is compared: a text anywhere, any other value with the name of its member."""
    return "" if isinstance(leaf, str) else member_name(path), dumps(leaf)


def member_name(path: str) -> str:
    """Return the name of the member that a path leads to or into."""
    return path.rpartition(".")[2].partition("[")[0]


# The facts of messages


def message_facts(messages: Iterable[Message]) -> set[Fact]:
    """Return the facts of messages."""
    return {fact for message in messages for fact in _facts(message)}


def data_fact(value: Json) -> Fact:
    """Return the fact that a JSON value is kept as it is."""
    return ("data", dumps(value))


def _facts(message: Message) -> Iterator[Fact]:
    if message.created_at is not None:
        yield ("time", message.created_at)
    yield ("id", message.id.partition(":")[2] or message.id)
    metadata: Json = message.content.metadata
    if is_object(metadata):
        yield from _note_facts("", metadata)
        yield from _metadata_facts("", metadata)
    if isinstance(message, UserMessage):
        yield ("prompt", text_of(message))
    if isinstance(message, AssistantMessage) and message.content.usage is not None:
        yield from _note_facts("", {"usage": message.content.usage.raw})
    for part in message.content.parts:
        if not isinstance(message, AssistantMessage):
            yield ("part", message.role, encode(part))
        if not isinstance(part, TextPart) or isinstance(message, AssistantMessage):
            yield from _part_facts(part)


def _part_facts(part: object) -> Iterator[Fact]:
    match part:
        case DataPart(name=name, data=data):
            yield data_fact(data)
            yield ("named", name, dumps(data))
        case ForeignPart(value=value):
            yield data_fact(value)
        case TextPart(text=value):
            yield ("text", value)
            yield from _metadata_facts(value, part.provider_metadata)
        case ReasoningPart(text=value):
            yield from (("reasoning", section) for section in _sections(value))
            yield from _metadata_facts(value, part.provider_metadata)
        case ToolCallPart():
            yield from _call_facts(part)
        case ImagePart(url=url) | FilePart(url=url) | SourceUrlPart(url=url):
            yield ("url", url)
            yield from _metadata_facts(url, part.provider_metadata)
        case SteeringMessagePart(parts=parts):
            yield from (fact for one in parts for fact in _part_facts(one))
        case _:
            return


def _call_facts(call: ToolCallPart) -> Iterator[Fact]:
    yield ("call", call.id, call.name)
    given = None if call.input is UNSET else dumps(call.input)
    yield from (("input", about, given) for about in (call.id, call.name))
    yield from _container_facts(call.input)
    yield from _note_facts(call.id, {"title": call.title})
    yield from _metadata_facts(call.id, call.tool_metadata)
    yield from _metadata_facts(call.id, call.provider_metadata)
    if call.approval is not None:
        yield from _note_facts(call.id, {"approval": call.approval.id, "reason": call.approval.reason})
        yield ("decision", call.approval.id, call.approval.approved)
    if call.output is not None:
        yield ("output", call.id, encode(call.output))
        value: Json = getattr(call.output, "value", None)
        if isinstance(value, tuple):
            yield from (fact for item in value for fact in _part_facts(item))
        else:
            yield from _note_facts(call.id, {"": value})


def _sections(text: str) -> Iterator[str]:
    """Yield a reasoning, and the sections that it may have been joined from."""
    yield text
    paragraphs = text.split("\n\n")[:PARAGRAPHS]
    for start in range(len(paragraphs)):
        for end in range(start + 1, len(paragraphs) + 1):
            yield "\n\n".join(paragraphs[start:end])


def _metadata_facts(about: str, metadata: JsonObject | None) -> Iterator[Fact]:
    for own in (metadata or {}).values():
        if is_object(own):
            yield from _note_facts(about, own)


def _note_facts(about: str, own: JsonObject) -> Iterator[Fact]:
    for name, value in own.items():
        if value is None or value is UNSET:
            continue
        yield ("note", about, name, dumps(value))
        if isinstance(value, str):
            yield ("printed", about, value)
        yield from _container_facts(value)


def _container_facts(value: Json) -> Iterator[Fact]:
    if is_object(value) or is_array(value):
        yield data_fact(value)
        for item in value if is_array(value) else ():
            yield from _container_facts(item)
