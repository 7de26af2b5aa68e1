"""Cohere responses: tool plans, citations and log probabilities of the canonical message."""

from partita.formats.cohere.stream import CohereDecoder
from partita.types.json import JsonObject, is_object
from partita.types.messages import AssistantMessage
from partita.types.parts import ReasoningPart, TextPart


def decoder(family: str) -> CohereDecoder:
    return CohereDecoder()


def own(metadata: JsonObject | None) -> JsonObject:
    """Return our namespace in metadata."""
    space = (metadata or {}).get("cohere")
    return space if is_object(space) else {}


def special(message: AssistantMessage) -> JsonObject:
    thoughts = [part for part in message.parts if isinstance(part, ReasoningPart)]
    plans = [part.text for part in thoughts if own(part.provider_metadata).get("toolPlan")]
    reasoning = [part.text for part in thoughts if not own(part.provider_metadata).get("toolPlan")]
    metadata = message.content.metadata if is_object(message.content.metadata) else {}
    cited = [
        raw
        for part in message.parts
        if isinstance(part, TextPart | ReasoningPart)
        for raw in own(part.provider_metadata).get("citations", ())
    ]
    notes = own(message.content.provider_metadata).get("message", {})
    _, others = notes.get("respelled", {}).get("citations", ("", cited))
    cited = others if len(others) > len(cited) else cited
    return {
        "cited_urls": [],
        "result_urls": [],
        "logprobs": len(own(metadata).get("logprobs", ())),
        "opaque": {"signatures": 0, "redacted": 0, "encrypted": 0},
        "reasoning": "".join(reasoning),
        "reasoning_parts": reasoning,
        "tool_plan": "".join(plans),
        "cited_ids": sorted(source["id"] for raw in cited for source in raw["sources"]),
    }
