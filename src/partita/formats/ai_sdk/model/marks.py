"""What a model message says beyond a canonical value: noted in `extra`, so that it is written again.

A value read from a model message is written back at once; where that gives something else, a note says
what to change. Notes never repeat what the value itself holds, so a value that was edited stays right.
"""

from collections.abc import Generator
from contextlib import contextmanager
from typing import TypeVar

from msgspec.structs import replace

from partita.errors import ConversionError, DecodeError
from partita.types.json import TOO_DEEP, TOO_DEEP_HINT, Json, JsonObject, is_array, is_object
from partita.types.value import Extra, Value

FORMAT = "ai-sdk-model"
"""The name of the format, and the member of `extra` that holds the note."""

KNOWN = frozenset({"role", "content", "providerOptions"})
"""Members of a message that have a field."""

ValueT = TypeVar("ValueT", bound=Value)


def note_of(value: Value) -> JsonObject | None:
    """The note on a value."""
    note = value.extra.get(FORMAT) if value.extra else None
    return note if is_object(note) else None


def with_note(value: ValueT, note: JsonObject) -> ValueT:
    """The value with a note."""
    return replace(value, extra=Extra({**(value.extra or {}), FORMAT: note}))


def difference(written: JsonObject, meant: JsonObject) -> JsonObject:
    """The note that makes `amended` turn what is written into what was meant; empty if they are equal."""
    members = {key: item for key, item in meant.items() if key not in written or written[key] != item}
    without = [key for key in written if key not in meant]
    return {**({"members": members} if members else {}), **({"without": without} if without else {})}


def amended(written: JsonObject, note: Json) -> JsonObject:
    """What is written, changed as a note says. A note that makes no sense changes nothing."""
    if not is_object(note):
        return written
    members, without = note.get("members"), note.get("without")
    gone: list[Json] = without if is_array(without) else []
    kept = {key: item for key, item in written.items() if key not in gone}
    return {**kept, **members} if is_object(members) else kept


def options_of(raw: JsonObject) -> JsonObject | None:
    """The provider options of a message, a part or an output."""
    options = raw.get("providerOptions")
    return options if is_object(options) else None


def with_options(raw: JsonObject, options: JsonObject | None) -> JsonObject:
    """The same with these provider options, and no others."""
    if options is None and "providerOptions" not in raw:
        return raw
    bare = {key: item for key, item in raw.items() if key != "providerOptions"}
    return bare if options is None else {**bare, "providerOptions": options}


def note_on(raw: JsonObject, *, empty: bool = False, alone: bool = True) -> JsonObject:
    """What a message says beyond its role, content and options; and that its content is no list, or empty."""
    note: JsonObject = {}
    if not raw.keys() <= KNOWN or ("providerOptions" in raw and options_of(raw) is None):
        known = {"role", "content", *([] if options_of(raw) is None else ["providerOptions"])}
        note["members"] = {key: item for key, item in raw.items() if key not in known}
    if empty:
        note["content"] = "empty"
    elif isinstance(raw.get("content"), str) and not alone:
        note["content"] = "string"
    return note


def extra_on(raw: JsonObject, *, empty: bool = False, alone: bool = True) -> Extra | None:
    """The same, as the `extra` of a message or of a step start."""
    note = note_on(raw, empty=empty, alone=alone)
    return Extra({FORMAT: note}) if note else None


def message_id(index: int) -> str:
    """The id of the message that begins at that index of a payload."""
    return f"message-{index + 1}"


def results_id(head_id: str, step: int) -> str:
    """The id of the tool message behind a step, as `fold` names it."""
    return f"{head_id}#{step}:results"


@contextmanager
def conversion() -> Generator[None, None, None]:
    """Where everything that may stop a conversion is told as a `ConversionError`."""
    try:
        yield
    except RecursionError:
        raise ConversionError(TOO_DEEP, hint=TOO_DEEP_HINT) from None
    except DecodeError as error:
        raise ConversionError(error.what, where=error.where, hint=error.hint) from None
