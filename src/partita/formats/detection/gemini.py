"""What gives requests, contents, answers and streams of Google's generateContent away."""

from typing import Final

from partita.types.json import JsonObject, is_array, is_object

from .sign import Sign, has_member, has_role, held, inner, is_text, parts

GEMINI: Final = "gemini"

_ANSWER: Final = has_member("usageMetadata", "usage_metadata", "modelVersion", "model_version", "responseId")
_OWN: Final = frozenset(
    {
        "functionCall",
        "function_call",
        "functionResponse",
        "function_response",
        "inlineData",
        "inline_data",
        "fileData",
        "file_data",
        "executableCode",
        "executable_code",
        "codeExecutionResult",
        "code_execution_result",
        "thoughtSignature",
        "thought_signature",
        "thought",
        "videoMetadata",
        "toolCall",
        "toolResponse",
    }
)


def _has_candidates(value: JsonObject) -> bool:
    return is_array(value.get("candidates"))


def _is_blocked(value: JsonObject) -> bool:
    return is_object(value.get("promptFeedback")) or is_object(value.get("prompt_feedback"))


def _is_last(value: JsonObject) -> bool:
    return _ANSWER(value) and "role" not in value and "type" not in value


def _is_error(value: JsonObject) -> bool:
    error = inner(value, "error")
    return is_text(error, "status", "message") and isinstance(error.get("code"), int)


def _is_content(value: JsonObject) -> bool:
    """Parts without a type, in a role of Google's or in none."""
    if (
        "kind" in value
        or "messageId" in value
        or value.get("role") not in (None, "user", "model", "function")
    ):
        return False
    found = list(parts(value))
    return bool(found) and all("type" not in part and "kind" not in part for part in found)


def _has_own_part(value: JsonObject) -> bool:
    return _is_content(value) and any(not _OWN.isdisjoint(part) for part in parts(value))


def _has_texts(value: JsonObject) -> bool:
    return _is_content(value) and has_role(value) and any("text" in part for part in parts(value))


def _is_model(value: JsonObject) -> bool:
    return value.get("role") == "model" and is_array(value.get("parts"))


def _asks(body: JsonObject) -> bool:
    """Contents; a whole content may be left out for one, or words alone."""
    return is_array(body.get("contents")) and held("contents", lambda one: "parts" in one)(body)


def _asks_one(body: JsonObject) -> bool:
    return "parts" in inner(body, "contents")


def _asks_nothing_yet(body: JsonObject) -> bool:
    return is_array(body.get("contents")) and not body["contents"] and "systemInstruction" in body


SIGNS: Final = (
    Sign(GEMINI, 0.94, "candidates", _has_candidates),
    Sign(GEMINI, 0.93, "feedback on the prompt", _is_blocked),
    Sign(GEMINI, 0.85, "members that answers of Google's have", _is_last),
    Sign(GEMINI, 0.85, "an error with a status, as Google tells it", _is_error),
    Sign(GEMINI, 0.95, "contents with parts", _asks),
    Sign(GEMINI, 0.9, "one content with parts", _asks_one),
    Sign(GEMINI, 0.8, "instructions and no contents", _asks_nothing_yet),
    Sign(GEMINI, 0.95, "parts that Google has, without a type", _has_own_part),
    Sign(GEMINI, 0.9, "the role model", _is_model),
    Sign(GEMINI, 0.8, "parts without a type", _has_texts),
)
