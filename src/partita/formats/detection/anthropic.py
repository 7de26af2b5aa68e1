"""What gives requests, messages, answers and streams of Anthropic's Messages away."""

from typing import Final

from partita.types.json import Json, JsonObject, is_array, is_object

from .openai_chat import is_said
from .sign import (
    Sign,
    alone_or_held,
    among,
    any_item,
    begins,
    has_member,
    held,
    inner,
    is_text,
    items,
    objects,
)

ANTHROPIC: Final = "anthropic"

EVENTS: Final = frozenset(
    {
        "message_start",
        "message_delta",
        "message_stop",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
    }
)

# Answers


def _is_event(value: JsonObject) -> bool:
    return among(value, "type", EVENTS)


def _is_message(value: JsonObject) -> bool:
    return value.get("type") == "message" and "stop_reason" in value


def _is_typed_message(value: JsonObject) -> bool:
    return value.get("type") == "message" and begins(value, "id", "msg_") and is_array(value.get("content"))


def _is_error(value: JsonObject) -> bool:
    return value.get("type") == "error" and is_text(inner(value, "error"), "type", "message")


def _is_ping(value: JsonObject) -> bool:
    return value == {"type": "ping"}


# Messages

_MEDIA: Final = frozenset({"image", "document"})
_OWN: Final = frozenset({"redacted_thinking", "server_tool_use", "container_upload", "mcp_tool_use"})


def _is_block(block: JsonObject) -> bool:
    match block.get("type"):
        case "tool_use":
            return is_text(block, "id", "name") and "input" in block
        case "tool_result":
            return is_text(block, "tool_use_id")
        case "thinking":
            return is_text(block, "thinking")
        case "search_result":
            return "source" in block and is_array(block.get("content"))
        case str() as type_ if type_ in _MEDIA:
            return is_object(block.get("source"))
        case str() as type_:
            return type_ in _OWN or type_.endswith("_tool_result")
        case _:
            return False


_HAS_CACHE: Final = any_item(has_member("cache_control"))
_HAS_BLOCK: Final = any_item(_is_block)


def _has_only_blocks(message: JsonObject) -> bool:
    """A content of texts alone, in a role that Anthropic has."""
    roles = message.get("role") in ("user", "assistant") and is_said(message)
    return roles and all(item.get("type") == "text" and is_text(item, "text") for item in items(message))


# Requests


def _asks(body: JsonObject) -> bool:
    return any(map(is_said, objects(body.get("messages"))))


def _has_system(body: JsonObject) -> bool:
    system: Json = body.get("system")
    return _asks(body) and isinstance(system, (str, list))


def _asks_with_tools(body: JsonObject) -> bool:
    tools = held("tools", lambda tool: "input_schema" in tool or _is_server_tool(tool))
    return _asks(body) and tools(body)


def _is_server_tool(tool: JsonObject) -> bool:
    type_: Json = tool.get("type")
    return isinstance(type_, str) and is_text(tool, "name") and type_[-8:].isdigit()


_SETTINGS: Final = has_member(
    "anthropic_version",
    "anthropic_beta",
    "stop_sequences",
    "output_config",
    "mcp_servers",
    "container",
    "context_management",
    "betas",
)


def _asks_with_settings(body: JsonObject) -> bool:
    return _asks(body) and _SETTINGS(body)


def _asks_claude(body: JsonObject) -> bool:
    return _asks(body) and begins(body, "model", "claude") and "max_tokens" in body


def _asks_with_limit(body: JsonObject) -> bool:
    return _asks(body) and is_text(body, "model") and "max_tokens" in body


SIGNS: Final = (
    Sign(ANTHROPIC, 0.95, "events of a message", _is_event),
    Sign(ANTHROPIC, 0.96, "a message with a reason to stop", _is_message),
    Sign(ANTHROPIC, 0.85, "a message with an id of Anthropic's", _is_typed_message),
    Sign(ANTHROPIC, 0.9, "an error as Anthropic tells it", _is_error),
    Sign(ANTHROPIC, 0.5, "a ping", _is_ping),
    Sign(ANTHROPIC, 0.93, "blocks that Anthropic has", alone_or_held(_HAS_BLOCK)),
    Sign(ANTHROPIC, 0.75, "blocks with cache_control", alone_or_held(_HAS_CACHE)),
    Sign(ANTHROPIC, 0.9, "a system beside the messages", _has_system),
    Sign(ANTHROPIC, 0.94, "tools as Anthropic describes them", _asks_with_tools),
    Sign(ANTHROPIC, 0.93, "settings of Anthropic's", _asks_with_settings),
    Sign(ANTHROPIC, 0.85, "Claude, asked with max_tokens", _asks_claude),
    Sign(ANTHROPIC, 0.55, "a model, messages and max_tokens", _asks_with_limit),
    Sign(ANTHROPIC, 0.42, "an object with messages", held("messages", _has_only_blocks)),
    Sign(ANTHROPIC, 0.4, "a role and a content", _has_only_blocks),
)
