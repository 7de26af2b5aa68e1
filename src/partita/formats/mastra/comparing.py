"""What of canonical messages does not arrive in Mastra's: whatever reading them again does not give.

Found by comparison, not by rules, so that nothing can be forgotten. The table only gives the reasons.
"""

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter

from partita.formats.losses import Loss
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, dumps, is_array, is_object
from partita.types.messages import Message, derive_type, text_of

from .notes import NOTE

WHY: Mapping[str, str] = {
    "parentId": "its messages form one line, without branches",
    "runId": "its messages do not name their run",
    "seq": "its messages are in order by their time",
    "internal": "its messages are all shown",
    "usage": "its messages do not tell what they cost",
    "resultMessage": "results are kept with their calls",
    NOTE: "it is written as Mastra writes it today",
}
"""Why a member does not arrive, by its name."""

MINOR = frozenset({"seq"})
"""What nobody who reads the messages misses."""

PARTS = ".content.parts"
"""How the path of the parts of a message ends: they are looked for, wherever they have come to stand."""

TEXT = " text"
TOLD = ("text", "url", "data", "value")
ALIKE = (
    itemgetter("type", "id", TEXT),
    itemgetter("id", TEXT),
    itemgetter("type", TEXT),
    itemgetter("type", "id"),
)
"""What two parts may have in common, what tells most first."""

SPLIT = "__split-"
"""Stands in the ids of V1 messages behind that of the message that they are pieces of."""

NO_PLACE = "Mastra has no place for it"
NOTHING = "that there is none"
ADDED = "reading it again gives one"
APART = "its steps and its results are messages of their own"

SPELLING = frozenset({"threadId", "resourceId", "content", "parts", "state"})
"""What notes tell of rows and their columns alone: nothing of it is missing in a message."""


def losses_of(messages: Sequence[Message], again: Sequence[Message]) -> tuple[Loss, ...]:
    """What of the messages is not in those that were read again."""
    if list(messages) == list(again):
        return ()
    found = iter(_joined(messages, again))
    losses: list[Loss] = []
    for index, message in enumerate(messages):
        pieces = next((each for each in found if each[0].id == message.id), None)
        if pieces is None:
            losses.append(Loss.of(f"$[{index}]", to_json(message), NO_PLACE))
            found = iter(_joined(messages, again))
            continue
        if len(pieces) > 1 or pieces[0] != message:
            other = _plain(pieces[0], message, pieces[1:])
            found_here = list(_differences(_plain(message), other, f"$[{index}]", NO_PLACE))
            told = [loss for loss in found_here if not _is_apart(loss)]
            if len(pieces) > 1 or len(told) < len(found_here):
                losses.append(Loss(f"$[{index}]", f"one message, now in {len(pieces)}", APART, "repaired"))
            losses.extend(told)
    if not losses and len(messages) < len(again):
        losses.append(Loss("$", f"{len(messages)} messages", APART, "repaired"))
    return tuple(losses)


def _is_apart(loss: Loss) -> bool:
    """Whether all that is lost is that a result stood in no message of its own."""
    return loss.what == NOTHING and loss.path.endswith(".resultMessage")


def _joined(messages: Sequence[Message], again: Sequence[Message]) -> list[list[Message]]:
    """The messages that were read again, each with the pieces that stand behind it."""
    own = {message.id for message in messages}
    groups: list[list[Message]] = []
    for message in again:
        head = message.id.rpartition(SPLIT)[0]
        if groups and head == groups[-1][0].id and message.id not in own:
            groups[-1].append(message)
        else:
            groups.append([message])
    return groups


def _plain(message: Message, original: Message | None = None, pieces: Sequence[Message] = ()) -> Json:
    """A message with its pieces as JSON; without a convenience string that the original did not have."""
    plain: JsonObject = to_json(message)
    if pieces:
        plain["content"]["parts"] += [part for piece in pieces for part in to_json(piece)["content"]["parts"]]
        plain["type"] = derive_type([part for piece in (message, *pieces) for part in piece.content.parts])
    absent = original is not None and original.content.content is None
    if absent and message.content.content == text_of(message):
        plain["content"].pop("content", None)
    return plain


def _differences(before: Json, after: Json, path: str, why: str) -> Iterator[Loss]:
    if is_object(before) and is_object(after):
        for key in {**before, **after}:
            where, reason = f"{path}.{key}", WHY.get(key, why)
            if key == NOTE:
                yield from _note_differences(before.get(key), after.get(key), where)
            elif key not in after:
                yield Loss.of(where, before[key], reason, "minor" if key in MINOR else "lost")
            elif key not in before:
                yield Loss(where, NOTHING, ADDED, "changed")
            else:
                yield from _differences(before[key], after[key], where, reason)
    elif is_array(before) and is_array(after) and before and path.endswith(PARTS):
        yield from _apart(before, after, path, why)
    elif is_array(before) and is_array(after) and before and len(before) == len(after):
        for index, (item, other) in enumerate(zip(before, after, strict=True)):
            yield from _differences(item, other, f"{path}[{index}]", why)
    elif dumps(before) != dumps(after):
        yield Loss.of(path, before, why, "changed")


def _apart(before: list[Json], after: list[Json], path: str, why: str) -> Iterator[Loss]:
    """The differences of two lists of parts, each part against the one that it became."""
    pairs = _pairs(before, after)
    for index, item in enumerate(before):
        where = f"{path}[{index}]"
        if index in pairs:
            other = after[pairs[index]]
            if dumps(item) != dumps(other):
                yield from _differences(item, other, where, why)
        else:
            yield Loss.of(where, item, why)
    added = sorted({*range(len(after))} - {*pairs.values()})
    yield from (Loss.of(path, after[index], ADDED, "changed") for index in added)


def _pairs(before: list[Json], after: list[Json]) -> dict[int, int]:
    """By the place of a part, the place of the one that it became: the same, or one that is as good as it."""
    found: dict[int, int] = {}
    open_ = dict(enumerate(map(_marks, before)))
    free = dict(enumerate(map(_marks, after)))
    for key_of in ALIKE:
        if not open_ or not free:
            break
        places: defaultdict[tuple[Json, ...], deque[int]] = defaultdict(deque)
        for place, marks in free.items():
            places[key_of(marks)].append(place)
        for index, marks in list(open_.items()):
            key = key_of(marks)
            if any(key) and (queue := places.get(key)):
                found[index] = queue.popleft()
                del open_[index], free[found[index]]
    return found


def _marks(part: Json) -> JsonObject:
    """What a part is found again by."""
    raw: JsonObject = part if is_object(part) else {}
    told = next((raw[name] for name in TOLD if name in raw), None)
    marks = {"type": raw.get("type"), "id": raw.get("id"), TEXT: told}
    return {name: None if mark is None else dumps(mark) for name, mark in marks.items()}


def _note_differences(before: Json, after: Json, path: str) -> Iterator[Loss]:
    told, found = _beyond_spelling(before), _beyond_spelling(after)
    if told and dumps(told) != dumps(found):
        yield Loss.of(path, told, WHY[NOTE], "minor")


def _beyond_spelling(note: Json) -> JsonObject:
    return {key: item for key, item in note.items() if key not in SPELLING} if is_object(note) else {}
