"""Chat Completions: URLs, log probabilities and opaque values of the canonical message."""

from collections.abc import Iterator
from typing import Any

from partita.formats.openai_chat.stream import ChatDecoder
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import AssistantMessage, ToolCallPart
from partita.types.parts import FilePart, JsonOutput, ReasoningPart, SourceUrlPart, TextPart
from tests.provider_truth.reading import call_of, input_of


def decoder(family: str) -> ChatDecoder:
    """Return a new decoder; both families are read alike."""
    return ChatDecoder()


def special(message: AssistantMessage) -> JsonObject:
    """Return the fields that are specific to this family."""
    parts, rest = message.content.parts, rest_of(message)
    calls = [part for part in parts if isinstance(part, ToolCallPart)]
    return {
        "cited_urls": [part.url for part in parts if isinstance(part, SourceUrlPart)],
        "result_urls": [*result_urls(calls), *urls(rest.get("search_results"))],
        "logprobs": logprobs(message),
        "opaque": opaque(message),
        "tool_calls": [{**call_of(call), "id": id_of(call)} for call in calls if not call.provider_executed],
        "server_tools": [
            {
                "id": space_of(call.call_provider_metadata).get("index"),
                "name": call.name,
                "input": input_of(call),
            }
            for call in calls
            if call.provider_executed
        ],
        "files": files(message),
    }


def id_of(call: ToolCallPart) -> Json:
    """Return the id that the server sent, even if it was replaced."""
    return space_of(call.call_provider_metadata).get("id", call.id)


def files(message: AssistantMessage) -> list[str]:
    """Return the media types. The truth counts the empty `audio` of servers that fill unused members."""
    made = [part.media_type for part in message.content.parts if isinstance(part, FilePart)]
    return made + (["audio"] if "audio" in rest_of(message) else [])


def logprobs(message: AssistantMessage) -> int:
    """Return the number of entries of the texts or of the response."""
    of_texts = [
        len(space_of(part.provider_metadata).get("logprobs", ()))
        for part in message.content.parts
        if isinstance(part, TextPart)
    ]
    loose: Any = rest_of(message).get("logprobs", {})
    return sum(of_texts) + sum(len(entries) for entries in loose.values() if is_array(entries))


def opaque(message: AssistantMessage) -> JsonObject:
    """Return signatures and encrypted reasoning."""
    spaces = [
        space_of(part.provider_metadata) for part in message.content.parts if isinstance(part, ReasoningPart)
    ]
    details = [detail for space in spaces for detail in space.get("reasoning_details", ())]
    signed = [holder for holder in (*spaces, *details) if holder.get("signature")]
    encrypted = [detail for detail in details if detail.get("type") == "reasoning.encrypted"]
    return {"signatures": len(signed), "redacted": 0, "encrypted": len(encrypted)}


def result_urls(calls: list[ToolCallPart]) -> Iterator[str]:
    """Return the pages found by server tools."""
    for call in calls:
        if isinstance(call.output, JsonOutput):
            found = to_json(call.output.value).get("search_results")
            yield from urls(found.get("results") if is_object(found) else None)


def urls(results: Json) -> list[str]:
    """Return the URLs of results that have one."""
    return [result["url"] for result in results or () if is_object(result) and result.get("url")]


def rest_of(message: AssistantMessage) -> JsonObject:
    """Return the other metadata of the response."""
    return space_of(message.content.metadata if is_object(message.content.metadata) else None)


def space_of(metadata: JsonObject | None) -> JsonObject:
    """Return our namespace in metadata."""
    space: Any = (metadata or {}).get("openai")
    return space if is_object(space) else {}
