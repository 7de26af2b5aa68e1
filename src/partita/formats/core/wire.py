"""Wire types: the schema of another system as structs, with its own member names.

`types.codec.Codec` reads them. Unknown members are kept in `extra`, unknown variants in the `UnknownVariant`
of their union, and an optional member whose value has another type than declared is kept like an unknown one.
"""

from functools import cache
from typing import Any

import msgspec

from partita.errors import ConversionError, DecodeError
from partita.types.codec import Codec, to_json
from partita.types.json import Json, JsonObject
from partita.types.value import EXTRA_NAME, Extra, OpenValue, UnknownVariant, always

__all__ = ["Codec", "MemberUnion", "UnknownVariant", "Wire", "always", "kind_of", "read_wire", "to_json"]


class Wire(OpenValue, rename=None):
    """The base of all wire types."""


def read_wire(codec: Codec[Any], raw: Json, path: str, hint: str) -> Any:
    """`raw` as the codec's type. The error names the path in the whole payload."""
    try:
        return codec.read(raw)
    except DecodeError as error:
        where = path + (error.where or "$").removeprefix("$")
        raise ConversionError(error.what, where=where, hint=hint) from None


@cache
def kind_of(type_: type[Wire]) -> str:
    """The name of a type in its union: its tag, or its first member if objects of the union have none."""
    names = [one.encode_name for one in msgspec.structs.fields(type_) if one.encode_name != EXTRA_NAME]
    tag = type_.__struct_config__.tag
    return names[0] if tag is None else str(tag)


class MemberUnion:
    """A union of objects that have no tag: their only member names their type, as in `{"toolUse": …}`."""

    def __init__(self, base: type[Wire]) -> None:
        """The types are the subclasses of a base. The first member of each is the one that names it."""
        self._codecs = {kind_of(type_): Codec[Wire](type_) for type_ in base.__subclasses__()}

    def read(self, raw: JsonObject) -> Wire | UnknownVariant:
        """An object as one of the types; one that none of them can hold as an `UnknownVariant`."""
        for name in raw:
            if name in self._codecs:
                try:
                    return self._codecs[name].read(raw)
                except DecodeError:
                    break
        return UnknownVariant(raw=Extra(raw))
