"""One chunk of Mastra's streams, taken apart member by member: what nobody took is left."""

from collections.abc import Mapping
from typing import Any

from partita.types.json import Json, JsonObject, dumps, is_object

AROUND = ("type", "payload")
MASTRA = "mastra"
"""Where provider metadata and the metadata of a chunk hold what Mastra itself noted."""


class Said:
    """A chunk. Its payload is taken apart by whoever knows its type."""

    def __init__(self, event: JsonObject, where: str) -> None:
        self.type = str(event["type"])
        self.where = where
        self.payload: Json = event.get("payload")
        self.rest: JsonObject = dict(self.payload) if is_object(self.payload) else {}
        self.around: JsonObject = {key: item for key, item in event.items() if key not in AROUND}
        if "payload" in event and not is_object(self.payload):
            self.around["payload"] = self.payload
        self.about: JsonObject = {}
        """What of the payload tells which thing the rest belongs to."""

    def get(self, name: str) -> Json:
        """A member of the payload; `None` if there is none."""
        return self.rest.get(name)

    def take(self, name: str, kind: type[Any] | tuple[type[Any], ...]) -> Any:
        """A member of the payload, if it is of that kind; else it is left, and this is `None`."""
        value = self.rest.get(name)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            return None
        return self.rest.pop(name)

    def take_text(self, name: str) -> str | None:
        """A text of the payload."""
        text: str | None = self.take(name, str)
        return text

    def take_object(self, name: str) -> JsonObject | None:
        """An object in the payload."""
        value: JsonObject | None = self.take(name, dict)
        return value

    def take_metadata(self) -> JsonObject | None:
        """The provider metadata of the payload, with what Mastra's server noted on the chunk itself."""
        own = self.take_object("providerMetadata")
        noted: Json = self.around.get("metadata")
        mastra: Json = noted.get(MASTRA) if is_object(noted) else None
        if not is_object(mastra):
            return own
        rest = {key: item for key, item in noted.items() if key != MASTRA}
        self.around = {**self.around, "metadata": rest} if rest else _without(self.around, "metadata")
        before: Json = own.get(MASTRA) if own else None
        return {**(own or {}), MASTRA: {**(before if is_object(before) else {}), **mastra}}

    def drop(self, known: Mapping[str, Json]) -> None:
        """Leave out what is known already, word for word."""
        self.rest = {
            key: item for key, item in self.rest.items() if key not in known or not same(item, known[key])
        }

    def left(self, known: Mapping[str, Json]) -> JsonObject:
        """What nobody took and nobody knows, with what it is about."""
        self.drop(known)
        around = {
            key: item for key, item in self.around.items() if key not in known or not same(item, known[key])
        }
        left = {**self.rest, **({"event": around} if around else {})}
        return {**self.about, **left} if left else {}


def same(a: Json, b: Json) -> bool:
    """Whether two values are the same JSON. Python alone would take `1` for `true`."""
    if isinstance(a, str) or isinstance(b, str):
        return bool(a == b)
    return dumps(a) == dumps(b)


def _without(value: JsonObject, name: str) -> JsonObject:
    return {key: item for key, item in value.items() if key != name}


def is_chunk(value: Json) -> bool:
    """Whether a value is a chunk of Mastra's streams: it has a type, and is no bare object with one."""
    if not is_object(value) or not isinstance(value.get("type"), str):
        return False
    return "payload" in value or "runId" in value or str(value["type"]).startswith("data-")
