"""What of canonical messages does not arrive in Mastra's: whatever reading them again does not give.

Found by comparison, not by rules, so that nothing can be forgotten. The table only gives the reasons.
"""

from collections.abc import Iterator, Mapping, Sequence

from partita.formats.losses import Loss
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, dumps, is_array, is_object
from partita.types.messages import Message, text_of

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

NO_PLACE = "Mastra has no place for it"
ADDED = "reading it again gives one"
APART = "its steps and its results are messages of their own"

SPELLING = frozenset({"threadId", "resourceId", "content", "parts", "state"})
"""What notes tell of rows and their columns alone: nothing of it is missing in a message."""


def losses_of(messages: Sequence[Message], again: Sequence[Message]) -> tuple[Loss, ...]:
    """What of the messages is not in those that were read again."""
    if list(messages) == list(again):
        return ()
    found = iter(again)
    losses: list[Loss] = []
    for index, message in enumerate(messages):
        other = next((each for each in found if each.id == message.id), None)
        if other is None:
            losses.append(Loss.of(f"$[{index}]", to_json(message), NO_PLACE))
            found = iter(again)
        elif other != message:
            losses.extend(_differences(_plain(message), _plain(other, message), f"$[{index}]", NO_PLACE))
    if not losses and len(messages) < len(again):
        losses.append(Loss("$", f"{len(messages)} messages", APART))
    return tuple(losses)


def _plain(message: Message, original: Message | None = None) -> Json:
    """A message as JSON; without a convenience string that the original did not have."""
    plain: JsonObject = to_json(message)
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
                yield Loss.of(where, before[key], reason)
            elif key not in before:
                yield Loss(where, "that there is none", ADDED)
            else:
                yield from _differences(before[key], after[key], where, reason)
    elif is_array(before) and is_array(after) and before and len(before) == len(after):
        for index, (item, other) in enumerate(zip(before, after, strict=True)):
            yield from _differences(item, other, f"{path}[{index}]", why)
    elif dumps(before) != dumps(after):
        yield Loss.of(path, before, why)


def _note_differences(before: Json, after: Json, path: str) -> Iterator[Loss]:
    told, found = _beyond_spelling(before), _beyond_spelling(after)
    if dumps(told) != dumps(found):
        yield Loss.of(path, told or None, WHY[NOTE])


def _beyond_spelling(note: Json) -> JsonObject:
    return {key: item for key, item in note.items() if key not in SPELLING} if is_object(note) else {}
