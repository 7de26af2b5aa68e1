"""`result` messages: how the turn ended, what it cost, and what was left open."""

from collections.abc import Mapping
from typing import Final

from partita.formats.claude_code.blocks import rest_of
from partita.formats.claude_code.wire import CLAUDE_CODE
from partita.types.chunks import ErrorChunk, MessageAbort, MessageFinish
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.usage import Usage

from .looking import strings
from .turn import Turn

STOPS: Final[Mapping[str, str]] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "tool_use": "tool-calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content-filter",
}
"""Finish reasons by the model's stop reason; any other is `other`."""

RENAMED: Final[Mapping[str, str]] = {
    "session_id": "sessionId",
    "subtype": "subtype",
    "stop_reason": "stopReason",
    "terminal_reason": "terminalReason",
    "total_cost_usd": "totalCostUsd",
    "modelUsage": "modelUsage",
    "num_turns": "numTurns",
    "duration_ms": "durationMs",
    "duration_api_ms": "durationApiMs",
    "permission_denials": "permissionDenials",
    "structured_output": "structuredOutput",
    "deferred_tool_use": "deferredToolUse",
    "errors": "errors",
}
"""What a result says, and what it is called in the metadata of the message."""

LEFT_OUT: Final = ("type", "uuid", "usage", "is_error", "result")


def take_result(turn: Turn, event: JsonObject) -> None:
    """Take a `result`: close what is open, say what went wrong, and end the message."""
    if not turn.is_new(event):
        return
    aborted = _is_aborted(turn, event)
    turn.is_interrupted |= aborted
    for denial in event["permission_denials"] if is_array(event.get("permission_denials")) else ():
        if is_object(denial) and isinstance(denial.get("tool_use_id"), str):
            turn.deny(denial["tool_use_id"], "permission")
    deferred = event.get("deferred_tool_use")
    turn.give_up(spared=deferred.get("id") if is_object(deferred) else None)
    _say_result(turn, event)
    if aborted:
        reason = event.get("terminal_reason")
        turn.outlet.emit(MessageAbort(reason if isinstance(reason, str) else "interrupted"))
    for error in () if aborted else _errors(event):
        turn.outlet.emit(ErrorChunk(error))
    ended = "other" if aborted else finish_reason(event, _last_stop(turn))
    turn.outlet.end(MessageFinish(ended, _metadata(turn, event)))
    turn.has_result, turn.is_interrupted = True, False


def finish_reason(event: JsonObject, last_stop: Json = None) -> str:
    """Why the message ended, in our words. Without a reason of its own, that of the last answer counts."""
    stop = last_stop if event.get("stop_reason") is None else event["stop_reason"]
    if event.get("subtype") == "error_max_turns":
        return "length"
    if is_error(event):
        return "error"
    if stop is None:
        return "stop"
    return STOPS.get(stop, "other") if isinstance(stop, str) else "other"


def is_error(event: JsonObject) -> bool:
    """Whether a result says that the turn failed. A failure of the API comes as a success with that mark."""
    subtype = event.get("subtype")
    return event.get("is_error") is True or (isinstance(subtype, str) and subtype.startswith("error"))


def usage_of(raw: JsonObject) -> Usage:
    """What a turn consumed. The provider counts fresh, cached and cache-written input apart."""
    fresh, output = _count(raw, "input_tokens"), _count(raw, "output_tokens")
    cached, written = _count(raw, "cache_read_input_tokens"), _count(raw, "cache_creation_input_tokens")
    inputs = [count for count in (fresh, cached, written) if count is not None]
    total = sum(inputs) if inputs else None
    details = raw.get("output_tokens_details")
    return Usage(
        total,
        output,
        None if total is None or output is None else total + output,
        _count(details, "thinking_tokens") if is_object(details) else None,
        cached,
        written,
    )


def _count(raw: JsonObject, key: str) -> int | None:
    value = raw.get(key)
    return value if isinstance(value, int) else None


def _metadata(turn: Turn, event: JsonObject) -> JsonObject:
    told: JsonObject = {name: event[key] for key, name in RENAMED.items() if event.get(key) is not None}
    told |= {key: value for key, value in rest_of(event, *RENAMED, *LEFT_OUT).items() if value is not None}
    if event.get("result", "") not in ("", turn.main.last_words):
        told["result"] = event["result"]
    metadata: JsonObject = {CLAUDE_CODE: told}
    if is_object(event.get("usage")):
        metadata["usage"] = {**to_json(usage_of(event["usage"])), "raw": event["usage"]}
    return metadata


def _last_stop(turn: Turn) -> Json:
    last = None if turn.has_result else turn.main.earlier
    return None if last is None else last.facts.get("stopReason")


def _errors(event: JsonObject) -> list[str]:
    """What went wrong, in the words of the result."""
    if not is_error(event):
        return []
    words = [error for error in strings(event.get("errors")) if error]
    if words:
        return words
    candidates: tuple[Json, ...] = (event.get("result"), event.get("terminal_reason"), event.get("subtype"))
    return [next((word for word in candidates if isinstance(word, str) and word), "unknown error")]


def _is_aborted(turn: Turn, event: JsonObject) -> bool:
    """Whether someone stopped the turn. Versions that give no reason end it as an error of execution."""
    reason = event.get("terminal_reason")
    if isinstance(reason, str):
        return reason.startswith("aborted")
    return turn.is_interrupted and event.get("subtype") == "error_during_execution"


def _say_result(turn: Turn, event: JsonObject) -> None:
    """A command that no model answered has its words in the result alone."""
    words = event.get("result")
    if turn.main.has_spoken or event.get("is_error") is True or not isinstance(words, str) or not words:
        return
    speaker = turn.main
    speaker.answer(None, streamed=False)
    passage = speaker.open("text")
    speaker.end(speaker.say(passage, words))
    speaker.end_step()
