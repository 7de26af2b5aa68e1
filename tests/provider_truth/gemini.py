"""Gemini responses: fields of the truth in the canonical message."""

from collections.abc import Iterator

from partita.formats.gemini.stream import GeminiDecoder
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import AssistantMessage, ToolCallPart
from tests.provider_truth.reading import call_of, input_of, usage_of

FETCHED = "URL_RETRIEVAL_STATUS_SUCCESS"


def decoder(family: str) -> GeminiDecoder:
    """Return a new decoder."""
    return GeminiDecoder()


def special(message: AssistantMessage) -> JsonObject:
    """Return the fields of the truth that are in metadata, and those that have more values here."""
    metadata: Json = message.content.metadata
    about: JsonObject = metadata.get("google", {}) if is_object(metadata) else {}
    signatures = [space for space in spaces(message) if "thoughtSignature" in space]
    return {
        "cited_urls": unique(cited(about)),
        "result_urls": unique(found(about)),
        "logprobs": 0,  # the truth has none for this family, although they are kept: `logprobsResult`
        "opaque": {"signatures": len(signatures), "redacted": 0, "encrypted": 0},
        "tool_calls": [
            {**call_of(call, is_text=False), "id": own_id(call)}
            for call in calls(message)
            if not call.provider_executed
        ],
        "server_tools": [server_tool(call) for call in calls(message) if call.provider_executed],
        "usage": counts(metadata.get("usage") if is_object(metadata) else None),
    }


def calls(message: AssistantMessage) -> list[ToolCallPart]:
    return [part for part in message.parts if isinstance(part, ToolCallPart)]


def spaces(message: AssistantMessage) -> Iterator[JsonObject]:
    """Return our metadata of every part; of a call, also that of its result."""
    for part in message.parts:
        held: list[Json] = [getattr(part, "provider_metadata", None)]
        if isinstance(part, ToolCallPart):
            held += [part.call_provider_metadata, part.result_provider_metadata]
        for metadata in held:
            if is_object(metadata) and is_object(metadata.get("google")):
                yield metadata["google"]


def own_id(call: ToolCallPart) -> str | None:
    """Return the id that the provider sent; older models send none."""
    metadata: Json = (call.call_provider_metadata or {}).get("google")
    return call.id if is_object(metadata) and "callId" in metadata else None


def server_tool(call: ToolCallPart) -> JsonObject:
    return {"id": own_id(call), "name": call.name.removeprefix("server:"), "input": input_of(call)}


def counts(usage: Json) -> Json:
    usage_ = usage_of(usage)
    return {**usage_, "tool_use_prompt": usage.get("toolUsePromptTokens")} if is_object(usage_) else usage_


def chunk_urls(about: JsonObject) -> list[str | None]:
    """Return the URLs of the grounding chunks by index."""
    chunks = about.get("groundingMetadata", {}).get("groundingChunks", [])
    return [next((url for url in map(url_of, chunk.values()) if url), None) for chunk in chunks]


def url_of(place: Json) -> str | None:
    url = (place.get("uri") or place.get("sourceUri")) if is_object(place) else None
    return url if isinstance(url, str) and url.startswith("http") else None


def cited(about: JsonObject) -> Iterator[str | None]:
    urls = chunk_urls(about)
    for support in about.get("groundingMetadata", {}).get("groundingSupports", []):
        yield from (urls[index] for index in support.get("groundingChunkIndices", []))
    for citations in about.get("citationMetadata", {}).values():
        yield from (url_of(citation) for citation in citations if is_array(citations))


def found(about: JsonObject) -> Iterator[str | None]:
    yield from chunk_urls(about)
    for page in about.get("urlContextMetadata", {}).get("urlMetadata", []):
        yield page["retrievedUrl"] if page.get("urlRetrievalStatus") == FETCHED else None


def unique(urls: Iterator[str | None]) -> list[str]:
    return list(dict.fromkeys(url for url in urls if url))
