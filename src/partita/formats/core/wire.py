"""Wire types: the schema of another system as structs, with its own member names.

`types.codec.Codec` reads them. Unknown members are kept in `extra`, unknown variants in the `UnknownVariant`
of their union, and an optional member whose value has another type than declared is kept like an unknown one.
"""

from typing import Any

import msgspec

from partita.errors import ConversionError, DecodeError
from partita.types.codec import Codec, to_json
from partita.types.json import Json
from partita.types.value import OpenValue, UnknownVariant

__all__ = ["Codec", "UnknownVariant", "Wire", "always", "read_wire", "to_json"]


class Wire(OpenValue, rename=None):
    """The base of all wire types."""


def always(default: Any) -> Any:
    """Declare a member that may be absent when it is read, and is always written."""
    return msgspec.field(default_factory=lambda: default)


def read_wire(codec: Codec[Any], raw: Json, path: str, hint: str) -> Any:
    """`raw` as the codec's type. The error names the path in the whole payload."""
    try:
        return codec.read(raw)
    except DecodeError as error:
        where = path + (error.where or "$").removeprefix("$")
        raise ConversionError(error.what, where=where, hint=hint) from None
