"""What stands around the content of a stored message: ids, times and names, as objects and as rows have them.

A row of `mastra_messages` says `thread_id` beside `resourceId`, and has its times as the database gives them.
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from partita.errors import ConversionError, DecodeError
from partita.formats.ai_sdk.ui.v4_shape import written_time
from partita.types.json import Json, JsonObject, is_object, kind_of
from partita.types.messages import Message
from partita.types.times import in_utc

ROW_THREAD = "thread_id"
"""How rows, and only rows, name the thread."""

THREADS = ("threadId", ROW_THREAD)
RESOURCES = ("resourceId", "resource_id")
TIMES = ("createdAt", "createdAtZ")
"""Names of one thing, the usual one first."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECONDS = re.compile(r"-?\d{11,}")


class Around(NamedTuple):
    """The fields around a content, the members that have no field, and a note on how they were spelt."""

    fields: JsonObject
    rest: JsonObject
    note: JsonObject


def read_envelope(raw: JsonObject, path: str, index: int) -> Around:
    """What stands around the content; a message without an id gets the one of its place."""
    rest = {key: value for key, value in raw.items() if key not in ("role", "content")}
    note: JsonObject = {}
    fields: JsonObject = {
        "id": _id_of(rest, path, index),
        "thread_id": _named(rest, THREADS, note),
        "resource_id": _named(rest, RESOURCES, note),
        "created_at": _time_of(rest),
    }
    return Around(fields, rest, note)


def checked_row(raw: Json, path: str, roles: Sequence[str]) -> JsonObject:
    """A stored message, if it is one at all."""
    if not is_object(raw):
        raise ConversionError(
            f"a stored message is an object, found {kind_of(raw)}",
            where=path,
            hint="give {id, role, content, createdAt}",
        )
    role = raw.get("role")
    if role not in roles:
        what = f"unknown role {role!r:.40}" if isinstance(role, str) else f"role is {kind_of(role)}"
        raise ConversionError(what, where=f"{path}.role", hint=f"use {', '.join(roles)}")
    if "content" not in raw:
        raise ConversionError(
            "a stored message without content",
            where=path,
            hint="messages with parts and no content are UI messages, another format",
        )
    return raw


def read_moment(value: Json) -> datetime | None:
    """The moment that a date, a time or a number of milliseconds names; without a zone it is in UTC."""
    try:
        if isinstance(value, str) and not _MILLISECONDS.fullmatch(value):
            moment = datetime.fromisoformat(value)
            return in_utc(moment if moment.tzinfo else moment.replace(tzinfo=UTC), "createdAt")
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            return _EPOCH + timedelta(milliseconds=float(value))
    except (ValueError, OverflowError, DecodeError):
        pass
    return None


def written_around(message: Message) -> JsonObject:
    """The time, the thread and the owner of a message."""
    result: JsonObject = {}
    if message.created_at is not None:
        result["createdAt"] = written_time(message.created_at)
    if message.thread_id is not None:
        result["threadId"] = message.thread_id
    if message.resource_id is not None:
        result["resourceId"] = message.resource_id
    return result


def _id_of(rest: JsonObject, path: str, index: int) -> str:
    if "id" not in rest:
        return f"message-{index + 1}"
    id_ = rest.pop("id")
    if not isinstance(id_, str):
        raise ConversionError(f"id is {kind_of(id_)}", where=f"{path}.id", hint="make it a string")
    return id_


def _named(rest: JsonObject, names: Sequence[str], note: JsonObject) -> str | None:
    """The first of these members that is a string, taken out of `rest`."""
    for name in names:
        if isinstance(rest.get(name), str):
            if name != names[0]:
                note[names[0]] = name
            return str(rest.pop(name))
    return None


def _time_of(rest: JsonObject) -> datetime | None:
    """When the message was made. A time that is spelt otherwise than JavaScript does stays in `rest`."""
    for name in TIMES:
        moment = read_moment(rest.get(name))
        if moment is not None:
            if name == TIMES[0] and written_time(moment) == rest[name]:
                del rest[name]
            return moment
    return None
