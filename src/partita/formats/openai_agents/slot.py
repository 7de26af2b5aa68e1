"""Where a session has room: the provider data of an item, which the SDK keeps and never sends to OpenAI.

Of a reasoning item the SDK would think that it is another provider's. A message in its short form has to have
its full form, for the SDK knows the short one by having no other members.
"""

from typing import Final

from partita.formats.format import Slot
from partita.types.json import Json, JsonObject, is_array, is_object

from .notes import PROVIDER_DATA

OWN: Final = "partita"
SHORT: Final = "partita_short"
"""Says that the message had its short form."""

SPEAKERS: Final = ("user", "system", "developer")


def put(payload: Json, rest: JsonObject) -> Json:
    """The items with an object on the first one that has room; as they are if none has."""
    if not is_array(payload):
        return payload
    for place, item in enumerate(payload):
        if is_object(item) and PROVIDER_DATA not in item and (filled := _filled(item, rest)) is not None:
            return [*payload[:place], filled, *payload[place + 1 :]]
    return payload


def _filled(item: JsonObject, rest: JsonObject) -> JsonObject | None:
    if item.get("type") not in (None, "reasoning"):
        return {**item, PROVIDER_DATA: {OWN: rest}}
    if "type" not in item and item.get("role") in SPEAKERS:
        return {**item, "type": "message", PROVIDER_DATA: {OWN: rest, SHORT: True}}
    return None


def take(payload: Json) -> tuple[Json, JsonObject | None]:
    """The items as they were, and the object."""
    if not is_array(payload):
        return payload, None
    for place, item in enumerate(payload):
        data = item.get(PROVIDER_DATA) if is_object(item) else None
        if is_object(item) and is_object(data) and is_object(data.get(OWN)) and data.keys() <= {OWN, SHORT}:
            gone = {PROVIDER_DATA, *(["type"] if SHORT in data else [])}
            bare = {name: said for name, said in item.items() if name not in gone}
            return [*payload[:place], bare, *payload[place + 1 :]], data[OWN]
    return payload, None


SLOT: Final = Slot(put, take)
