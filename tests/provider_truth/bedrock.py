"""Bedrock responses: URLs and opaque values of the canonical message."""

from partita.formats.bedrock.stream import BedrockDecoder
from partita.types.json import JsonObject
from partita.types.messages import AssistantMessage
from partita.types.parts import ReasoningPart, TextPart, UrlCitationSource


def decoder(family: str) -> BedrockDecoder:
    return BedrockDecoder()


def special(message: AssistantMessage) -> JsonObject:
    thoughts = [
        (part.provider_metadata or {}).get("bedrock", {})
        for part in message.parts
        if isinstance(part, ReasoningPart)
    ]
    sources = [
        citation.source
        for part in message.parts
        if isinstance(part, TextPart)
        for citation in part.citations or ()
    ]
    return {
        "cited_urls": [source.url for source in sources if isinstance(source, UrlCitationSource)],
        "result_urls": [],
        "logprobs": 0,
        "opaque": {
            "signatures": sum("signature" in own for own in thoughts),
            "redacted": sum("redactedContent" in own for own in thoughts),
            "encrypted": 0,
        },
    }
