"""What AG-UI says and canonical messages have no field for, and the other way round.

Members without a field are kept under `agUi` in provider metadata. The metadata of providers travel the other
way in `encryptedValue`, which is there for what only the agent can read: sealed, with a mark in front.
"""

from typing import Final

from partita.errors import DecodeError
from partita.types.json import Json, JsonObject, dumps, is_object, loads

NAMESPACE: Final = "agUi"
"""Where provider metadata keep what AG-UI said."""

FORMAT: Final = "ag-ui"

SEALED: Final = "encryptedValue"
_MARK: Final = "partita:"


def rest_of(raw: JsonObject, *read: str) -> JsonObject:
    """The members of an object that were not read."""
    return {name: value for name, value in raw.items() if name not in read}


def noted(notes: JsonObject, metadata: JsonObject | None = None) -> JsonObject | None:
    """Provider metadata with notes in them; none if there is nothing to keep."""
    if not notes:
        return metadata or None
    return {**(metadata or {}), NAMESPACE: notes}


def notes_in(metadata: JsonObject | None) -> JsonObject:
    """The notes that provider metadata hold."""
    found = (metadata or {}).get(NAMESPACE)
    return found if is_object(found) else {}


def others_in(metadata: JsonObject | None) -> JsonObject:
    """Provider metadata without the notes of this format."""
    return {
        name: value for name, value in (metadata or {}).items() if name != NAMESPACE or not is_object(value)
    }


def seal(metadata: JsonObject) -> str:
    """The metadata of providers as a value that only we read."""
    return _MARK + dumps(metadata).decode()


def unseal(value: Json) -> JsonObject | None:
    """The metadata in a value that we sealed; `None` for any other value."""
    if not isinstance(value, str) or not value.startswith(_MARK):
        return None
    text = value.removeprefix(_MARK)
    try:
        found = loads(text)
    except DecodeError:
        return None
    # Only what sealing would write again: any other text is kept as it is.
    return found if is_object(found) and found and dumps(found).decode() == text else None


def opened(notes: JsonObject) -> JsonObject | None:
    """Provider metadata for the notes of a message or call, its sealed value opened."""
    metadata = unseal(notes.get(SEALED))
    if metadata is None or NAMESPACE in metadata:
        return noted(notes)
    return noted(rest_of(notes, SEALED), metadata)


def closed(metadata: JsonObject | None) -> JsonObject:
    """What `opened` was given: the notes, and the metadata of others sealed unless there is no room."""
    notes, others = notes_in(metadata), others_in(metadata)
    return {**notes, SEALED: seal(others)} if others and SEALED not in notes else dict(notes)
