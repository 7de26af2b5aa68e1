"""What a UI message of version 4 looks like: names and rules that reading and writing share."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from partita.errors import DecodeError
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.times import in_utc
from partita.types.tools import (
    ToolState,
)

FORMAT = "ai-sdk-ui-v4"
"""The name of a foreign part, and of the mark on a file that is not where files of its message go."""

ATTACHMENT = "ai-sdk-ui-v4-attachment"
"""The name of a foreign part that was an attachment."""

BESIDE = "part:"
"""Marks a kept member that stood in the part itself, not in the invocation, source or detail inside it."""

WHOLE = "reasoning"
"""The kept text of a whole reasoning part of version 4, on the first of our parts that it became."""

DATA = "data"
"""The role, the member and the part of what an application sent in messages of their own."""

PROVIDER = "anthropic"
SIGNATURE = "signature"
REDACTED = "redactedData"

STATES: Mapping[ToolState, str] = {
    "input-streaming": "partial-call",
    "input-available": "call",
    "output-available": "result",
}

OTHER_STATES: Mapping[ToolState, tuple[str, str]] = {
    "approval-requested": ("call", "version 4 knows no approvals"),
    "approval-responded": ("call", "version 4 knows no approvals"),
    "output-error": ("result", "version 4 knows no failed calls"),
    "output-denied": ("result", "version 4 knows no denied calls"),
}
"""States that version 4 does not know, what they look like there, and why."""

MEMBERS: Mapping[str, str] = {"source": "source", "tool-invocation": "toolInvocation"}
"""Parts that hold all they have in one member."""

NO_PLACE = "version 4 has no place for it"
BARE = "version 4 keeps the bare result"
FAILED = "Tool call failed."
ANY_IMAGE = "image/*"


MIRRORS = frozenset({"toolInvocations", "reasoning"})
"""Members of a message that repeat its parts."""


# What version 4 writes, in words that its reader needs too


def mirrors(parts: Sequence[Json]) -> JsonObject:
    """What version 4 repeats of the parts in the message: `toolInvocations` and `reasoning`."""
    calls: list[Json] = []
    texts: list[str] = []
    for part in parts:
        type_ = type_of(part)
        if type_ == "tool-invocation" and "toolInvocation" in part:
            calls.append(part["toolInvocation"])
        elif type_ == "reasoning" and _speaks(part):
            texts.append(part["reasoning"])
    return ({"toolInvocations": calls} if calls else {}) | ({"reasoning": "".join(texts)} if texts else {})


def _speaks(part: JsonObject) -> bool:
    """Whether a reasoning has words, be they empty, and not just redacted details."""
    details: Json = part.get("details")
    redacted = is_array(details) and details and all(type_of(detail) == "redacted" for detail in details)
    return isinstance(part.get("reasoning"), str) and not redacted


def type_of(part: Json) -> str | None:
    """The type of a part, if it is one at all."""
    said: Json = part.get("type") if is_object(part) else None
    return said if isinstance(said, str) else None


def of_type(parts: Sequence[Json], type_: str) -> Iterator[JsonObject]:
    """The parts of one type."""
    return (part for part in parts if type_of(part) == type_)


def read_time(value: Json) -> datetime | None:
    """The moment that a string names, if it names one with its zone."""
    try:
        return in_utc(datetime.fromisoformat(value), "createdAt") if isinstance(value, str) else None
    except (ValueError, DecodeError):
        return None


def written_time(moment: datetime) -> str:
    """A moment as JavaScript writes dates, with more digits if it has more."""
    precision = "microseconds" if moment.microsecond % 1000 else "milliseconds"
    return moment.astimezone(UTC).isoformat(timespec=precision).replace("+00:00", "Z")


def belongs_in_parts(role: str, url: str, media_type: str) -> bool:
    """Whether version 4 keeps a file among the parts: the files of assistants do, all others are attached."""
    return role in ("assistant", DATA) and url.startswith(f"data:{media_type};base64,")
