"""What gives the messages of OpenTelemetry's GenAI conventions away."""

from typing import Final

from partita.types.json import JsonObject, is_array

from .sign import Sign, begins, has_role, inner, is_text, parts

OTEL: Final = "otel-genai"


def _has_attributes(value: JsonObject) -> bool:
    return any(name.startswith("gen_ai.") for name in value)


def _is_span(value: JsonObject) -> bool:
    return _has_attributes(inner(value, "attributes"))


def _is_event(value: JsonObject) -> bool:
    return any(begins(value, name, "gen_ai.") for name in ("name", "event.name", "event_name", "eventName"))


def _is_part(part: JsonObject) -> bool:
    match part.get("type"):
        case "text" | "reasoning":
            return "content" in part and "text" not in part
        case "tool_call":
            return is_text(part, "name")
        case "tool_call_response":
            return "response" in part or "result" in part
        case "server_tool_call":
            return "server_tool_call" in part
        case "server_tool_call_response":
            return "server_tool_call_response" in part
        case "blob" | "uri" | "file":
            return is_text(part, "modality")
        case _:
            return False


def _is_message(value: JsonObject) -> bool:
    return has_role(value) and is_array(value.get("parts")) and any(map(_is_part, parts(value)))


SIGNS: Final = (
    Sign(OTEL, 0.97, "attributes that begin with gen_ai", _has_attributes),
    Sign(OTEL, 0.97, "a span with such attributes", _is_span),
    Sign(OTEL, 0.97, "events that are named so", _is_event),
    Sign(OTEL, 0.92, "parts as the conventions write them", _is_message),
)
