"""A message of a model as LangChain has it: its pieces, and what it says of itself."""

from collections.abc import Mapping
from typing import Any, Final

from langchain_core.messages import AIMessage, AIMessageChunk

from partita.formats.langchain.parts import USAGE
from partita.runtime.plugged.jsonable import as_json
from partita.types.chunks import MessageFinish
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, dumps, is_object

REASONS: Final[Mapping[str, str]] = {
    "end_turn": "stop",
    "tool_use": "tool-calls",
    "tool_calls": "tool-calls",
    "max_tokens": "length",
}
"""Finish reasons of ours by those of providers that LangChain passes on; the others are the same."""


def blocks_of(piece: AIMessageChunk) -> list[JsonObject]:
    """What a piece says, in the words that LangChain has for all providers."""
    found: Any = piece.content_blocks
    blocks: list[JsonObject] = [block for block in found if is_object(block)]
    thoughts: Json = piece.additional_kwargs.get("reasoning_content")
    if isinstance(thoughts, str) and not any(block.get("type") == "reasoning" for block in blocks):
        blocks.insert(0, {"type": "reasoning", "reasoning": thoughts})
    return blocks


def piece_of(message: AIMessage) -> AIMessageChunk:
    """A message that came whole, as its only piece."""
    calls: list[Any] = [
        {
            "type": "tool_call_chunk",
            "name": call["name"],
            "args": dumps(as_json(call["args"])).decode(),
            "id": call["id"],
            "index": place,
        }
        for place, call in enumerate(message.tool_calls)
    ]
    content: Any = message.content
    return AIMessageChunk(
        content=content,
        additional_kwargs=message.additional_kwargs,
        response_metadata=message.response_metadata,
        usage_metadata=message.usage_metadata,
        tool_call_chunks=calls,
        id=message.id,
    )


def told(message: AIMessage, has_calls: bool) -> MessageFinish:
    """The end of an answer, and what it says of itself."""
    said: JsonObject = message.response_metadata
    theirs: Json = said.get("finish_reason") or said.get("stop_reason")
    known = REASONS.get(theirs, theirs) if isinstance(theirs, str) else None
    reason = known or ("tool-calls" if has_calls else "stop")
    end: JsonObject = {"finishReason": reason}
    model: Json = said.get("model_name") or said.get("model")
    if isinstance(model, str):
        end["model"] = model
    counts: Json = as_json(message.usage_metadata)
    usage = USAGE.read(counts) if is_object(counts) else None
    return MessageFinish(reason, end if usage is None else {**end, "usage": to_json(usage)})
