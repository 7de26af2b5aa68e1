"""Canonical tool calls → what V2 keeps: an invocation in the words of AI SDK 4, and what stands beside it."""

from collections.abc import Mapping
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from partita.formats.ai_sdk.ui.dump import dump_part
from partita.formats.ai_sdk.ui.tools import dump_tool
from partita.formats.ai_sdk.ui.v4_shape import BESIDE, STATES
from partita.formats.bare import plain_result
from partita.types.fold import state_after
from partita.types.json import JsonObject
from partita.types.messages import ToolCallPart
from partita.types.tools import ErrorJsonOutput, ErrorTextOutput, ToolResultPart

from .calls import implied_state
from .notes import kept_of, note_of

INSIDE: Mapping[str, str] = {
    "input": "args",
    "output": "result",
    "errorText": "errorText",
    "rawInput": "rawInput",
    "approval": "approval",
}
"""Members of a UI part that stand in the invocation, and their names there."""

BESIDE_IT: Mapping[str, str] = {
    "providerExecuted": "providerExecuted",
    "title": "title",
    "preliminary": "preliminary",
    "callProviderMetadata": "providerMetadata",
    "resultProviderMetadata": "resultProviderMetadata",
    "toolMetadata": "toolMetadata",
}
"""Members that stand around the invocation."""


def dump_call(part: ToolCallPart) -> JsonObject:
    """A call. With a sub-agent under it, it is a `dynamic-tool`: an invocation has no room for messages."""
    value = plain_result(part)
    if value is not UNSET:
        plain = {"state": "result", "toolCallId": part.id, "toolName": part.name, "args": part.input}
        return {"type": "tool-invocation", "toolInvocation": {**plain, "result": value}}
    bare = replace(part, extra=None)
    if part.dynamic or part.children:
        drawn: Any = dump_part(bare, "$", [], 7)
        return {**_beside(part), **drawn, "type": "dynamic-tool", "toolName": part.name}
    drawn = dump_tool(bare, "$", [])
    invocation: JsonObject = {
        "state": STATES.get(drawn["state"], drawn["state"]),
        "toolCallId": part.id,
        "toolName": part.name,
        "args": {},
    }
    invocation |= {name: drawn[key] for key, name in INSIDE.items() if key in drawn}
    if note_of(part).get("state") == "result" and isinstance(part.output, ErrorTextOutput | ErrorJsonOutput):
        invocation |= {"state": "result", "result": part.output.value, "isError": True}
        invocation.pop("errorText", None)
    note = note_of(part)
    if "stated" in note and invocation["state"] == implied_state(invocation):
        invocation["state"] = note["stated"]
        if note["stated"] is None:
            del invocation["state"]
    inside = {key: value for key, value in kept_of(part).items() if not key.startswith(BESIDE)}
    beside = {name: drawn[key] for key, name in BESIDE_IT.items() if key in drawn}
    return {
        **_beside(part),
        "type": "tool-invocation",
        "toolInvocation": {**inside, **invocation},
        **beside,
    }


def dump_result(part: ToolResultPart) -> JsonObject:
    """A result whose call is not there, as a call that has ended."""
    call = ToolCallPart(part.id, part.name, state_after(part.output), output=part.output)
    return dump_call(replace(call, result_provider_metadata=part.provider_metadata, extra=part.extra))


def _beside(part: ToolCallPart) -> JsonObject:
    """Members without a name here that stood around an invocation; of a `dynamic-tool`, all there are."""
    kept = kept_of(part)
    whole = part.dynamic or bool(part.children)
    return {key.removeprefix(BESIDE): value for key, value in kept.items() if whole or key.startswith(BESIDE)}
