"""UI parts for readers of AI SDK 5 and 6: what they do not know is written in an older form, or left out."""

from collections.abc import Mapping
from typing import Any

from partita.formats.ai_sdk.versions import PART_TYPES, PARTS, newer_members
from partita.formats.losses import Loss
from partita.stream.rules import Version
from partita.stream.targets import Target
from partita.types.json import Json, JsonObject, is_object
from partita.types.tools import Approval

STATES_OF_5: Mapping[str, str] = {
    "approval-requested": "input-available",
    "approval-responded": "input-available",
    "output-denied": "output-error",
}
"""Tool states that version 5 does not know, and what they look like there."""

DENIED = "Tool call execution denied."


def downgrade(part: JsonObject, version: Version, path: str, losses: list[Loss]) -> JsonObject | None:
    """A UI part of version 7 for the reader of another; `None` when there is nothing like it."""
    if version == 7:
        return part
    type_: str = part["type"]
    known = PART_TYPES.get(type_)
    if type_ == "reasoning-file":
        losses.append(Loss(f"{path}.type", type_, f"in version {version} it is a file like any other"))
        part = {**part, "type": "file"}
    elif known is not None and not Target(version).knows(PARTS[known]):
        losses.append(Loss.of(path, part, f"version {version} has no {type_} parts"))
        return None
    if known is not None:
        part = _without(part, newer_members(known, version), version, path, losses)
    if type_ == "dynamic-tool" or type_.startswith("tool-"):
        return _downgrade_tool(part, version, path, losses)
    return part


def _downgrade_tool(part: JsonObject, version: Version, path: str, losses: list[Loss]) -> JsonObject:
    approval: Any = part.get("approval")
    if is_object(approval) and version == 6:
        part = {
            **part,
            "approval": _without(approval, newer_members(Approval, 6), 6, f"{path}.approval", losses),
        }
    if version == 6:
        return part
    state: Json = part.get("state")
    if state in STATES_OF_5:
        losses.append(Loss(f"{path}.state", str(state), "version 5 knows no approvals"))
        part = {**part, "state": STATES_OF_5[state]}
        if state == "output-denied":
            reason: Json = approval.get("reason") if is_object(approval) else None
            part["errorText"] = reason if isinstance(reason, str) else DENIED
    return _without(part, ("approval",), 5, path, losses)


def _without(
    part: JsonObject, members: tuple[str, ...], version: Version, path: str, losses: list[Loss]
) -> JsonObject:
    gone = [member for member in members if member in part]
    losses.extend(
        Loss.of(f"{path}.{member}", part[member], f"version {version} does not know it") for member in gone
    )
    return {key: value for key, value in part.items() if key not in gone} if gone else part
