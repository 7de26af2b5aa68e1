"""Types as they are written → types as msgspec reads and describes them."""

import types
from datetime import datetime
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec

_DATE_TIME = msgspec.Meta(extra_json_schema={"format": "date-time"})


def spelled_out(type_: Any) -> Any:
    """A type in msgspec's words: `Annotated[str, "text"]` has a description, a time its format."""
    if type_ is datetime:
        return Annotated[datetime, _DATE_TIME]
    origin, arguments = get_origin(type_), get_args(type_)
    if origin is None or origin is Literal or not arguments:
        return type_
    if origin is Annotated:
        notes = [msgspec.Meta(description=item) if isinstance(item, str) else item for item in arguments[1:]]
        return Annotated[(spelled_out(arguments[0]), *notes)]  # pyrefly: ignore[invalid-annotation]
    inner = tuple(spelled_out(item) for item in arguments)
    if origin in (Union, types.UnionType):
        return Union[inner]  # noqa: UP007 # pyrefly: ignore[not-a-type] # built from a tuple
    return type_ if inner == arguments else origin[inner]
