"""What gives items and answers of OpenAI's Responses away, and sessions of its Agents SDK."""

from typing import Final

from partita.types.json import Json, JsonObject, is_array, is_object

from .sign import Sign, among, begins, has_member, inner, is_text, items, objects

RESPONSES: Final = "openai-responses"
AGENTS: Final = "openai-agents"

ITEM_TYPES: Final = frozenset(
    {
        "function_call",
        "function_call_output",
        "custom_tool_call",
        "custom_tool_call_output",
        "file_search_call",
        "web_search_call",
        "computer_call",
        "computer_call_output",
        "code_interpreter_call",
        "image_generation_call",
        "local_shell_call",
        "local_shell_call_output",
        "shell_call",
        "shell_call_output",
        "apply_patch_call",
        "apply_patch_call_output",
        "mcp_call",
        "mcp_list_tools",
        "mcp_approval_request",
        "mcp_approval_response",
        "tool_search_call",
        "tool_search_output",
        "item_reference",
        "compaction",
    }
)
"""Items that are no messages."""

_IDENTIFIED: Final = frozenset({"id", "call_id", "encrypted_content", "approval_request_id"})
_WORDS: Final = frozenset({"input_text", "input_image", "input_file", "output_text", "summary_text"})

RUN_ITEMS: Final = frozenset({"raw_response_event", "run_item_stream_event", "agent_updated_stream_event"})

# Answers


def _is_event(value: JsonObject) -> bool:
    return begins(value, "type", "response.")


def _is_response(value: JsonObject) -> bool:
    return bool(value.get("object") == "response")


def _is_output(value: JsonObject) -> bool:
    return "role" not in value and any(map(_is_own_item, objects(value.get("output"))))


def _is_error_event(value: JsonObject) -> bool:
    return value.get("type") == "error" and "sequence_number" in value


def _is_error(value: JsonObject) -> bool:
    return is_text(inner(value, "error"), "message") and "type" not in value


# Items


def _is_own_item(item: JsonObject) -> bool:
    if item.get("type") == "reasoning":
        return is_array(item.get("summary"))
    return (
        among(item, "type", ITEM_TYPES)
        and not _IDENTIFIED.isdisjoint(item)
        and {"payload", "parentId"}.isdisjoint(item)
    )


def _is_own_message(item: JsonObject) -> bool:
    is_message = item.get("type", "message") == "message" and "role" in item
    return is_message and any(among(one, "type", _WORDS) for one in items(item))


def _is_typed_message(item: JsonObject) -> bool:
    keys = {"session_id", "sessionId", "timestamp", "stop_reason"}
    return item.get("type") == "message" and is_text(item, "role") and keys.isdisjoint(item)


def _is_easy_message(item: JsonObject) -> bool:
    return {"role", "content"} == item.keys() and is_text(item, "role", "content")


# Requests


def _asks_with_items(body: JsonObject) -> bool:
    held: Json = body.get("input")
    return "role" not in body and any(map(_is_any_item, objects(held)))


def _is_any_item(item: JsonObject) -> bool:
    return _is_own_item(item) or _is_own_message(item) or _is_typed_message(item) or "content" in item


_SETTINGS: Final = has_member(
    "instructions", "tools", "max_output_tokens", "store", "previous_response_id", "stream", "text", "include"
)


def _asks_in_words(body: JsonObject) -> bool:
    return is_text(body, "model", "input") and "role" not in body


def _asks_with_settings(body: JsonObject) -> bool:
    return "input" in body and is_text(body, "model") and _SETTINGS(body)


def _goes_on(body: JsonObject) -> bool:
    return is_text(body, "previous_response_id") and "output" not in body


# The Agents SDK


def _is_run_item(item: JsonObject) -> bool:
    return "raw_item" in item and begins(item, "type", "") and is_object(item["raw_item"])


def _is_run_event(item: JsonObject) -> bool:
    return among(item, "type", RUN_ITEMS)


def _has_fake_id(item: JsonObject) -> bool:
    return item.get("id") == "__fake_id__"


def _hands_off(item: JsonObject) -> bool:
    return item.get("type") == "function_call" and begins(item, "name", "transfer_to_")


SIGNS: Final = (
    Sign(RESPONSES, 0.95, "events of a response", _is_event),
    Sign(RESPONSES, 0.96, "a response", _is_response),
    Sign(RESPONSES, 0.9, "an output of items", _is_output),
    Sign(RESPONSES, 0.9, "an error in a numbered stream", _is_error_event),
    Sign(RESPONSES, 0.3, "an error with a message", _is_error),
    Sign(RESPONSES, 0.9, "items of a response", _is_own_item),
    Sign(RESPONSES, 0.9, "words as items have them", _is_own_message),
    Sign(RESPONSES, 0.7, "messages of type message", _is_typed_message),
    Sign(RESPONSES, 0.35, "a role and a content", _is_easy_message),
    Sign(RESPONSES, 0.93, "items as the input", _asks_with_items),
    Sign(RESPONSES, 0.93, "an input, and settings of Responses", _asks_with_settings),
    Sign(RESPONSES, 0.8, "a model and an input in words", _asks_in_words),
    Sign(RESPONSES, 0.9, "the response that it goes on from", _goes_on),
    Sign(AGENTS, 0.97, "items of a run, with the raw item", _is_run_item),
    Sign(AGENTS, 0.97, "events of a run", _is_run_event),
    Sign(AGENTS, 0.97, "ids that the Agents SDK made up", _has_fake_id),
    Sign(AGENTS, 0.92, "a hand-off to another agent", _hands_off),
    Sign(AGENTS, 0.6, "items, as its sessions hold them too", _is_own_item),
    Sign(AGENTS, 0.6, "words as items have them", _is_own_message),
    Sign(AGENTS, 0.3, "a role and a content", _is_easy_message),
)
