"""Rows of a database as messages: columns in camelCase or snake_case, JSON as text, times in many forms.

A column that is null is the same as an absent one. `Row` gives access to the columns; those that a reader
does not take remain in `left`, which the formats that use this keep in metadata. The format of plain rows is
here too.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, Unpack, get_args

from partita.errors import ConversionError
from partita.formats.core.members import parsed
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    AssistantPart,
    Envelope,
    Message,
    Part,
    SystemContent,
    SystemMessage,
    SystemPart,
    UserContent,
    UserMessage,
    UserPart,
)
from partita.types.parts import DataPart, ForeignPart, TextPart, UnknownPart
from partita.types.times import EPOCH, iso_text, parse_iso
from partita.types.usage import Usage
from partita.types.value import FOREIGN

from .format import Format, Loaded

ROLES: Mapping[str, tuple[type[Message], type[Any], tuple[type, ...]]] = {
    "system": (SystemMessage, SystemContent, get_args(SystemPart)),
    "user": (UserMessage, UserContent, get_args(UserPart)),
    "assistant": (AssistantMessage, AssistantContent, get_args(AssistantPart)),
}
"""By role: the types of a message, of its content, and of its parts."""

OTHER_ROLES: Mapping[str, str] = {
    "agent": "assistant",
    "human": "user",
    "developer": "system",
    "root": "system",
}
"""Names of roles in other systems. Any other role is read as that of the assistant."""

NOT_JSON = "it is kept as a foreign part, because it is not JSON"

SECONDS_BELOW = 100_000_000_000
"""Smaller numbers are seconds since 1970 (up to the year 5138), larger ones milliseconds (from 1973 on)."""

_HUMP = re.compile(r"(?<!^)(?=[A-Z])")


class Row:
    """A row, or any other object whose members are taken one by one. Those that are not taken are `left`."""

    def __init__(self, raw: JsonObject, path: str) -> None:
        self.path = path
        self.left: JsonObject = {key: value for key, value in raw.items() if value is not None}

    def __contains__(self, name: str) -> bool:
        return self._spelt(name) in self.left

    def get(self, name: str) -> Json:
        """Return the value of a column, by its camelCase name, or `None`."""
        return self.left.get(self._spelt(name))

    def take(self, name: str) -> Json:
        """Return the value of a column and remove it."""
        return self.left.pop(self._spelt(name), None)

    def take_text(self, name: str) -> str | None:
        """Return a column's text, or its number as text, and remove it.

        Other values and empty texts remain.
        """
        value = self.get(name)
        if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
            return None
        self.take(name)
        return str(value)

    def take_object(self, name: str) -> "Row":
        """Return the object in a column as a row and remove it; an empty row if there is none."""
        return Row(self.take(name) if is_object(self.get(name)) else {}, self.where(name))

    def take_role(self) -> str:
        """Return the role. A name that is not one of ours remains."""
        name = self.get("role")
        if not isinstance(name, str):
            raise ConversionError(
                "a row without a role", where=self.where("role"), hint="use system, user or assistant"
            )
        if name in ROLES:
            self.take("role")
        return role_of(name)

    def take_moment(self, name: str) -> datetime | None:
        """Return the time of a column. It also remains, unless it is in the form that JavaScript writes."""
        value = self.get(name)
        moment = read_moment(value)
        if moment is not None and value == iso_text(moment, "milliseconds"):
            self.take(name)
        return moment

    def unpack(self, *names: str) -> None:
        """Parse the columns whose text is a JSON object or array."""
        for name in names:
            value = parsed(self.get(name))
            if is_object(value) or is_array(value):
                self.left[self._spelt(name)] = value

    def where(self, name: str) -> str:
        """Return the path of a column."""
        return f"{self.path}.{self._spelt(name)}"

    def _spelt(self, name: str) -> str:
        return name if name in self.left else _HUMP.sub("_", name).lower()


def rows_of(payload: Json, path: str = "$") -> Iterator[Row]:
    """Yield the rows of a payload: one, or a list of them."""
    if is_array(payload):
        for index, raw in enumerate(payload):
            yield _row(raw, f"{path}[{index}]")
    else:
        yield _row(payload, path)


def _row(raw: Json, path: str) -> Row:
    if not is_object(raw):
        raise ConversionError(
            f"a row is an object, found {kind_of(raw)}",
            where=path,
            hint="give rows as objects, their columns by name",
        )
    return Row(raw, path)


def read_moment(value: Json) -> datetime | None:
    """Read the time in a column: ISO text, in UTC if it has no zone, or a number since 1970."""
    try:
        if isinstance(value, str):
            return parse_iso(value)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        in_seconds = abs(value) < SECONDS_BELOW
        return EPOCH + (timedelta(seconds=value) if in_seconds else timedelta(milliseconds=value))
    except (ValueError, OverflowError):
        return None


def role_of(name: str) -> str:
    """Return the role that a name stands for."""
    return name if name in ROLES else OTHER_ROLES.get(name, "assistant")


def message_of(
    role: str,
    parts: Iterable[Part],
    *,
    origin: str,
    metadata: JsonObject | None = None,
    usage: Usage | None = None,
    **envelope: Unpack[Envelope],
) -> Message:
    """Return a message of a role. A part that it cannot have becomes a foreign part of that origin."""
    message_type, content_type, fitting = ROLES[role]
    content: JsonObject = {
        "parts": tuple(part if isinstance(part, fitting) else _foreign(part, origin) for part in parts)
    }
    if metadata:
        content["metadata"] = metadata
    if usage is not None:
        content["usage"] = usage
    return message_type(content=content_type(**content), **envelope)


def _foreign(part: Part, origin: str) -> ForeignPart | UnknownPart:
    return ForeignPart(origin, to_json(part))


# Rows of plain text, `{id, role, content, createdAt, …}` → messages of one part, marked as reconstructed.
#
# Such rows only have the text that an agent wrote. So the metadata of each message has `reconstructed`, and
# its origin as `from`. Columns without a place in a message are kept there under their own names.

NAME: Final = "plain"
RECONSTRUCTED: Final = "reconstructed"
FROM: Final = "from"

TEXTS: Final = ("content", "text")
MOMENTS: Final = ("createdAt", "timestamp")
THREADS: Final = ("threadId", "sessionId", "conversationId")


def load_plain(payload: Json) -> Loaded:
    """Read rows of plain text, one or a list of them."""
    return Loaded(tuple(_load_row(row, index) for index, row in enumerate(rows_of(payload))))


def reconstructed(
    text: str | None,
    *,
    role: str,
    origin: str,
    aside: JsonObject | None = None,
    more: Sequence[DataPart | ForeignPart] = (),
    usage: Usage | None = None,
    **envelope: Unpack[Envelope],
) -> Message:
    """Return a message of plain text that is marked as reconstructed.

    `origin`: the format of the row; `aside`: other columns; `more`: parts after the text. Only messages of
    the assistant have usage.
    """
    parts = [*([] if text is None else [TextPart(text)]), *more]
    return message_of(
        role, parts, origin=origin, metadata=marks(origin, aside, made=True), usage=usage, **envelope
    )


def marks(origin: str, aside: JsonObject | None = None, *, made: bool) -> JsonObject:
    """Return the metadata of a message: whether it was reconstructed, its origin, and other columns."""
    own: JsonObject = {**({RECONSTRUCTED: True} if made else {}), FROM: origin}
    others = (aside or {}).items()
    return own | {FOREIGN + key if key in (RECONSTRUCTED, FROM) else key: value for key, value in others}


def _load_row(row: Row, index: int) -> Message:
    role = row.take_role()
    column = next((name for name in TEXTS if name in row), None)
    if column is None:
        raise ConversionError("a row without text", where=row.path, hint="give {id, role, content}")
    content = row.take(column)
    id_ = row.take_text("id")
    envelope = Envelope(
        id=f"message-{index + 1}" if id_ is None else id_,
        thread_id=next(filter(None, map(row.take_text, THREADS)), None),
        parent_id=row.take_text("parentId"),
        created_at=next(filter(None, map(row.take_moment, MOMENTS)), None),
    )
    if isinstance(content, str):
        return reconstructed(content, role=role, origin=NAME, aside=row.left, **envelope)
    part = ForeignPart(NAME, content)
    return reconstructed(None, role=role, origin=NAME, aside=row.left, more=[part], **envelope)


PLAIN: Final = Format("plain", "rows of plain text, marked as reconstructed", load_plain, is_complete=True)
