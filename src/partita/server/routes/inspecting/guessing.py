"""What a pasted text may be: messages, a stream, the log of an agent, or the answer of a provider."""

from collections.abc import Callable
from typing import Final

from partita.formats.sniff import LOOKED_AT, Guess, Sign, sniff
from partita.logs.places.detection import detect
from partita.types.json import JsonObject, is_array, is_object

from .source import Source

ANTHROPIC_EVENTS: Final = frozenset(
    {
        "message_start",
        "message_delta",
        "message_stop",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
    }
)


def _begins(member: str, start: str) -> Callable[[JsonObject], bool]:
    return lambda item: isinstance(item.get(member), str) and item[member].startswith(start)


def _is_anthropic_event(item: JsonObject) -> bool:
    return item.get("type") in ANTHROPIC_EVENTS


def _is_anthropic_message(item: JsonObject) -> bool:
    return item.get("type") == "message" and "stop_reason" in item


def _is_response(item: JsonObject) -> bool:
    return bool(item.get("object") == "response")


def _has_candidates(item: JsonObject) -> bool:
    return is_array(item.get("candidates"))


def _is_acp(item: JsonObject) -> bool:
    return item.get("jsonrpc") == "2.0" and _begins("method", "session/")(item)


PROVIDERS: Final = (
    Sign("anthropic", 0.95, "events of a message", _is_anthropic_event),
    Sign("anthropic", 0.96, "a message with a reason to stop", _is_anthropic_message),
    Sign("openai-chat", 0.96, "a chat completion, or a piece of one", _begins("object", "chat.completion")),
    Sign("openai-responses", 0.95, "events of a response", _begins("type", "response.")),
    Sign("openai-responses", 0.96, "a response", _is_response),
    Sign("gemini", 0.94, "candidates", _has_candidates),
    Sign("acp", 0.85, "calls of the Agent Client Protocol", _is_acp),
)
"""What gives the answers of providers away. Elsewhere they are named: who asked knows whom."""

V4: Final = Guess("ai-sdk-data-stream-v4", 0.95, "lines that begin with a code")


def guess(source: Source) -> list[Guess]:
    """The formats that a text may be in, the likeliest first."""
    if source.shape == "data-stream-v4":
        return [V4]
    values = source.values[:LOOKED_AT]
    found = [*sniff(values), *_of_providers(values)]
    log = detect(values)
    if log is not None:
        found.append(Guess(log.format, log.confidence, log.why))
    best: dict[str, Guess] = {}
    for one in sorted(found, key=lambda one: -one.confidence):
        best.setdefault(one.format, one)
    return list(best.values())


def _of_providers(values: list[JsonObject]) -> list[Guess]:
    objects = [value for value in values if is_object(value)]
    return [
        Guess(sign.format, sign.confidence, sign.why)
        for sign in PROVIDERS
        if any(sign.shows(value) for value in objects)
    ]
