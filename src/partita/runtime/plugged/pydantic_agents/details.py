"""What Pydantic AI keeps beside the words of a part, in our provider metadata: opaque, and needed again."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from partita.types.json import Json, JsonObject, is_object

NAMESPACE: Final = "pydantic-ai"

SIGNATURES: Final[Mapping[str, tuple[str, str]]] = {
    "anthropic": ("signature", "id"),
    "openai": ("reasoningEncryptedContent", "itemId"),
}
"""By provider, what our own formats call the signature of a thought and its id."""


@dataclass(frozen=True, slots=True)
class Details:
    """The opaque fields of a part."""

    id: str | None = None
    provider_name: str | None = None
    provider_details: JsonObject | None = None
    signature: str | None = None

    def metadata(self) -> JsonObject | None:
        """As provider metadata; a signature also where our own formats look for it."""
        own = {
            "id": self.id,
            "providerName": self.provider_name,
            "providerDetails": self.provider_details,
            "signature": self.signature,
        }
        kept: JsonObject = {key: value for key, value in own.items() if value is not None}
        names = SIGNATURES.get(self.provider_name or "")
        theirs: JsonObject = {}
        if names is not None and self.signature is not None:
            signature, named = names
            theirs = {signature: self.signature, **({} if self.id is None else {named: self.id})}
        known = {NAMESPACE: kept} if kept else {}
        return {**known, **({self.provider_name: theirs} if self.provider_name and theirs else {})} or None


def details_in(metadata: JsonObject | None) -> Details:
    """The opaque fields in provider metadata: those kept for Pydantic AI, else those of our own formats."""
    said = metadata or {}
    own: Json = said.get(NAMESPACE)
    if is_object(own):
        more: Json = own.get("providerDetails")
        return Details(
            _text(own.get("id")),
            _text(own.get("providerName")),
            more if is_object(more) else None,
            _text(own.get("signature")),
        )
    for provider, (signature, named) in SIGNATURES.items():
        theirs: Json = said.get(provider)
        if is_object(theirs) and _text(theirs.get(signature)) is not None:
            return Details(_text(theirs.get(named)), provider, None, _text(theirs.get(signature)))
    return Details()


def _text(value: Json) -> str | None:
    return value if isinstance(value, str) else None
