"""What is said of an answer besides its parts → the fields of a response around its output."""

from collections.abc import Mapping
from typing import Final

from partita.formats.openai_responses.fields import NAMESPACE, inner, present, text
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import AssistantMessage

ENDS: Final[Mapping[str, JsonObject]] = {
    "length": {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
    "content-filter": {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}},
    "error": {"status": "failed"},
    "interrupted": {"status": "incomplete"},
}
"""How an answer of another provider ended; any other way is that it is whole."""

STATUSES: Final = frozenset({"completed", "failed", "in_progress", "cancelled", "queued", "incomplete"})


def write_body(message: AssistantMessage) -> JsonObject:
    """What a response says besides its output, as far as the metadata of a message say it."""
    metadata = message.content.metadata
    said: JsonObject = metadata if is_object(metadata) else {}
    ours = inner(said, NAMESPACE)
    kept = {"service_tier" if name == "serviceTier" else name: value for name, value in ours.items()}
    usage = _usage(message, said)
    return {
        "object": "response",
        **present(id=text(said, "responseId"), model=text(said, "model")),
        **_end(said),
        **({} if usage is None else {"usage": usage}),
        **kept,
    }


def _end(said: JsonObject) -> JsonObject:
    raw, _, _ = text(said, "rawFinishReason").partition(":")
    if raw in STATUSES:
        return {"status": raw}
    return ENDS.get(text(said, "finishReason"), {"status": "completed"})


def _usage(message: AssistantMessage, said: JsonObject) -> Json:
    plain = said.get("usage") if message.content.usage is None else to_json(message.content.usage)
    if not is_object(plain):
        return None
    raw = plain.get("raw")
    if is_object(raw) and "input_tokens" in raw:
        return raw
    given, made = plain.get("inputTokens") or 0, plain.get("outputTokens") or 0
    return {
        "input_tokens": given,
        "input_tokens_details": {
            "cached_tokens": plain.get("cachedInputTokens") or 0,
            "cache_write_tokens": plain.get("cacheWriteTokens") or 0,
        },
        "output_tokens": made,
        "output_tokens_details": {"reasoning_tokens": plain.get("reasoningTokens") or 0},
        "total_tokens": plain.get("totalTokens") or given + made,
    }
