"""What gives results, contents and messages of the Model Context Protocol away."""

from typing import Final

from partita.types.json import JsonObject, is_array, is_object

from .sign import Sign, alone_or_held, has_role, inner, is_text, items, objects

MCP: Final = "mcp"


def _is_own_block(block: JsonObject) -> bool:
    """A block that nobody else writes so."""
    match block.get("type"):
        case "image" | "audio":
            return is_text(block, "data", "mimeType")
        case "resource_link":
            return is_text(block, "uri")
        case "resource":
            return is_text(inner(block, "resource"), "uri")
        case "tool_result":
            return is_text(block, "toolUseId")
        case "text":
            return "_meta" in block or is_object(block.get("annotations"))
        case _:
            return False


def _is_block(block: JsonObject) -> bool:
    return "role" not in block and _is_own_block(block)


def _is_bare_text(block: JsonObject) -> bool:
    return {"type", "text"} == block.keys() and block["type"] == "text"


def _is_result(value: JsonObject) -> bool:
    return (
        is_array(value.get("content"))
        and "role" not in value
        and ("isError" in value or "structuredContent" in value)
    )


def _is_list_result(value: JsonObject) -> bool:
    return {"content"} == value.keys() and any(map(_is_any_block, objects(value["content"])))


def _is_any_block(block: JsonObject) -> bool:
    return _is_own_block(block) or _is_bare_text(block)


def _is_reply(value: JsonObject) -> bool:
    return value.get("jsonrpc") == "2.0" and _is_result(inner(value, "result"))


def _is_message(message: JsonObject) -> bool:
    """A message with one block that is no list."""
    block = inner(message, "content")
    return (
        has_role(message) and is_text(block, "type") and "timestamp" not in message and "parts" not in block
    )


def _has_own_blocks(message: JsonObject) -> bool:
    return has_role(message) and any(map(_is_own_block, items(message)))


def _is_sampled(message: JsonObject) -> bool:
    return has_role(message) and is_text(message, "stopReason", "model") and "content" in message


SIGNS: Final = (
    Sign(MCP, 0.95, "a result with isError or structuredContent", _is_result),
    Sign(MCP, 0.95, "an answer with the result of a tool", _is_reply),
    Sign(MCP, 0.6, "nothing but a content of blocks", _is_list_result),
    Sign(MCP, 0.95, "blocks of the Model Context Protocol", _is_block),
    Sign(MCP, 0.5, "bare texts", _is_bare_text),
    Sign(MCP, 0.95, "messages with such blocks", alone_or_held(_has_own_blocks)),
    Sign(MCP, 0.88, "messages with one block each", alone_or_held(_is_message)),
    Sign(MCP, 0.93, "a sampled message", _is_sampled),
)
