"""What gives requests, messages, responses and streams of Cohere's chat API away."""

from typing import Final

from partita.types.json import JsonObject, is_array, is_object

from .sign import Sign, alone_or_held, among, any_item, begins, has_member, inner, is_text

COHERE: Final = "cohere"

EVENTS: Final = frozenset(
    {
        "message-start",
        "content-start",
        "content-delta",
        "content-end",
        "tool-plan-delta",
        "tool-call-start",
        "tool-call-delta",
        "tool-call-end",
        "citation-start",
        "citation-end",
        "message-end",
    }
)


def _is_event(value: JsonObject) -> bool:
    return among(value, "type", EVENTS) and (is_object(value.get("delta")) or "index" in value)


def _is_response(value: JsonObject) -> bool:
    return is_text(value, "finish_reason") and inner(value, "message").get("role") == "assistant"


def _has_plan(message: JsonObject) -> bool:
    return message.get("role") == "assistant" and is_text(message, "tool_plan")


def _has_citations(message: JsonObject) -> bool:
    cited = message.get("citations")
    return message.get("role") == "assistant" and is_array(cited) and "content" in message


def _is_document(block: JsonObject) -> bool:
    return block.get("type") == "document" and "data" in inner(block, "document")


def _has_documents(message: JsonObject) -> bool:
    return message.get("role") == "tool" and any_item(_is_document)(message)


_SETTINGS: Final = has_member("citation_options", "strict_tools", "safety_mode", "documents")


def _has_settings(body: JsonObject) -> bool:
    return is_array(body.get("messages")) and _SETTINGS(body)


def _asks_cohere(body: JsonObject) -> bool:
    return is_array(body.get("messages")) and begins(body, "model", "command-", "c4ai-", "north-")


SIGNS: Final = (
    Sign(COHERE, 0.96, "events of Cohere's chat", _is_event),
    Sign(COHERE, 0.96, "a message with a finish reason of Cohere", _is_response),
    Sign(COHERE, 0.95, "a tool plan", alone_or_held(_has_plan)),
    Sign(COHERE, 0.8, "citations of a message", alone_or_held(_has_citations)),
    Sign(COHERE, 0.95, "documents in results", alone_or_held(_has_documents)),
    Sign(COHERE, 0.9, "settings of Cohere", _has_settings),
    Sign(COHERE, 0.97, "a model of Cohere", _asks_cohere),
)
