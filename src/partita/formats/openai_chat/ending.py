"""Why an answer ended, and what went wrong, in the words of many servers."""

from collections.abc import Mapping
from typing import Final

from partita.errors import DecodeError
from partita.types.json import Json, JsonObject, dumps, is_array, is_object

from .looking import word

FINISHES: Final[Mapping[str, str]] = {
    "stop": "stop",
    "eos": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_calls": "tool-calls",
    "function_call": "tool-calls",
    "tool_use": "tool-calls",
    "length": "length",
    "model_length": "length",
    "max_tokens": "length",
    "content_filter": "content-filter",
    "error": "error",
    "insufficient_system_resource": "error",
}
"""Finish reasons; any other is `other`. Some servers pass on the words of the model's own API."""

FAILURES: Final = ("error", "message")
"""Where a record without an answer says what failed: nearly all servers, and gateways."""

WORDS: Final = ("message", "msg", "detail", "error", "code")
"""Where a failure has its words."""


def finish_reason(raw: str | None, *, has_calls: bool, has_refused: bool) -> str:
    """Why the answer ended, in our words. Both a refusal and a call forced by name end with `stop`."""
    reason = FINISHES.get((raw or "").lower(), "other")
    if reason == "stop" and has_refused:
        return "content-filter"
    return "tool-calls" if reason == "stop" and has_calls else reason


def failures_in(record: JsonObject) -> list[Json]:
    """What a record says went wrong; beside an answer, only an `error` counts."""
    if record.get("object") == "error":
        return [record]
    keys = FAILURES[:1] if "choices" in record else FAILURES
    return [record[key] for key in keys if record.get(key) and (key != "message" or word(record, key))]


def failure_text(failure: Json) -> str:
    """What went wrong, in words."""
    return "; ".join(_words(item) for item in (failure if is_array(failure) else [failure]))


def _words(failure: Json) -> str:
    found = [failure.get(key) for key in WORDS] if is_object(failure) else [failure]
    said = next((words for words in found if isinstance(words, str) and words), None)
    return _shown(failure) if said is None else said


def _shown(value: Json) -> str:
    try:
        return dumps(value).decode()
    except DecodeError:
        return "an error that is nested too deeply to show"
