"""What gives requests, messages, answers and streams of Chat Completions away."""

from typing import Final

from partita.types.json import JsonObject, is_array, is_object

from .sign import (
    Sign,
    alone_or_held,
    among,
    any_item,
    begins,
    has_member,
    has_role,
    held,
    inner,
    is_model,
    is_text,
    objects,
)

CHAT: Final = "openai-chat"

# Answers


def _is_completion(value: JsonObject) -> bool:
    return begins(value, "object", "chat.completion")


def _has_choices(value: JsonObject) -> bool:
    """An answer of a server that does not say what it is."""
    return any("delta" in one or "message" in one for one in objects(value.get("choices")))


def _is_error(value: JsonObject) -> bool:
    error = inner(value, "error")
    return is_text(error, "message") and "type" not in value and not is_text(error, "status")


def _is_error_in_words(value: JsonObject) -> bool:
    return is_text(value, "error") and "type" not in value


# Messages

_ITEM_TYPES: Final = frozenset({"image_url", "input_audio", "refusal", "video_url"})


def _is_chat_item(item: JsonObject) -> bool:
    if item.get("type") == "file":
        return bool({"file_id", "file_data", "filename"} & inner(item, "file").keys())
    return among(item, "type", _ITEM_TYPES) and "role" not in item


def _has_calls(message: JsonObject) -> bool:
    calls = objects(message.get("tool_calls"))
    return has_role(message) and any(
        is_object(one.get("function")) or is_object(one.get("custom")) for one in calls
    )


def _answers_a_call(message: JsonObject) -> bool:
    return message.get("role") == "tool" and is_text(message, "tool_call_id")


def _has_chat_members(message: JsonObject) -> bool:
    members = {"reasoning_content", "reasoning_details", "refusal", "function_call", "tool_calls"}
    return message.get("role") == "assistant" and "content" in message and bool(members & message.keys())


def _has_chat_role(message: JsonObject) -> bool:
    return message.get("role") in ("developer", "function") and "content" in message and "type" not in message


# Requests

_SETTINGS: Final = has_member(
    "response_format",
    "stream_options",
    "max_completion_tokens",
    "frequency_penalty",
    "presence_penalty",
    "logit_bias",
    "logprobs",
    "n",
    "stop",
    "functions",
    "function_call",
    "reasoning_effort",
    "web_search_options",
    "seed",
    "parallel_tool_calls",
)


def _is_function(tool: JsonObject) -> bool:
    return tool.get("type") == "function" and is_object(tool.get("function"))


def _asks(body: JsonObject) -> bool:
    return any(map(is_said, objects(body.get("messages"))))


def is_said(message: JsonObject) -> bool:
    """Whether it is a message of some API that has roles and contents, and none of a thread."""
    return is_model(message) and "type" not in message and "toolCalls" not in message


def _asks_with_functions(body: JsonObject) -> bool:
    return _asks(body) and any(map(_is_function, objects(body.get("tools"))))


def _asks_with_settings(body: JsonObject) -> bool:
    return _asks(body) and _SETTINGS(body)


def _asks_a_model(body: JsonObject) -> bool:
    """A request without what Anthropic insists on."""
    return _asks(body) and is_text(body, "model") and "max_tokens" not in body and "system" not in body


def _instructs(body: JsonObject) -> bool:
    return is_text(body, "model") and held("messages", lambda one: one.get("role") == "system")(body)


def _is_bare(body: JsonObject) -> bool:
    return _asks(body) and is_array(body["messages"])


SIGNS: Final = (
    Sign(CHAT, 0.96, "a chat completion, or a piece of one", _is_completion),
    Sign(CHAT, 0.9, "choices", _has_choices),
    Sign(CHAT, 0.35, "an error with a message", _is_error),
    Sign(CHAT, 0.3, "an error in words", _is_error_in_words),
    Sign(CHAT, 0.95, "calls of functions in tool_calls", alone_or_held(_has_calls)),
    Sign(CHAT, 0.95, "an answer to a tool_call_id", alone_or_held(_answers_a_call)),
    Sign(CHAT, 0.92, "items that Chat Completions have", alone_or_held(any_item(_is_chat_item))),
    Sign(CHAT, 0.9, "members that messages of answers have", alone_or_held(_has_chat_members)),
    Sign(CHAT, 0.8, "roles that Chat Completions have", alone_or_held(_has_chat_role)),
    Sign(CHAT, 0.95, "tools of type function", _asks_with_functions),
    Sign(CHAT, 0.94, "settings of Chat Completions", _asks_with_settings),
    Sign(CHAT, 0.75, "a model and system messages", _instructs),
    Sign(CHAT, 0.7, "a model and messages, and no max_tokens", _asks_a_model),
    Sign(CHAT, 0.5, "an object with messages", _is_bare),
    Sign(CHAT, 0.45, "a role and a content", is_said),
)
