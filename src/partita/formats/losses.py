"""Losses: everything that a conversion could not carry over, each with its path, value, reason and severity.

The reasons that several formats share are here. `core.report` finds the losses of a dump, `conversion`
corrects their paths.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

from msgspec import UNSET

from partita.errors import DecodeError
from partita.types.codec import encode
from partita.types.json import Json, JsonObject, is_array, is_object, loads
from partita.types.json_diff import Splice, changes
from partita.types.tool_results import Origin

# Reasons for losses that several formats share.
#
# A reason is a sentence about the value at the path of the loss. A format has reasons of its own only where
# none of these is true.

NO_PLACE: Final = "the format has no place for it"
UNREAD: Final = "messages have no place for it"
REPLACED: Final = "a later value has replaced it"
REQUIRED: Final = "the format requires it"
NO_CALL: Final = "the result has no call right before it"
JOINED: Final = "neighbouring texts or messages are joined"
DERIVED: Final = "it follows from other values"
ORDERED: Final = "the format has another order"
STEPS: Final = "steps begin at other places in the format"
FINAL: Final = "the format has no preliminary outputs"
SHOWN: Final = "the format has no hidden messages"
RESPONSE: Final = "a response body holds one response of the model"
RENAMED: Final = "the API restricts the characters and the length of ids and names"
BLANK: Final = "the API refuses text that is empty or only white space"
OTHER_ID: Final = "it gets another id when it is read back"
OTHER_INPUT: Final = "the call has another input or name"
OTHER_FORM: Final = "it is written in another form"
OUTPUT_FORM: Final = "the format has only text or JSON as output, without its type"
IN_CALLS: Final = "results are in their calls"
SIGNED: Final = "the API accepts only reasoning that it has signed"
CITATIONS: Final = "the API accepts only its own citations"
OBJECTS: Final = "only objects are allowed there"
FILES_MOVED: Final = "files of a result are written after the results"
DISPLAY: Final = "it is for display only"
SETTING: Final = "it is a setting of another API"
NOT_MODEL: Final = "it is not for the model"


TEXT_LIMIT = 500
"""The number of characters of a value that `str(loss)` shows. The field `what` has all of them."""


Severity: TypeAlias = Literal["lost", "changed", "repaired", "minor"]
"""How bad a loss is.

`lost`: the value is gone. `changed`: it is there in another form, and reads as a value of that form.
`repaired`: something was added, moved or renamed because the target requires it. `minor`: it is gone, but
readers of the messages do not need it; for example padding, or counters of a stream.
"""


_SHELL: Final = ".resultMessage"
"""The member of a call that has the message of its result, without the result."""

_OF_TOOLS: Final = (("role", "tool"), ("type", "tool"))
"""Members of that message which follow from its results."""

_PLACE: Final = re.compile(r"\$\[(\d+)\](?:\.content\.parts\[(\d+)\])?")
_OF_RESULTS: Final = (
    (_SHELL, ""),
    (".resultProviderMetadata", "providerMetadata"),
    (".output", "output"),
)
"""Members of a call that come from its result, and their paths in the message of the result."""


class Loss(NamedTuple):
    """A value that was not carried over: where it was, what it was, why, and how bad that is."""

    path: str
    what: str
    """The value as JSON, or a description if it has no JSON value."""
    why: str
    severity: Severity = "lost"

    @classmethod
    def of(cls, path: str, value: Json, why: str, severity: Severity = "lost") -> "Loss":
        """Return the loss of a JSON value or a canonical value."""
        return cls._make((path, shown(value), why, severity))  # faster than `cls(…)`

    def __str__(self) -> str:
        what = self.what
        if len(what) > TEXT_LIMIT:
            what = f"{what[:TEXT_LIMIT]}… ({len(what)} characters)"
        return f"{self.path}: {what} ({self.why})"


def by_member(losses: Iterable[Loss]) -> Iterator[Loss]:
    """Split the losses of result messages that are kept in calls into one for each member."""
    for loss in losses:
        if not loss.path.endswith(_SHELL):
            yield loss
            continue
        shell = _object_in(loss.what)
        if shell is None:
            yield loss
            continue
        content: JsonObject = shell.pop("content", {})
        members = {key: item for key, item in shell.items() if (key, item) not in _OF_TOOLS}
        members |= {f"content.{key}": item for key, item in content.items() if key != "format" and item != []}
        yield from (
            loss._replace(path=f"{loss.path}.{key}", what=shown(item)) for key, item in members.items()
        )


def _object_in(text: str) -> JsonObject | None:
    try:
        value: Json = loads(text)
    except DecodeError:
        return None
    return value if is_object(value) else None


def relocate(losses: Iterable[Loss], origins: Sequence[Origin]) -> Iterator[Loss]:
    """Return losses of messages that were made from others, with the paths in those."""
    for loss in losses:
        found = _PLACE.match(loss.path)
        if found is None or int(found[1]) >= len(origins):
            yield loss
        else:
            yield loss._replace(path=_relocated(loss.path, found, origins[int(found[1])]))


def _relocated(path: str, found: re.Match[str], origin: Origin) -> str:
    if found[2] is None or int(found[2]) >= len(origin.parts):
        return f"$[{origin.index}]{path[found.end(1) + 1 :]}"
    position = origin.parts[int(found[2])]
    rest = path[found.end() :]
    result = origin.results.get(position)
    if result is not None:
        message, part = result
        for of_call, of_result in _OF_RESULTS:
            if rest.startswith(of_call):
                inside = f"$[{message}].content.parts[{part}].{of_result}" if of_result else f"$[{message}]"
                return inside + rest[len(of_call) :]
    message, part = position
    return f"$[{message}].content.parts[{part}]{rest}"


_MESSAGE: Final = re.compile(r"^\$(?=\[)")


def in_messages(losses: Iterable[Loss]) -> Iterator[Loss]:
    """Return losses of canonical messages with paths that begin with `messages`.

    Beside losses of the payload that the messages were read from, `$` would be ambiguous. Paths of settings
    (`$.temperature`) are in the payload, and are not changed.
    """
    for loss in losses:
        yield loss._replace(path=_MESSAGE.sub("messages", loss.path, count=1))


def shown(value: Json) -> str:
    """Return a value as a loss has it: its JSON."""
    return encode(value).decode()


_CONTENT: Final = re.compile(
    r"\$\[\d+\](\.content\.parts\[\d+\](\.parts\[\d+\])?(\.(text|url|name|input|output)\b.*)?)?"
)


def content_losses(losses: Iterable[Loss]) -> list[Loss]:
    """Return the losses that matter to a model: repairs, and changed or missing content."""
    return [
        loss
        for loss in losses
        if loss.severity != "minor" and (loss.severity == "repaired" or _CONTENT.fullmatch(loss.path))
    ]


def json_losses(before: Json, after: Json, path: str, why: str) -> Iterator[Loss]:
    """Yield a loss for each difference between two JSON values."""
    for change in changes(before, after):
        where = path + "".join(f"[{step}]" if type(step) is int else f".{step}" for step in change.path)
        if isinstance(change, Splice):
            for index, item in enumerate(change.before, change.start):
                yield Loss.of(f"{where}[{index}]", item, why, "changed")
        elif is_array(change.before) and is_array(change.after):
            yield Loss(where, "the order", ORDERED, "changed")
        elif change.before is not UNSET:
            is_lost = change.after is UNSET or change.after is None
            yield Loss.of(where, change.before, why, "lost" if is_lost else "changed")
