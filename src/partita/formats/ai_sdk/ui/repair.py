"""UI parts that `validateUIMessages` of the AI SDK accepts: what it requires and a part lacks is added.

A canonical part may be incomplete: a failure without a text, a call whose input was not recorded, an approval
without its answer. The schema of the AI SDK refuses the whole list of messages for one such part.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from partita.formats.format import Dumped
from partita.formats.losses import Loss
from partita.stream.rules import Version
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import Message

from .dump import dump as dump_ui

ENDED: Final = frozenset({"type", "toolCallId", "state", "input", "output"})
"""The members of a call with its output and no more, which lacks nothing."""

FAILED: Final = "Tool call failed."
"""The text of a failure that has none."""

BARE: Final = frozenset({"text", "reasoning", "step-start"})
METADATA: Final = ("providerMetadata", "callProviderMetadata", "resultProviderMetadata")
NEEDS_INPUT: Final = frozenset(
    {"input-available", "approval-requested", "approval-responded", "output-available", "output-denied"}
)
OUTPUT_STATES: Final = frozenset({"output-available", "output-error", "output-denied"})
DECISIONS: Final[Mapping[str, bool]] = {
    "output-available": True,
    "output-error": True,
    "output-denied": False,
}
"""By state, what the approval of a call must have decided."""

REQUIRED: Final = "the AI SDK refuses a part without it"
REFUSED: Final = "the AI SDK refuses a part with it"


def dump(messages: Sequence[Message], version: Version = 7) -> Dumped:
    """Messages as the list that `useChat` takes and `validateUIMessages` accepts.

    Parts of a type that the AI SDK does not know are written as they came, and refused by it.
    """
    dumped = dump_ui(messages, version)
    losses = list(dumped.losses)
    payload = [_repaired(message, f"$[{index}]", losses) for index, message in enumerate(dumped.payload)]
    return Dumped(payload, tuple(losses))


def _repaired(message: Json, path: str, losses: list[Loss]) -> Json:
    """A message as the AI SDK accepts it. A child message of an unknown shape stays as it came."""
    parts = message.get("parts") if is_object(message) else None
    if not is_object(message) or not is_array(parts):
        return message
    written = [_repaired_part(part, f"{path}.parts[{index}]", losses) for index, part in enumerate(parts)]
    if not written and message.get("role") != "assistant":
        losses.append(Loss(f"{path}.parts", "[]", "only an assistant may have no parts", "repaired"))
        written = [{"type": "text", "text": ""}]
    if all(new is old for new, old in zip(written, parts, strict=False)) and len(written) == len(parts):
        return message
    return {**message, "parts": written}


def _repaired_part(part: Json, path: str, losses: list[Loss]) -> Json:
    """A UI part as the AI SDK accepts it; the same object when it already does."""
    type_: Json = part.get("type") if is_object(part) else None
    if not isinstance(type_, str) or (len(part) <= 2 and type_ in BARE):
        return part
    if part.keys() == ENDED and part["state"] == "output-available":
        return part
    for name in METADATA:
        if name in part:
            part = _with_records(part, name, path, losses)
    if type_ == "text" and is_array(part.get("citations")):
        cited = enumerate(part["citations"])
        return {
            **part,
            "citations": [_repaired_citation(one, f"{path}.citations[{i}]", losses) for i, one in cited],
        }
    if type_.startswith("data-") and "data" not in part:
        return _set(part, "data", None, path, losses)
    if type_ == "steering-message" and is_array(part.get("parts")):
        inner = enumerate(part["parts"])
        return {**part, "parts": [_repaired_part(one, f"{path}.parts[{i}]", losses) for i, one in inner]}
    if type_ == "dynamic-tool" or type_.startswith("tool-"):
        return _repaired_tool(part, path, losses)
    return part


def _repaired_citation(citation: Json, path: str, losses: list[Loss]) -> Json:
    if not is_object(citation) or not is_object(citation.get("source")):
        return citation
    source: JsonObject = {**citation["source"], "type": "source"}
    if "providerMetadata" in source:
        source = _with_records(source, "providerMetadata", f"{path}.source", losses)
    citation = {**citation, "source": source}
    for name in ("startIndex", "endIndex"):
        place: Json = citation.get(name)
        if isinstance(place, int) and place < 0:
            citation = _without(citation, name, path, losses)
    return citation


def _repaired_tool(part: JsonObject, path: str, losses: list[Loss]) -> JsonObject:
    if not isinstance(part.get("toolCallId"), str) or not isinstance(part.get("state"), str):
        return part
    part = _with_state(part, path, losses)
    state = part["state"]
    if state in NEEDS_INPUT and "input" not in part:
        part = _set(part, "input", {}, path, losses)
    if state == "output-available" and "output" not in part:
        part = _set(part, "output", None, path, losses)
    if state == "output-error" and not isinstance(part.get("errorText"), str):
        part = _set(part, "errorText", FAILED, path, losses)
    if state == "input-streaming" and not isinstance(part.get("rawInput", ""), str):
        part = _without(part, "rawInput", path, losses)
    for name, states in (("output", {"output-available"}), ("errorText", {"output-error"})):
        if name in part and state not in states:
            part = _without(part, name, path, losses)
    children: Json = part.get("childMessages")
    if is_array(children):
        written = [_repaired(one, f"{path}.childMessages[{i}]", losses) for i, one in enumerate(children)]
        if any(new is not old for new, old in zip(written, children, strict=True)):
            part = {**part, "childMessages": written}
    return _with_approval(part, path, losses)


def _with_state(part: JsonObject, path: str, losses: list[Loss]) -> JsonObject:
    """The part in the state that its output and its approval imply."""
    state: str = part["state"]
    approval: Json = part.get("approval")
    if state not in OUTPUT_STATES and ("output" in part or "errorText" in part):
        implied = "output-available" if "output" in part else "output-error"
    elif state in ("input-available", "approval-requested", "approval-responded") and is_object(approval):
        implied = "approval-responded" if isinstance(approval.get("approved"), bool) else "approval-requested"
    else:
        implied = "input-available" if state == "approval-responded" and approval is None else state
    if implied == state:
        return part
    losses.append(Loss.of(f"{path}.state", state, f"its other members imply {implied}", "changed"))
    return {**part, "state": implied}


def _with_approval(part: JsonObject, path: str, losses: list[Loss]) -> JsonObject:
    """The part with the approval that its state requires, or without one that it refuses."""
    state: str = part["state"]
    approval: Json = part.get("approval")
    if not is_object(approval):
        needed: Mapping[str, JsonObject] = {
            "approval-requested": {"id": part["toolCallId"]},
            "output-denied": {"id": part["toolCallId"], "approved": False},
        }
        return _set(part, "approval", needed[state], path, losses) if state in needed else part
    if state == "input-streaming":
        return _without(part, "approval", path, losses)
    decision = DECISIONS.get(state)
    if decision is None or approval.get("approved") is decision:
        return part
    if decision and approval.get("approved") is False:
        return _without(part, "approval", path, losses)
    losses.append(Loss.of(f"{path}.approval.approved", approval.get("approved"), REQUIRED, "repaired"))
    return {**part, "approval": {**approval, "approved": decision}}


def _with_records(part: JsonObject, name: str, path: str, losses: list[Loss]) -> JsonObject:
    """The part with provider metadata that holds an object per provider."""
    metadata: Json = part[name]
    others = [key for key, item in metadata.items() if not is_object(item)] if is_object(metadata) else []
    if not others:
        return part
    losses.extend(Loss.of(f"{path}.{name}.{key}", metadata[key], REFUSED) for key in others)
    kept = {key: item for key, item in metadata.items() if key not in others}
    return {**part, name: kept}


def _set(part: JsonObject, name: str, value: Json, path: str, losses: list[Loss]) -> JsonObject:
    losses.append(Loss(f"{path}.{name}", "nothing", REQUIRED, "repaired"))
    return {**part, name: value}


def _without(part: JsonObject, name: str, path: str, losses: list[Loss]) -> JsonObject:
    losses.append(Loss.of(f"{path}.{name}", part[name], REFUSED))
    return {key: item for key, item in part.items() if key != name}
