"""The envelope of a record: everything but its content. It is kept, so that the record can be written back.

The records of one response have nearly the same envelope, so that of the first is kept with the message, and
of the others what is different. Names that begin with `$` are ours.
"""

from typing import Final

from msgspec import UNSET, UnsetType

from partita.types.json import Json, JsonObject, is_array, is_object

LINE: Final = "$line"
"""The number of the record's line."""

STRING: Final = "$string"
"""The content was a string."""

CONTENT: Final = "$content"
"""The content, in a list, if the parts do not contain all of it; an empty list if there was none."""

SPLIT: Final = "$split"
"""How many parts each block became, if not one each."""

WITH: Final = "$with"
"""The positions of these blocks in the record, if others of its blocks are kept elsewhere."""

WHOLE: Final = "$whole"
"""The envelope is complete: there is no first record with the rest."""

KIND: Final = "$kind"
"""What a user record is, if it is not a prompt."""

SOURCE: Final = "$from"
"""Where a sub-agent's record was: `"inline"`, among those of the conversation, or in `"progress"`."""

SUBAGENT: Final = "$agent"
"""The sub-agent whose message a progress record has."""

MARKS: Final = frozenset({LINE, STRING, CONTENT, SPLIT, WITH, WHOLE, KIND, SOURCE, SUBAGENT})

WITHOUT: Final = "without"
"""Members that the first record has and this one does not."""

RECORD: Final = "claude-code-record"
"""The name of the data with the envelope of a record of a response that no part can carry."""

OWN_DATA: Final = "claude-code-"
"""The prefix of the names of data that the reader of session files makes."""

NO_RECORD: Final = "claude-code-line"
"""The name of data that is a line which is not an object."""

STABLE: Final = ("sessionId", "cwd", "version", "gitBranch", "userType", "isSidechain", "entrypoint", "slug")
"""Members that nearly all records of a session have with the same value."""

_INHERITED: Final = (*STABLE, "message")
_ABSENT: Final = object()


def keep_content(record: JsonObject, content: Json | UnsetType) -> None:
    """Keep a content that parts do not contain."""
    record[CONTENT] = [] if content is UNSET else [content]


def kept_content(record: JsonObject) -> list[Json] | None:
    """What `keep_content` kept: nothing or one content; `None` if the parts contain it."""
    kept = record.get(CONTENT)
    return kept if is_array(kept) else None


def difference(base: JsonObject, record: JsonObject) -> JsonObject:
    """What is different in a record from the first one of its response. The record itself is changed."""
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
    gone = [name for name in _INHERITED if name in base and name not in record]
    if gone:
        changed[WITHOUT] = gone
    return changed


def restored(base: JsonObject, changed: JsonObject) -> JsonObject:
    """The record whose difference from `base` is given."""
    names = changed.get(WITHOUT)
    gone: list[Json] = names if is_array(names) else []
    record: JsonObject = {
        name: base[name] for name in _INHERITED if name in base and name not in changed and name not in gone
    }
    record |= changed
    record.pop(WITHOUT, None)
    return record


def clean(record: JsonObject) -> JsonObject:
    """A record without our marks."""
    return {name: value for name, value in record.items() if name not in MARKS}


def with_content(record: JsonObject, content: Json | UnsetType) -> JsonObject:
    """A record whose message has that content; `UNSET` is none."""
    message = record.get("message")
    own: JsonObject = (
        {name: value for name, value in message.items() if name != "content"} if is_object(message) else {}
    )
    return record | {"message": own if content is UNSET else own | {"content": content}}


def line_of(record: JsonObject) -> int | None:
    """The number of the line that a record had."""
    line = record.get(LINE)
    return line if type(line) is int else None
