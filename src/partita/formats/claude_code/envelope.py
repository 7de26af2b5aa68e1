"""The envelope of a record: everything except its content. It is kept so that the record can be written back.

The records of one response have nearly the same envelope. That of the first record is kept with the message;
of the others, the differences are kept. Partita adds the names that begin with `$`.
"""

from typing import Final

from msgspec import UNSET, UnsetType

from partita.types.json import Json, JsonObject, is_array, is_object

LINE: Final = "$line"
"""The line number of the record."""

STRING: Final = "$string"
"""The content was a string."""

CONTENT: Final = "$content"
"""The content, in a list, if the parts do not contain all of it; an empty list if there was none."""

SPLIT: Final = "$split"
"""The number of parts of each block, if it is not one."""

WITH: Final = "$with"
"""The positions of these blocks in the record, if its other blocks are kept elsewhere."""

WHOLE: Final = "$whole"
"""The envelope is complete, and not the difference from a first record."""

KIND: Final = "$kind"
"""The kind of a user record, if it is not a prompt."""

SOURCE: Final = "$from"
"""Where the record of a sub-agent was: `"inline"` in the conversation, or in a `"progress"` record."""

SUBAGENT: Final = "$agent"
"""The sub-agent of the message in a progress record."""

ADDED_NAMES: Final = frozenset({LINE, STRING, CONTENT, SPLIT, WITH, WHOLE, KIND, SOURCE, SUBAGENT})

WITHOUT: Final = "without"
"""Members that the first record has and this one does not."""

RECORD: Final = "claude-code-record"
"""The name of the data with the envelope of a record that has no part."""

DATA_PREFIX: Final = "claude-code-"
"""The prefix of the names of data that the reader of session files adds."""

LINE_DATA: Final = "claude-code-line"
"""The name of data with a line that is not an object."""

STABLE: Final = ("sessionId", "cwd", "version", "gitBranch", "userType", "isSidechain", "entrypoint", "slug")
"""Members that nearly all records of a session have with the same value."""

_INHERITED: Final = (*STABLE, "message")
_ABSENT: Final = object()


def keep_content(record: JsonObject, content: Json | UnsetType) -> None:
    """Keep a content that the parts do not contain completely."""
    record[CONTENT] = [] if content is UNSET else [content]


def kept_content(record: JsonObject) -> list[Json] | None:
    """Return what `keep_content` kept: no content, or one; `None` if the parts contain it."""
    kept = record.get(CONTENT)
    return kept if is_array(kept) else None


def difference(base: JsonObject, record: JsonObject) -> JsonObject:
    """Return the difference of a record from the first one of its response. The record itself is changed."""
    get, other = record.get, base.get
    for name in STABLE:
        if get(name, _ABSENT) != other(name, _ABSENT):
            return _whole_difference(base, record)
    for name in STABLE:
        record.pop(name, None)
    if record.get("message") == base.get("message"):
        record.pop("message", None)
    return record


def _whole_difference(base: JsonObject, record: JsonObject) -> JsonObject:
    changed = {
        name: value
        for name, value in record.items()
        if name not in _INHERITED or base.get(name, _ABSENT) != value
    }
    missing = [name for name in _INHERITED if name in base and name not in record]
    if missing:
        changed[WITHOUT] = missing
    return changed


def restored(base: JsonObject, changed: JsonObject) -> JsonObject:
    """Return the record with that difference from `base`."""
    names = changed.get(WITHOUT)
    missing: list[Json] = names if is_array(names) else []
    record: JsonObject = {
        name: base[name]
        for name in _INHERITED
        if name in base and name not in changed and name not in missing
    }
    record |= changed
    record.pop(WITHOUT, None)
    return record


def clean(record: JsonObject) -> JsonObject:
    """Return a record without the members that Partita added."""
    return {name: value for name, value in record.items() if name not in ADDED_NAMES}


def with_content(record: JsonObject, content: Json | UnsetType) -> JsonObject:
    """Return a record whose message has that content, or none if it is `UNSET`."""
    message = record.get("message")
    members: JsonObject = (
        {name: value for name, value in message.items() if name != "content"} if is_object(message) else {}
    )
    return record | {"message": members if content is UNSET else members | {"content": content}}


def line_of(record: JsonObject) -> int | None:
    """Return the line number that a record had, if it is known."""
    line = record.get(LINE)
    return line if type(line) is int else None
