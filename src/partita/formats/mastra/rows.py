"""The members of stored messages besides their content: as in Mastra's API, and as in rows of its table.

A row of `mastra_messages` has `thread_id` and `resourceId`, a content that is JSON in a text column, and
times as the database writes them: `createMessagesTable` in https://github.com/mastra-ai/mastra, stores/pg
"""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from partita.errors import ConversionError, DecodeError
from partita.formats.losses import Loss
from partita.types.json import Json, JsonObject, dumps, is_array, is_object, kind_of, loads, same_json
from partita.types.messages import Message
from partita.types.times import in_utc, javascript_date

from .notes import members_of

ROW_THREAD: Final = "thread_id"
"""The name of the thread in rows."""

NAMES: Final[Mapping[str, Sequence[str]]] = {
    "threadId": ("threadId", ROW_THREAD),
    "resourceId": ("resourceId", "resource_id"),
}
"""The names of a member in messages and in rows. `resource_id` is in tables of other stores than Postgres."""

TIMES: Final = ("createdAt", "createdAtZ")
"""The members with the time. The second, in Postgres tables, has a zone."""

USER_SIGNAL: Final = "user"
"""The type of signals that a user sends. Other signals are for the agent."""

DAMAGED: Final = "it is JSON that was cut off, and kept as text"

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECONDS: Final = re.compile(r"-?\d{11,}")
_V2_START: Final = re.compile(
    r'\s*\{\s*"(format|parts|content|metadata|toolInvocations|reasoning|experimental_attachments|annotations)"'
)


class Envelope(NamedTuple):
    """The fields of a message besides its content, and the members that have no field."""

    fields: JsonObject
    rest: JsonObject


def check_row(raw: Json, path: str, roles: Sequence[str]) -> JsonObject:
    """Check that a value is a stored message, and return it."""
    if not is_object(raw):
        what, hint = (
            f"a stored message is an object, found {kind_of(raw)}",
            "use {id, role, content, createdAt}",
        )
        raise ConversionError(what, where=path, hint=hint)
    role = raw.get("role")
    if role not in roles:
        what = f"unknown role {role!r:.40}" if isinstance(role, str) else f"role is {kind_of(role)}"
        raise ConversionError(what, where=f"{path}.role", hint=f"use {', '.join(roles)}")
    if "content" not in raw:
        hint = "messages with parts and no content are UI messages, another format"
        raise ConversionError("a stored message without content", where=path, hint=hint)
    return raw


def read_envelope(raw: JsonObject, path: str, index: int) -> Envelope:
    """Read the fields besides the content. A message without an id is named after its number."""
    rest = {key: value for key, value in raw.items() if key not in ("role", "content")}
    id_ = rest.pop("id", f"message-{index + 1}")
    if not isinstance(id_, str):
        raise ConversionError(f"id is {kind_of(id_)}", where=f"{path}.id", hint="make it a string")
    fields: JsonObject = {"id": id_}
    for field, names in zip(("thread_id", "resource_id"), NAMES.values(), strict=True):
        name = next((name for name in names if isinstance(rest.get(name), str)), None)
        fields[field] = None if name is None else rest.pop(name)
    moments = {name: read_moment(rest.get(name)) for name in TIMES}
    fields["created_at"] = next((moment for moment in moments.values() if moment is not None), None)
    moment = moments[TIMES[0]]
    if moment is not None and javascript_date(moment) == rest[TIMES[0]]:
        del rest[TIMES[0]]
    return Envelope(fields, rest)


def read_moment(value: Json) -> datetime | None:
    """Return the time of a date, a time, or a number of milliseconds. Without a zone it is in UTC."""
    try:
        if isinstance(value, str) and not _MILLISECONDS.fullmatch(value):
            moment = datetime.fromisoformat(value)
            return in_utc(moment if moment.tzinfo else moment.replace(tzinfo=UTC), "createdAt")
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            return _EPOCH + timedelta(milliseconds=float(value))
    except (ValueError, OverflowError, DecodeError):
        pass
    return None


def write_envelope(message: Message) -> JsonObject:
    """Return the time, the thread and the owner of a message as members."""
    written: JsonObject = {}
    if message.created_at is not None:
        written["createdAt"] = javascript_date(message.created_at)
    if message.thread_id is not None:
        written["threadId"] = message.thread_id
    if message.resource_id is not None:
        written["resourceId"] = message.resource_id
    return written


def envelope_members(message: Message) -> JsonObject:
    """Return the other members besides the content.

    The original text of a time is kept while the time is unchanged.
    """
    members = members_of(message)
    if "createdAt" in members and read_moment(members["createdAt"]) not in (None, message.created_at):
        del members["createdAt"]
    return members


def is_v2(raw: Json) -> bool:
    """Whether a stored message is V2. Like Mastra, this decides by the content."""
    return is_object(raw) and _is_v2_content(raw.get("content"))


def _is_v2_content(content: Json) -> bool:
    return is_object(content) and (content.get("format") == 2 or is_array(content.get("parts")))


def parse_content(raw: Json, path: str, losses: list[Loss]) -> Json:
    """Return a stored message, with its content parsed if it is the JSON of a V2 content."""
    text = raw.get("content") if is_object(raw) else None
    if not isinstance(text, str) or not text.lstrip().startswith("{"):
        return raw
    try:
        content = loads(text)
    except DecodeError as error:
        if _V2_START.match(text):
            why = f"{DAMAGED} ({error.what}, {error.where})"
            losses.append(Loss.of(f"{path}.content", text, why, "changed"))
        return raw
    return {**raw, "content": content} if _is_v2_content(content) else raw


def in_row_form(written: JsonObject, raw: Json) -> JsonObject:
    """Return a written message in the form of the row that it was read from."""
    if not is_object(raw):
        return written
    for name, names in NAMES.items():
        other = next((one for one in names if one in raw), name)
        if name in written and name not in raw:
            written = {other if key == name else key: value for key, value in written.items()}
    text, content = raw.get("content"), written["content"]
    if not isinstance(text, str) or isinstance(content, str):
        return written
    try:
        is_same = same_json(in_order(loads(text)), in_order(content))
    except DecodeError:
        return written
    return {**written, "content": text if is_same else dumps(content).decode()}


def in_order(value: Json) -> Json:
    """Return the value with the members of objects in alphabetic order."""
    if is_object(value):
        return {key: in_order(value[key]) for key in sorted(value)}
    return [in_order(item) for item in value] if is_array(value) else value
