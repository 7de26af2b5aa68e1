"""Wire types: the schema of another system as structs, and the residue of the objects that are read.

`types.codec.Codec` reads wire types. Unknown members are kept in `extra`, unknown variants in the
`UnknownVariant` of their union, and an optional member whose value does not have the declared type is kept
like an unknown one.

A wire object that is read as a part and written again may be different. Its residue is the difference:
`residue` finds it on read, `restore` puts it back on write.

- A member that the written object does not have, or has with its default, is kept under its name. It comes
  back unless something else sets that member.
- A member that is written with another value ("respelled": arguments as text, a list of one text) is kept
  with a digest of the written value. It comes back only if the same value is written again, so an edit wins.
- A member that is written but was absent is kept the same way, without a value.
"""

from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from hashlib import blake2b
from itertools import compress
from operator import is_not
from typing import Any, Final, TypeVar, cast

import msgspec
from msgspec import UNSET
from msgspec.structs import astuple, force_setattr

from partita.errors import ConversionError, DecodeError
from partita.types.codec import Codec, to_json
from partita.types.json import TOO_DEEP, TOO_DEEP_HINT, Json, JsonObject, dumps, is_object
from partita.types.value import EXTRA_NAME, Extra, OpenValue, UnknownVariant, always

from .metadata import message_notes, with_message_notes

__all__ = [
    "RESPELLED",
    "Codec",
    "MemberUnion",
    "UnknownVariant",
    "Wire",
    "add_residue",
    "always",
    "conversion_errors",
    "defaults",
    "digest",
    "kind_of",
    "read_wire",
    "residue",
    "restore",
    "restore_noted",
    "to_json",
]


class Wire(OpenValue, rename=None):
    """The base of all wire types."""


def read_wire(codec: Codec[Any], raw: Json, path: str, hint: str) -> Any:
    """Read JSON as the type of a codec. An error names the path in the whole payload."""
    try:
        return codec.read(raw)
    except DecodeError as error:
        where = path + (error.where or "$").removeprefix("$")
        raise ConversionError(error.what, where=where, hint=hint) from None


@contextmanager
def conversion_errors() -> Generator[None, None, None]:
    """Turn the errors that stop a conversion into a `ConversionError`."""
    try:
        yield
    except RecursionError:
        raise ConversionError(TOO_DEEP, hint=TOO_DEEP_HINT) from None
    except DecodeError as error:
        raise ConversionError(error.what, where=error.where, hint=error.hint) from None


@cache
def kind_of(type_: type[Wire]) -> str:
    """Return the name of a type in its union: its tag, or its first member if the union has no tags."""
    names = [one.encode_name for one in msgspec.structs.fields(type_) if one.encode_name != EXTRA_NAME]
    tag = type_.__struct_config__.tag
    return names[0] if tag is None else str(tag)


class MemberUnion:
    """A union of objects without a tag: the name of the only member is the type, as in `{"toolUse": …}`."""

    def __init__(self, base: type[Wire]) -> None:
        """`base`: its subclasses are the types. The first member of each names it."""
        self._codecs = {kind_of(type_): Codec[Wire](type_) for type_ in base.__subclasses__()}

    def read(self, raw: JsonObject) -> Wire | UnknownVariant:
        """Read an object as one of the types, or as an `UnknownVariant` if none of them fits."""
        for name in raw:
            if name in self._codecs:
                try:
                    return self._codecs[name].read(raw)
                except DecodeError:
                    break
        return UnknownVariant(raw=Extra(raw))


# The residue

T = TypeVar("T")
WireT = TypeVar("WireT", bound=Wire | JsonObject)

RESPELLED: Final = "respelled"

_PLAIN: Final = frozenset[type]({type(None), bool, int, float, str, list, dict})
"""The types of JSON values. Members of wire objects are also unset, wire objects, or tuples of these."""


def residue(written: Wire | JsonObject, read: Wire | JsonObject) -> JsonObject:
    """Return what `restore` needs to turn `written` into `read`; empty if they are equal."""
    if isinstance(written, dict) or isinstance(read, dict) or type(written) is not type(read):
        return _residue(_json(written), _json(read))
    if written == read:
        return {}
    kept: JsonObject = {}
    respelled: JsonObject = {}
    members = _members(type(read))
    ones, others = astuple(written), astuple(read)
    extra: JsonObject = {}
    if read.extra:  # it also has the members whose values are not of the types that are declared
        extra = dict(read.extra)
        others = tuple([extra.pop(name, other) for name, other in zip(members.names, others, strict=True)])
    for at in compress(members.numbers, map(is_not, ones, others)):
        name, one, other = members.names[at], ones[at], others[at]
        if one is UNSET and type(other) in _PLAIN:
            kept[name] = other
        elif name != EXTRA_NAME:
            default = members.defaults.get(name, UNSET)
            _keep(name, _json(one), _json(other), default, kept, respelled)
    kept |= extra
    if respelled:
        kept[RESPELLED] = respelled
    return kept


def restore(written: WireT, kept: JsonObject, skip: frozenset[str] = frozenset()) -> WireT:
    """Return a wire object or a JSON object with a residue put back. `written` must not be used after that.

    `skip`: members of `kept` that do not belong to the residue.
    """
    if not kept:
        return written
    if isinstance(written, dict):
        kept = {name: value for name, value in kept.items() if name not in skip}
        return cast("WireT", _merged(written, kept))
    members = _members(type(written))
    extra: JsonObject = {}
    for name, value in kept.items():
        if name in skip:
            continue
        attribute = members.attributes.get(name)
        if attribute is None:
            if name not in (RESPELLED, members.tag_field):
                extra[name] = value
            continue
        other = getattr(written, attribute)
        if other is UNSET or other is None or _is_same(other, members.defaults.get(name, UNSET)):
            force_setattr(written, attribute, value)
        elif is_object(value) and is_object(other):
            force_setattr(written, attribute, _merged(other, value))
        elif is_object(value) and isinstance(other, Wire):
            restore(other, value)
    respelled = kept.get(RESPELLED)
    for name, entry in respelled.items() if is_object(respelled) else ():
        attribute = members.attributes.get(name)
        other = UNSET if attribute is None else getattr(written, attribute)
        if attribute is not None and other is not UNSET and entry[:1] == [digest(_json(other))]:
            force_setattr(written, attribute, entry[1] if len(entry) == 2 else UNSET)
    if extra:
        force_setattr(written, "extra", Extra({**extra, **(written.extra or {})}))
    return written


def add_residue(message: T, namespace: str, name: str, written: Wire, read: Wire) -> T:
    """Return a message with the residue of a wire object as a note of that name."""
    kept = residue(written, read)
    return with_message_notes(message, namespace, {name: kept}) if kept else message


def restore_noted(written: WireT, message: Any, namespace: str, name: str) -> WireT:
    """Return a wire object with the residue that a message has as a note of that name."""
    kept = message_notes(message, namespace).get(name)
    return restore(written, kept) if is_object(kept) else written


def _residue(written: JsonObject, read: JsonObject) -> JsonObject:
    kept: JsonObject = {}
    respelled: JsonObject = {}
    for name, value in read.items():
        one = written.get(name, UNSET)
        if one is not value:
            _keep(name, one, value, UNSET, kept, respelled)
    for name, value in written.items():
        if name not in read:
            _keep(name, value, UNSET, UNSET, kept, respelled)
    if respelled:
        kept[RESPELLED] = respelled
    return kept


def _keep(name: str, one: Json, other: Json, default: Json, kept: JsonObject, respelled: JsonObject) -> None:
    """Keep what turns the written member `one` into `other`. Either may be unset."""
    if other is UNSET:
        if one is not UNSET and not _is_same(one, default):
            respelled[name] = [digest(one)]
    elif one is UNSET:
        kept[name] = other
    elif _is_same(one, other):
        return
    elif one is None or _is_same(one, default):
        kept[name] = other
    elif is_object(one) and is_object(other):
        if inner := _residue(one, other):  # empty if they differ in order only
            kept[name] = inner
    else:
        respelled[name] = [digest(one), other]


def _merged(written: JsonObject, kept: JsonObject) -> JsonObject:
    """Return an object with a residue put back."""
    result = dict(written)
    for name, value in kept.items():
        other = result.get(name)
        if name == RESPELLED:
            continue
        if other is None:
            result[name] = value
        elif is_object(value) and is_object(other):
            result[name] = _merged(other, value)
    respelled = kept.get(RESPELLED)
    for name, entry in respelled.items() if is_object(respelled) else ():
        if name in result and entry[:1] == [digest(result[name])]:
            if len(entry) == 2:
                result[name] = entry[1]
            else:
                del result[name]
    return result


def digest(value: Json) -> str:
    """A short digest of a JSON value."""
    return blake2b(dumps(value), digest_size=6).hexdigest()


def _json(value: Any) -> Json:
    """Return a member's value as JSON, if it is set."""
    return value if type(value) in _PLAIN or value is UNSET else to_json(value)


class _Members:
    """The members of a wire type. `numbers` and `names` are in the order of `astuple`."""

    def __init__(self, type_: type[Wire]) -> None:
        fields = msgspec.structs.fields(type_)
        self.names = [one.encode_name for one in fields]
        self.numbers = range(len(fields))
        self.attributes = {one.encode_name: one.name for one in fields if one.encode_name != EXTRA_NAME}
        self.defaults = defaults(type_)
        self.tag_field = type_.__struct_config__.tag_field


_members: Final = cache(_Members)


@cache
def defaults(type_: type[Wire]) -> JsonObject:
    """Return the members of a wire type that are written even if nothing sets them, with their values."""
    found: JsonObject = {}
    for field in msgspec.structs.fields(type_):
        if field.default_factory is not msgspec.NODEFAULT:
            found[field.encode_name] = field.default_factory()
    return found


def _is_same(one: Any, other: Any) -> bool:
    """Whether two values are equal and of one JSON type: 1 is neither true nor 1.0, at any depth."""
    if one is other:
        return True
    if type(one) is not type(other) or one != other:
        return False
    return not isinstance(one, (dict, list)) or dumps(one) == dumps(other)
