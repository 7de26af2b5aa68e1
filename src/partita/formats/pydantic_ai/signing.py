"""Signatures and ids of providers: where Pydantic AI has them, and where canonical parts have them."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from partita.formats.framework.members import Members, metadata_of, noted
from partita.types.json import Json, JsonObject, is_object

from .shapes import NAME

NAMESPACES: Final[Mapping[str, str]] = {
    "anthropic": "anthropic",
    "openai": "openai",
    "azure": "openai",
    "google": "google",
    "google-gla": "google",
    "google-vertex": "google",
    "google-cloud": "google",
}
"""The namespaces of provider metadata, by Pydantic AI's names of providers."""

PROVIDERS: Final = ("anthropic", "openai", "google")
REDACTED: Final = "redacted_thinking"
IN_DETAILS: Final = "thought_signature"


class Spot(NamedTuple):
    """A member of a part, and the name it has in provider metadata."""

    member: str
    name: str


THINKING: Final[Mapping[str, tuple[Spot, ...]]] = {
    "anthropic": (Spot("signature", "signature"),),
    "google": (Spot("signature", "thoughtSignature"),),
    "openai": (Spot("id", "itemId"), Spot("signature", "reasoningEncryptedContent")),
}
SAYING: Final[Mapping[str, tuple[Spot, ...]]] = {
    "openai": (Spot("id", "itemId"),),
    "google": (Spot(IN_DETAILS, "thoughtSignature"),),
}


def taken(members: Members, spots: Mapping[str, tuple[Spot, ...]], provider: Json) -> JsonObject | None:
    """The provider metadata of a part; what is left of the part stands under Pydantic AI's name."""
    named = members.left.get("provider_name")
    namespace = NAMESPACES.get(
        named if isinstance(named, str) else provider if isinstance(provider, str) else ""
    )
    own: JsonObject = {}
    for spot in spots.get(namespace or "", ()):
        value = _detail(members) if spot.member == IN_DETAILS else members.text(spot.member)
        if value is not None:
            own[spot.name] = value
    if namespace is None or not own:
        return metadata_of(NAME, members.left)
    if named == namespace:
        members.any("provider_name")
    elif named is None:
        members.left["unnamed"] = True
    return metadata_of(NAME, members.left, {namespace: own})


def given(metadata: JsonObject | None, spots: Mapping[str, tuple[Spot, ...]]) -> JsonObject:
    """The members that `taken` took."""
    part = dict(noted(metadata, NAME))
    unnamed = part.pop("unnamed", False)
    for namespace in PROVIDERS:
        own = noted(metadata, namespace)
        found = [(spot, own[spot.name]) for spot in spots.get(namespace, ()) if _is_text(own.get(spot.name))]
        if not found:
            continue
        for spot, value in found:
            if spot.member == IN_DETAILS:
                details = part.get("provider_details")
                part["provider_details"] = {**(details if is_object(details) else {}), IN_DETAILS: value}
            else:
                part[spot.member] = value
        if not unnamed:
            part.setdefault("provider_name", namespace)
        break
    return part


def _detail(members: Members) -> str | None:
    details = members.left.get("provider_details")
    if not is_object(details) or not isinstance(details.get(IN_DETAILS), str):
        return None
    rest = {key: value for key, value in details.items() if key != IN_DETAILS}
    if rest:
        members.left["provider_details"] = rest
    else:
        del members.left["provider_details"]
    value: str = details[IN_DETAILS]
    return value


def _is_text(value: Json) -> bool:
    return isinstance(value, str)
