"""What a stored message says beyond a canonical value: noted in `extra`, so that it can be written again."""

from collections.abc import Mapping
from typing import Any, TypeVar

from msgspec.structs import replace

from partita.types.json import JsonObject, is_object
from partita.types.value import Extra, Value, kept, unkept

FORMAT = "mastra"
"""The name of a foreign part that was a part or a content of Mastra."""

OURS = "mastra:"
"""How the members of `extra` begin that only tell how something was written."""

NOTE = f"{OURS}note"
"""The member of `extra` that holds the note. It never repeats what the value itself holds."""

ValueT = TypeVar("ValueT", bound=Value)


def extra_of(rest: Mapping[str, Any], note: JsonObject, type_: type[Value]) -> Extra | None:
    """Members without a place in a `type_`, and the note on it; `None` when there is neither."""
    return kept({**rest, **({NOTE: note} if note else {})}, type_)


def with_note(value: ValueT, note: JsonObject) -> ValueT:
    """The value, with this added to its note."""
    return replace(value, extra=Extra({**(value.extra or {}), NOTE: {**note_of(value), **note}}))


def note_of(value: Value) -> JsonObject:
    """The note on a value; empty if there is none."""
    note = value.extra.get(NOTE) if value.extra else None
    return note if is_object(note) else {}


def kept_of(value: Value) -> JsonObject:
    """The members of a value that have no name here, under the names they came with; notes are none."""
    if not value.extra:
        return {}
    return {key: item for key, item in unkept(value.extra).items() if not key.startswith(OURS)}
