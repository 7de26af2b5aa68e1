"""Repairs of UI parts so that `validateUIMessages` of the AI SDK accepts them: missing members are added.

A canonical part may be incomplete: a failure without a text, a call whose input was not recorded, an approval
without a decision. The schema of the AI SDK refuses the whole list of messages for one such part. Added
members are reported here; removed members are found when the payload is read back.

Source: https://github.com/vercel/ai/blob/main/packages/ai/src/ui/validate-ui-messages.ts
"""

from collections.abc import Mapping
from typing import Final

from msgspec import UNSET

from partita.formats.losses import REQUIRED, Loss
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import Part, ToolCallPart
from partita.types.parts import DataPart, SteeringMessagePart, TextPart

FAILED: Final = "Tool call failed."
"""The text of a failure that has none."""

METADATA: Final = ("providerMetadata", "callProviderMetadata", "resultProviderMetadata")
NEEDS_INPUT: Final = frozenset(
    {"input-available", "approval-requested", "approval-responded", "output-available", "output-denied"}
)
OUTPUT_STATES: Final[Mapping[str, str]] = {
    "output-available": "output",
    "output-error": "errorText",
    "output-denied": "",
}
"""The states of calls that have ended, and the member that they require."""

DECISIONS: Final[Mapping[str, bool]] = {
    "output-available": True,
    "output-error": True,
    "output-denied": False,
}
"""The decision that the approval of a call must have, by state."""


def repaired(part: Part, raw: JsonObject, path: str, losses: list[Loss]) -> JsonObject:
    """Return a part as the AI SDK accepts it. `raw`, which was written for `part`, is changed."""
    for name in METADATA:
        if name in raw:
            raw[name] = _records(raw[name])
    match part:
        case ToolCallPart():
            _repair_call(raw, path, losses)
        case TextPart() if "citations" in raw:
            raw["citations"] = [_repaired_citation(one) for one in raw["citations"]]
        case DataPart() if part.data is UNSET:
            _add(raw, "data", None, path, losses)
        case SteeringMessagePart():
            inner = enumerate(zip(part.parts, raw["parts"], strict=True))
            raw["parts"] = [repaired(one, its, f"{path}.parts[{at}]", losses) for at, (one, its) in inner]
        case _:
            pass
    return raw


def _records(metadata: Json) -> Json:
    """Return provider metadata without values that are not objects."""
    if not is_object(metadata) or all(map(is_object, metadata.values())):
        return metadata
    return {name: value for name, value in metadata.items() if is_object(value)}


def _repaired_citation(citation: JsonObject) -> JsonObject:
    source: JsonObject = {**citation["source"], "type": "source"}
    if "providerMetadata" in source:
        source["providerMetadata"] = _records(source["providerMetadata"])
    indexes = {name for name in ("startIndex", "endIndex") if citation.get(name, 0) < 0}
    return {**{name: value for name, value in citation.items() if name not in indexes}, "source": source}


def _repair_call(raw: JsonObject, path: str, losses: list[Loss]) -> None:
    state = raw["state"] = _implied_state(raw)
    if state in NEEDS_INPUT and "input" not in raw:
        _add(raw, "input", {}, path, losses)
    if state == "output-available" and "output" not in raw:
        _add(raw, "output", None, path, losses)
    if state == "output-error" and not isinstance(raw.get("errorText"), str):
        _add(raw, "errorText", FAILED, path, losses)
    if state == "input-streaming" and not isinstance(raw.get("rawInput", ""), str):
        del raw["rawInput"]
    for name in ("output", "errorText"):
        if OUTPUT_STATES.get(state) != name:
            raw.pop(name, None)
    _repair_approval(raw, state, path, losses)


def _implied_state(raw: JsonObject) -> str:
    """The state that the output and the approval of a call imply."""
    state: str = raw["state"]
    approval: Json = raw.get("approval")
    if state not in OUTPUT_STATES and ("output" in raw or "errorText" in raw):
        return "output-available" if "output" in raw else "output-error"
    if state in ("input-available", "approval-requested", "approval-responded") and is_object(approval):
        return "approval-responded" if isinstance(approval.get("approved"), bool) else "approval-requested"
    return "input-available" if state == "approval-responded" and approval is None else state


def _repair_approval(raw: JsonObject, state: str, path: str, losses: list[Loss]) -> None:
    """Add the approval that the state of a call requires, and remove one that it may not have."""
    approval: Json = raw.get("approval")
    if not is_object(approval):
        needed: Mapping[str, JsonObject] = {
            "approval-requested": {"id": raw["toolCallId"]},
            "output-denied": {"id": raw["toolCallId"], "approved": False},
        }
        if state in needed:
            _add(raw, "approval", needed[state], path, losses)
        return
    decision, approved = DECISIONS.get(state), approval.get("approved")
    if state == "input-streaming" or (decision and approved is False):
        del raw["approval"]
    elif decision is not None and approved is not decision:
        if approved is None:
            losses.append(Loss(f"{path}.approval.approved", "nothing", REQUIRED, "repaired"))
        raw["approval"] = {**approval, "approved": decision}


def _add(raw: JsonObject, name: str, value: Json, path: str, losses: list[Loss]) -> None:
    losses.append(Loss(f"{path}.{name}", "nothing", REQUIRED, "repaired"))
    raw[name] = value
