"""Where a history has room for what else there is to say, and what its readers know without being told."""

from partita.formats.format import Implied
from partita.types.json import Json, JsonObject, is_array, is_object

from .shapes import DEFAULTS, object_of
from .signing import REDACTED
from .usage import NOTHING


def put(payload: Json, extra: JsonObject) -> Json:
    """The history with an object in the metadata of its first message."""
    first = _first(payload)
    if first is None:
        return payload
    return [{**first, "metadata": {**object_of(first.get("metadata")), "partita": extra}}, *payload[1:]]


def take(payload: Json) -> tuple[Json, JsonObject | None]:
    """The history without what `put` put there, and that."""
    first = _first(payload)
    about = object_of(None if first is None else first.get("metadata"))
    extra = about.get("partita")
    if first is None or not is_object(extra):
        return payload, None
    rest = {key: value for key, value in about.items() if key != "partita"}
    return [{**first, "metadata": rest or None}, *payload[1:]], extra


def _first(payload: Json) -> JsonObject | None:
    """The first message of a history, if it has room."""
    first = payload[0] if is_array(payload) and payload else None
    has_room = (
        is_object(first)
        and "kind" in first
        and (first.get("metadata") is None or is_object(first["metadata"]))
    )
    return first if is_object(first) and has_room else None


def implied() -> Implied:
    """What a reader of a history has understood once it has read the rest."""
    kinds = {*DEFAULTS, "web", "content"}
    return {
        "kind": frozenset(kinds),
        "part_kind": frozenset(kinds),
        "outcome": frozenset({"success", "failed", "denied", "interrupted"}),
        "state": frozenset({"complete"}),
        "scope": frozenset({"conversation"}),
        "force_download": frozenset({False}),
        "id": frozenset({REDACTED}),
        **{name: frozenset(range(10)) for name in (*NOTHING, "start", "end")},
    }
