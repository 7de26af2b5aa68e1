"""How an answer ended: why, what it consumed, what went wrong, and what else is worth keeping of it."""

from collections.abc import Mapping
from typing import Final

from partita.formats.answers.outlet import INTERRUPTED
from partita.types.json import Json, JsonObject, is_object
from partita.types.usage import Usage

from .answer import Answer
from .fields import NAMESPACE, inner, present, text, whole

CUT_SHORT: Final[Mapping[str, str]] = {"max_output_tokens": "length", "content_filter": "content-filter"}
"""Finish reasons by the reason of an incomplete answer; any other is `other`."""

TOLD: Final = frozenset({"id", "model", "object", "status", "output", "output_text", "usage"})
"""Fields of a response that are told elsewhere."""

ECHOES: Final = frozenset(
    {
        "background",
        "context_management",
        "frequency_penalty",
        "include",
        "instructions",
        "max_output_tokens",
        "max_tool_calls",
        "parallel_tool_calls",
        "presence_penalty",
        "prompt",
        "prompt_cache_key",
        "prompt_cache_options",
        "prompt_cache_retention",
        "reasoning",
        "safety_identifier",
        "store",
        "temperature",
        "text",
        "tool_choice",
        "tools",
        "top_logprobs",
        "top_p",
        "truncation",
        "user",
    }
)
"""Fields of a response that repeat the request."""


def finish(
    answer: Answer, response: JsonObject, beside: JsonObject, *, has_ended: bool, failed: bool
) -> None:
    """End the message of an answer. `beside` is what its last event says besides the response."""
    raw = _raw_reason(response) if has_ended else None
    reason = _reason(answer, response, failed) if has_ended or failed else INTERRUPTED
    usage = response.get("usage")
    more = present(model=text(response, "model"), responseId=text(response, "id"))
    kept = {name: value for name, value in response.items() if name not in TOLD | ECHOES} | beside
    kept = {"serviceTier" if name == "service_tier" else name: kept[name] for name in kept}
    more |= present(**{NAMESPACE: present(**kept)})
    if not has_ended:
        more["complete"] = False
    answer.outlet.finish(reason, raw, usage_of(usage) if is_object(usage) else None, more)


def usage_of(raw: JsonObject) -> Usage:
    """What an answer consumed, cached input and reasoning included."""
    given, made = inner(raw, "input_tokens_details"), inner(raw, "output_tokens_details")
    return Usage(
        whole(raw, "input_tokens"),
        whole(raw, "output_tokens"),
        whole(raw, "total_tokens"),
        whole(made, "reasoning_tokens"),
        whole(given, "cached_tokens"),
        whole(given, "cache_write_tokens"),
        raw,
    )


def _reason(answer: Answer, response: JsonObject, failed: bool) -> str:
    status = text(response, "status")
    if status == "failed" or failed:
        return "error"
    if status == "incomplete":
        return CUT_SHORT.get(text(inner(response, "incomplete_details"), "reason"), "other")
    if status != "completed":
        return "other"
    if answer.is_refusal:
        return "content-filter"
    return "tool-calls" if answer.has_client_calls else "stop"


def _raw_reason(response: JsonObject) -> str | None:
    """The provider's word: the status, and why an answer is incomplete."""
    status: Json = text(response, "status") or None
    why = text(inner(response, "incomplete_details"), "reason")
    return f"{status}:{why}" if status and why else status
