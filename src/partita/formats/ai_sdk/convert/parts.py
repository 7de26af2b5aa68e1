"""Parts of UI messages that become one part of a model message each."""

from collections.abc import Callable
from typing import TypeAlias

from msgspec import UNSET

from partita.errors import ConversionError
from partita.types.json import Json, JsonObject, is_object, kind_of

from .fields import Fields
from .values import address, is_nullish

Converter: TypeAlias = Callable[[Fields], JsonObject]


def present(**members: Json) -> JsonObject:
    """The members that are not absent."""
    return {key: value for key, value in members.items() if value is not UNSET}


def part_type(part: Fields) -> str:
    """The type of a part, which must be a string."""
    value = part.get("type")
    if not isinstance(value, str):
        raise no_part(part)
    return value


def no_part(part: Fields) -> ConversionError:
    """The error for something that is no part."""
    if not is_object(part.value):
        what = f"{kind_of(part.value)} instead of a part"
    elif "type" in part.value:
        what = f"a part whose type is {kind_of(part.value['type'])}"
    else:
        what = "a part without type"
    return ConversionError(what, where=part.where, hint="validate the messages first")


def is_tool(type_: str) -> bool:
    """Whether parts of this type are tool calls."""
    return type_ == "dynamic-tool" or type_.startswith("tool-")


def is_data(type_: str) -> bool:
    """Whether parts of this type hold an application's own data."""
    return type_.startswith("data-")


def text(part: Fields) -> JsonObject:
    """Text, said by anyone."""
    return present(type="text", text=part.get("text"), providerOptions=part.first("providerMetadata"))


def reasoning(part: Fields) -> JsonObject:
    """Words the model wrote for itself."""
    return present(type="reasoning", text=part.get("text"), providerOptions=part.get("providerMetadata"))


def custom(part: Fields) -> JsonObject:
    """Something only one provider knows."""
    return present(type="custom", kind=part.get("kind"), providerOptions=part.first("providerMetadata"))


def bare_file(part: Fields) -> JsonObject:
    """A file by its address, without provider options."""
    return present(
        type="file", mediaType=part.get("mediaType"), filename=part.get("filename"), data=part.get("url")
    )


def plain_file(part: Fields) -> JsonObject:
    """A file by its address."""
    return bare_file(part) | present(providerOptions=part.first("providerMetadata"))


def tagged_file(part: Fields) -> JsonObject:
    """A file by the provider's reference to it, or by its normalized address."""
    return present(
        type="file",
        mediaType=part.get("mediaType"),
        filename=part.get("filename"),
        data=_file_data(part),
        providerOptions=part.first("providerMetadata"),
    )


def reasoning_file(part: Fields) -> JsonObject:
    """A file the model made while it reasoned."""
    return present(
        type="reasoning-file",
        mediaType=part.get("mediaType"),
        data=_address_data(part),
        providerOptions=part.get("providerMetadata"),
    )


def _file_data(part: Fields) -> JsonObject:
    if is_nullish(part.get("providerReference")):
        return _address_data(part)
    return {"type": "reference", "reference": part.get("providerReference")}


def _address_data(part: Fields) -> JsonObject:
    return {"type": "url", "url": address(part.get("url"), f"{part.where}.url")}
