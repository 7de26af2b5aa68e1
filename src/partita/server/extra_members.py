"""Members of a request's body that the server does not use itself: they are passed to the agent."""

from functools import cache
from typing import Any, Final

import msgspec
from litestar import Request

from partita.types.json import JsonObject, loads

MEMBERS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])


async def extra_members(request: Request[Any, Any, Any], known: type[msgspec.Struct]) -> JsonObject:
    """The members of a JSON body that are not fields of `known`."""
    names = _names(known)
    members = MEMBERS.decode(await request.body())
    return {name: loads(bytes(raw)) for name, raw in members.items() if name not in names}


@cache  # msgspec resolves the annotations of all fields
def _names(known: type[msgspec.Struct]) -> frozenset[str]:
    return frozenset(field.encode_name for field in msgspec.structs.fields(known))
