"""What gives the messages of LangChain away."""

from typing import Final

from partita.types.json import JsonObject, is_array, is_object

from .sign import Sign, alone_or_held, among, has_member, inner

LANGCHAIN: Final = "langchain"

TYPES: Final = frozenset({"human", "ai", "system", "tool", "chat", "function", "remove", "developer"})
CHUNKS: Final = frozenset(
    {
        "AIMessageChunk",
        "HumanMessageChunk",
        "SystemMessageChunk",
        "ToolMessageChunk",
        "ChatMessageChunk",
        "FunctionMessageChunk",
    }
)
_OF_LOGS: Final = frozenset({"role", "uuid", "sessionId", "session_id", "timestamp", "runId"})
_OWN: Final = has_member("additional_kwargs", "response_metadata", "usage_metadata", "invalid_tool_calls")


def _is_constructor(value: JsonObject) -> bool:
    return value.get("lc") == 1 and is_array(value.get("id")) and is_object(value.get("kwargs"))


def _is_typed(value: JsonObject) -> bool:
    return among(value, "type", TYPES) or among(value, "type", CHUNKS)


def _is_dict(value: JsonObject) -> bool:
    data = inner(value, "data")
    return _is_typed(value) and ("content" in data or _OWN(data))


def _is_dump(value: JsonObject) -> bool:
    return _is_typed(value) and "content" in value and _OWN(value)


def _is_chunk(value: JsonObject) -> bool:
    return among(value, "type", CHUNKS) and "content" in value


def _is_plain(value: JsonObject) -> bool:
    spoken = among(value, "type", TYPES) and isinstance(value.get("content"), (str, list))
    return spoken and _OF_LOGS.isdisjoint(value)


SIGNS: Final = (
    Sign(LANGCHAIN, 0.97, "objects that say how they are made", alone_or_held(_is_constructor)),
    Sign(LANGCHAIN, 0.97, "a type, and the rest in data", alone_or_held(_is_dict)),
    Sign(LANGCHAIN, 0.96, "members of LangChain's messages", alone_or_held(_is_dump)),
    Sign(LANGCHAIN, 0.96, "chunks of messages", alone_or_held(_is_chunk)),
    Sign(LANGCHAIN, 0.8, "a type that says who speaks, and a content", alone_or_held(_is_plain)),
)
