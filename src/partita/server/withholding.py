"""What a model was asked holds an agent's instructions: it is told only to those who may do everything."""

from typing import Final

from partita.runtime.principal import Principal
from partita.runtime.requests import REQUEST
from partita.store.log.blocks import Stored
from partita.types.json import Json, JsonObject, dumps, is_array, is_object, loads

MARK: Final = f'"{REQUEST}"'.encode()
WITHHELD: Final[JsonObject] = {"withheld": "it takes the role 'admin'"}


def as_told_to(principal: Principal, entry: Stored) -> Stored:
    """An entry of a log as somebody may see it."""
    if entry.chunk is None or MARK not in entry.chunk or principal.may("admin"):
        return entry
    return entry._replace(chunk=dumps(_without_request(loads(entry.chunk))))


def _without_request(value: Json) -> Json:
    """A value without requests, however deep they are: in chunks of sub-agents, in such as were refused."""
    if is_array(value):
        return [_without_request(one) for one in value]
    if not is_object(value):
        return value
    if value.get("type") == REQUEST:
        return {**value, "data": WITHHELD}
    return {name: _without_request(one) for name, one in value.items()}
