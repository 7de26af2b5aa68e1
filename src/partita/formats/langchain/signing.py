"""What providers sign and number, and where LangChain's blocks have it."""

from collections.abc import Iterable, Mapping
from typing import Final

from partita.formats.framework.members import Members, metadata_of, noted
from partita.types.json import JsonObject, is_object

from .envelope import NAME

NAMESPACES: Final[Mapping[str, str]] = {
    "anthropic": "anthropic",
    "bedrock": "anthropic",
    "openai": "openai",
    "azure": "openai",
    "google_genai": "google",
    "google_vertexai": "google",
}
"""The namespaces of provider metadata, by LangChain's names of providers."""

PROVIDERS: Final[Mapping[str, str]] = {"anthropic": "anthropic", "openai": "openai", "google": "google_genai"}
SIGNATURES: Final[Mapping[str, str]] = {"anthropic": "signature", "google": "thoughtSignature"}
ENCRYPTED: Final = "encrypted_content"


def taken(members: Members, namespace: str | None) -> JsonObject | None:
    """The provider metadata of a block, and what is left of the block under LangChain's name."""
    own: JsonObject = {}
    if namespace is not None and namespace in SIGNATURES:
        signature = _from_extras(members, "signature")
        if signature is not None:
            own[SIGNATURES[namespace]] = signature
    elif namespace == "openai":
        for name, key in (("id", "itemId"), (ENCRYPTED, "reasoningEncryptedContent")):
            value = members.text(name)
            if value is not None:
                own[key] = value
    return metadata_of(NAME, members.left, {namespace: own} if namespace and own else None)


def given(metadata: JsonObject | None, namespace: str | None) -> JsonObject:
    """The members that `taken` took."""
    block = dict(noted(metadata, NAME))
    own = noted(metadata, namespace) if namespace else {}
    if namespace is not None and namespace in SIGNATURES:
        signature = own.get(SIGNATURES[namespace])
        if isinstance(signature, str):
            extras = block.get("extras")
            block["extras"] = {**(extras if is_object(extras) else {}), "signature": signature}
    elif namespace == "openai":
        for name, key in (("id", "itemId"), (ENCRYPTED, "reasoningEncryptedContent")):
            if isinstance(own.get(key), str):
                block[name] = own[key]
    return block


def namespace_of(note: JsonObject) -> str | None:
    """The namespace of the provider that a message names."""
    about = note.get("response_metadata")
    provider = about.get("model_provider") if is_object(about) else None
    return NAMESPACES.get(provider) if isinstance(provider, str) else None


def guessed(metadata: Iterable[JsonObject | None]) -> str | None:
    """The first namespace in metadata of parts that LangChain has words for."""
    for one in metadata:
        for namespace in one or ():
            if namespace in PROVIDERS:
                return namespace
    return None


def _from_extras(members: Members, name: str) -> str | None:
    extras = members.left.get("extras")
    if not is_object(extras) or not isinstance(extras.get(name), str):
        return None
    rest = {key: value for key, value in extras.items() if key != name}
    if rest:
        members.left["extras"] = rest
    else:
        del members.left["extras"]
    value: str = extras[name]
    return value
