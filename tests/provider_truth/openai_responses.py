"""Responses API: URLs, log probabilities and encrypted values of the canonical message."""

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import UNSET

from partita.formats.openai_responses.stream import ResponsesDecoder
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import AssistantMessage, ToolCallPart
from partita.types.parts import CustomPart, ReasoningPart, TextPart, UrlCitationSource
from tests.provider_truth.reading import input_of

NOT_RUN = frozenset({"mcp_approval_request", "program"})
"""Calls for the provider that did not run: they wait for an approval or for nested calls."""


def cited_urls(parts: Iterable[Any]) -> Iterator[str]:
    for part in parts:
        for citation in (part.citations or ()) if isinstance(part, TextPart) else ():
            if isinstance(citation.source, UrlCitationSource):
                yield citation.source.url


def decoder(family: str) -> ResponsesDecoder:
    return ResponsesDecoder()


def special(message: AssistantMessage) -> JsonObject:
    parts = message.content.parts
    texts = [own(part.provider_metadata) for part in parts if isinstance(part, TextPart)]
    calls = [part for part in parts if isinstance(part, ToolCallPart) and part.provider_executed]
    return {
        "cited_urls": unique(cited_urls(parts)),
        "result_urls": unique(url for call in calls for url in found_urls(call)),
        "logprobs": sum(len(text.get("logprobs", [])) for text in texts),
        "opaque": {"signatures": 0, "redacted": 0, "encrypted": len(encrypted_items(message))},
        "server_tools": [
            {"id": call.id, "name": call.name, "input": input_of(call)}
            for call in calls
            if own(call.call_provider_metadata).get("type") not in NOT_RUN
        ],
    }


def own(metadata: JsonObject | None) -> JsonObject:
    """Return the namespace of the provider."""
    space = (metadata or {}).get("openai")
    return space if is_object(space) else {}


def unique(urls: Iterator[str]) -> list[str]:
    return list(dict.fromkeys(urls))


def found_urls(call: ToolCallPart) -> Iterator[str]:
    """Return the URLs that a search found, cited or not."""
    value: Json = getattr(call.output, "value", UNSET)
    output = to_json(value) if value is not UNSET else None
    for name in ("sources", "results"):
        found = output.get(name) if is_object(output) else None
        for source in found if is_array(found) else []:
            if is_object(source) and isinstance(source.get("url"), str):
                yield source["url"]


def encrypted_items(message: AssistantMessage) -> set[Json]:
    """Return the items with content that only the provider can read."""
    items: set[Json] = set()
    for part in message.content.parts:
        if isinstance(part, ReasoningPart | CustomPart):
            space = own(part.provider_metadata)
            if space.get("reasoningEncryptedContent") or space.get("encryptedContent"):
                items.add(space.get("itemId"))
    return items
