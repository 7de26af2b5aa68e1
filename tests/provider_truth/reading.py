"""Facts about a recorded response of a provider, read from our canonical message.

The module of each family knows where its URLs, log probabilities and opaque values are.
"""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Protocol, cast, runtime_checkable

from msgspec import UNSET

from partita.errors import DecodeError
from partita.formats.format import Decoder
from partita.formats.registry import get_format
from partita.stream.accumulator import Accumulator
from partita.types.chunks import Chunk
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, dumps, is_object, loads
from partita.types.messages import AssistantMessage, ToolCallPart
from partita.types.parts import FilePart, ReasoningFilePart, ReasoningPart, TextPart

FAMILIES: Final[Mapping[str, str]] = {
    "openai-chat": "openai_chat",
    "openai-compatible": "openai_chat",
    "openai-responses": "openai_responses",
    "anthropic": "anthropic",
    "gemini": "gemini",
    "bedrock": "bedrock",
    "cohere": "cohere",
}

BODIES: Final[Mapping[str, str]] = {"bedrock": "bedrock-converse-response", "cohere": "cohere-response"}
"""Families whose bodies are read by a format instead of the decoder of their streams."""


@runtime_checkable
class BodyDecoder(Decoder, Protocol):
    """A decoder that also reads response bodies."""

    def read_body(self, body: Json) -> list[Chunk]: ...


class Family(Protocol):
    """The functions of a family's module."""

    def decoder(self, family: str) -> Decoder:
        """Return a new decoder for that folder."""
        ...

    def special(self, message: AssistantMessage) -> JsonObject:
        """Return `cited_urls`, `result_urls`, `logprobs` and `opaque` of the truth."""
        ...


def family_of(name: str) -> Family:
    return cast("Family", import_module(f"tests.provider_truth.{FAMILIES[name]}"))


def chunks_of(family: str, path: Path) -> tuple[list[Chunk], int]:
    """Return the chunks of a recording, and the number of its events."""
    decoder = family_of(family).decoder(family)
    if path.name.endswith(".response.json"):
        assert isinstance(decoder, BodyDecoder)
        return decoder.read_body(loads(path.read_bytes())), 0
    chunks: list[Chunk] = []
    events = 0
    for line in path.read_bytes().splitlines():
        if line.strip():
            chunks += decoder.feed(_event(line))
            events += 1
    return [*chunks, *decoder.finish()], events


def _event(line: bytes) -> Json:
    """Return an event; a line that is not JSON is returned as text."""
    try:
        return loads(line)
    except DecodeError:
        return line.decode(errors="replace")


def message_of(family: str, path: Path) -> tuple[AssistantMessage, int]:
    """Return the message of a recording, and the number of its events."""
    if family in BODIES and path.name.endswith(".response.json"):
        load = get_format(BODIES[family]).load
        assert load is not None
        (message,) = load(loads(path.read_bytes())).messages
        assert isinstance(message, AssistantMessage)
        return message, 0
    chunks, events = chunks_of(family, path)
    accumulator = Accumulator(id="answer")
    for chunk in chunks:
        accumulator.feed(chunk)
    return accumulator.snapshot(), events


def truth_of(family: str, path: Path) -> JsonObject:
    """Return the fields of `truth.json`, read from the message."""
    message, events = message_of(family, path)
    metadata = message.content.metadata if is_object(message.content.metadata) else {}
    parts = message.content.parts
    calls = [part for part in parts if isinstance(part, ToolCallPart)]
    reasonings = [part.text for part in parts if isinstance(part, ReasoningPart) and part.text]
    texts = [part for part in parts if isinstance(part, TextPart)]
    fields: JsonObject = {
        "text": "".join(part.text for part in texts if not is_refusal(part)),
        "reasoning": "".join(reasonings),
        "reasoning_parts": reasonings,
        "refusal": "".join(part.text for part in texts if is_refusal(part)),
        "tool_calls": [
            call_of(call, is_text=_is_text_input(family, path, call))
            for call in calls
            if not call.provider_executed
        ],
        "server_tools": [
            {"id": call.id, "name": call.name, "input": input_of(call)}
            for call in calls
            if call.provider_executed
        ],
        "finish": {"raw": metadata.get("rawFinishReason"), "unified": metadata.get("finishReason")},
        "usage": usage_of(metadata.get("usage")),
        "files": [part.media_type for part in parts if isinstance(part, FilePart | ReasoningFilePart)],
        "errors": metadata.get("errors", []),
        "complete": metadata.get("complete", True),
        **family_of(family).special(message),
    }
    if events:
        fields["n_events"] = events
    return fields


def is_refusal(part: TextPart) -> bool:
    """Return whether a text is a refusal of the model: its provider metadata have `refusal: true`."""
    spaces: Any = (part.provider_metadata or {}).values()
    return any(is_object(space) and space.get("refusal") is True for space in spaces)


def _is_text_input(family: str, path: Path, call: ToolCallPart) -> bool:
    """Return whether the provider sends the input of a call as text, not as a value."""
    if family == "gemini" or call.name in ("tool_search", "apply_patch", "local_shell"):
        return False
    return family not in ("anthropic", "bedrock") or not path.name.endswith(".response.json")


def call_of(call: ToolCallPart, *, is_text: bool = True) -> JsonObject:
    spaces: Any = (call.call_provider_metadata or {}).values()
    kept = [space["rawInput"] for space in spaces if is_object(space) and "rawInput" in space]
    value = input_of(call)
    raw = kept[0] if kept else value if isinstance(value, str) else dumps(value).decode() if is_text else None
    return {"id": call.id, "name": call.name, "input": value, "raw": raw}


def input_of(call: ToolCallPart) -> Json:
    """Return the input of a call, or the raw input of an interrupted one."""
    value = call.raw_input if call.state in ("input-streaming", "output-error") else call.input
    value = call.input if value is UNSET else value
    return None if value is UNSET else to_json(value)


def usage_of(usage: Json) -> Json:
    if not is_object(usage):
        return None
    return {
        "input": usage.get("inputTokens"),
        "output": usage.get("outputTokens"),
        "cache_read": usage.get("cachedInputTokens"),
        "cache_write": usage.get("cacheWriteTokens"),
        "reasoning": usage.get("reasoningTokens"),
        "total": usage.get("totalTokens"),
        "raw": usage.get("raw"),
        **({"billed": usage["billed"]} if "billed" in usage else {}),
    }
