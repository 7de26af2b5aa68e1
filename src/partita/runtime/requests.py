"""What a model was asked, as notes in the log: whole at first, then what changed since.

A model that calls tools is asked again with all that was said before. So of several requests of one message
the first is kept whole, and of each other what differs from the one before it.
"""

from typing import Final, NamedTuple

from partita.formats.agent_decoder import is_mark
from partita.types.chunks import Chunk, DataChunk
from partita.types.json import Json, JsonObject, is_array, is_object

REQUEST: Final = "data-partita-request"
"""The note before the mark of a call: what was sent, without its headers."""


class Asked(NamedTuple):
    """One request to a provider's API."""

    format_name: str
    """Which API: the format that reads the answer."""
    path: str
    """Behind the API's base address."""
    body: JsonObject


def note_of(asked: Asked) -> DataChunk:
    """The note that tells all of a request."""
    data = {"format": asked.format_name, "path": asked.path, "body": asked.body}
    return DataChunk(REQUEST, data, transient=True)


def asked_in(chunk: Chunk) -> Asked | None:
    """The request that a note tells whole."""
    data: Json = chunk.data if isinstance(chunk, DataChunk) and is_mark(chunk, REQUEST) else None
    if not is_object(data) or not is_object(data.get("body")):
        return None
    return Asked(str(data.get("format")), str(data.get("path")), data["body"])


class Shortening:
    """Notes in a row, each told by what changed since the one before."""

    def __init__(self) -> None:
        self._before: Asked | None = None

    def shortened(self, chunk: DataChunk) -> DataChunk:
        """The same note, shorter if it can be."""
        asked, before = asked_in(chunk), self._before
        if asked is None:
            return chunk
        self._before = asked
        if before is None or before[:2] != asked[:2]:
            return chunk
        changes = {name: _change(before.body, name, value) for name, value in asked.body.items()}
        return DataChunk(REQUEST, {"changes": changes}, transient=True)


class Lengthening:
    """Shortened notes in a row, read as the requests they tell."""

    def __init__(self) -> None:
        self._before: Asked | None = None

    def read(self, chunk: Chunk) -> Asked | None:
        """The request of a note; nothing if the one before it is missing."""
        data: Json = chunk.data if isinstance(chunk, DataChunk) else None
        if is_object(data) and is_object(changes := data.get("changes")):
            before = self._before
            if before is not None:
                body = {name: _changed(before.body.get(name), change) for name, change in changes.items()}
                self._before = before._replace(body=body)
        else:
            self._before = asked_in(chunk)
        return self._before


def _change(before: JsonObject, name: str, value: Json) -> JsonObject:
    if name not in before:
        return {"set": value}
    was: Json = before[name]
    if was == value:
        return {}
    if not is_array(was) or not is_array(value):
        return {"set": value}
    pairs = zip(was, value, strict=False)
    kept = next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(was), len(value)))
    return {"keep": kept, "add": value[kept:]} if kept else {"set": value}


def _changed(was: Json, change: Json) -> Json:
    if not is_object(change) or not change:
        return was
    if "set" in change:
        return change["set"]
    kept, added = change.get("keep"), change.get("add")
    return [*was[:kept], *added] if is_array(was) and is_array(added) else was
