"""Anthropic responses: URLs and opaque values of the canonical message."""

from collections.abc import Iterator

from partita.formats.anthropic.stream import AnthropicDecoder
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import AssistantMessage, ToolCallPart
from partita.types.parts import CustomPart, JsonOutput, ReasoningPart, TextPart, UrlCitationSource


def decoder(family: str) -> AnthropicDecoder:
    return AnthropicDecoder()


def special(message: AssistantMessage) -> JsonObject:
    thoughts = [
        (part.provider_metadata or {}).get("anthropic", {})
        for part in message.parts
        if isinstance(part, ReasoningPart)
    ]
    return {
        "cited_urls": list(dict.fromkeys(cited_urls(message))),
        "result_urls": list(dict.fromkeys(result_urls(message))),
        "logprobs": 0,
        "opaque": {
            "signatures": sum("signature" in own for own in thoughts),
            "redacted": sum("redactedData" in own for own in thoughts),
            "encrypted": 0,
        },
    }


def cited_urls(message: AssistantMessage) -> Iterator[str]:
    for part in message.parts:
        for citation in (part.citations or ()) if isinstance(part, TextPart) else ():
            if isinstance(citation.source, UrlCitationSource):
                yield citation.source.url


def result_urls(message: AssistantMessage) -> Iterator[str]:
    for part in message.parts:
        match part:
            case ToolCallPart(provider_executed=True, output=JsonOutput(value=value)):
                yield from urls_of(value)
            case CustomPart(provider_metadata={"anthropic": {"content": content}}):
                yield from urls_of(content)
            case _:
                pass


def urls_of(value: Json) -> Iterator[str]:
    items: list[Json] = value if is_array(value) else [value]
    for item in items:
        if is_object(item) and item.get("type") in ("web_search_result", "web_fetch_result"):
            yield item["url"]
