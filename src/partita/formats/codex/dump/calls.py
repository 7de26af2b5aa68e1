"""Calls of tools → the items that Codex has for them."""

import re
from typing import Final, NamedTuple

from msgspec import UNSET

from partita.formats.session_losses import NO_PLACE, Losses
from partita.types.json import Json, JsonObject, dumps, is_object
from partita.types.messages import ToolCallPart
from partita.types.tools import InterruptedOutput, JsonOutput

from .content import codex_notes
from .outputs import output_of

NAME: Final = re.compile(r"[^A-Za-z0-9_-]")
LONGEST_NAME: Final = 128
NO_NAME: Final = "unknown"
CARRIED: Final = ("id", "name", "state", "input", "raw_input", "input_encoding", "output", "tool_metadata")
OPEN: Final = "a call without an output is one that never ended"
SEARCH: Final = "web_search_call"
AT_WORK: Final = "the tool was still at work"


class CallItems(NamedTuple):
    """A call, and its output if it has one."""

    call: JsonObject
    output: JsonObject | None


def call_items(part: ToolCallPart, call_id: str, path: str, losses: Losses) -> CallItems:
    """The items of a call."""
    notes = codex_notes(part.tool_metadata)
    _report(part, part.id if notes.get("type") == SEARCH else call_id, path, losses)
    given: Json = part.raw_input if part.input is UNSET else part.input
    call: JsonObject
    kept = {name: notes[name] for name in ("id", "namespace", "status") if name in notes}
    match notes.get("type"):
        case "web_search_call":
            own = {} if ":" in part.id else {"id": part.id}  # old searches have no id: the reader made one
            action = given if is_object(given) else {"type": "search"}
            return CallItems({"type": SEARCH, **own, "status": "completed", **kept, "action": action}, None)
        case "tool_search_call" if isinstance(part.output, JsonOutput) and is_object(part.output.value):
            around = {
                "call_id": call_id,
                "status": "completed",
                "execution": notes.get("execution", "client"),
            }
            call = {"type": "tool_search_call", **around, "arguments": {} if given is UNSET else given}
            return CallItems(call, {"type": "tool_search_output", **around, **part.output.value})
        case "custom_tool_call" if isinstance(given, str):
            call = {"type": "custom_tool_call", "status": "completed", "call_id": call_id}
            call |= {"name": part.name, "input": given} | kept
        case "local_shell_call" if is_object(given):
            call = {"type": "local_shell_call", "call_id": call_id, "status": "completed", "action": given}
            call |= kept
        case _:
            is_text = notes.get("inputEncoding") == "text" and isinstance(given, str)
            arguments = given if is_text else dumps({} if given is UNSET else given).decode()
            call = {"type": "function_call", "name": _name(part), "arguments": arguments, "call_id": call_id}
            call |= kept
    return CallItems(call, _output(part, call, path, losses))


def _output(part: ToolCallPart, call: JsonObject, path: str, losses: Losses) -> JsonObject | None:
    output = part.output
    if output is None or part.preliminary:
        if part.preliminary and output is not None:
            losses.whole(output, f"{path}.output", AT_WORK)
        losses.say(f"{path}.state", part.state, OPEN)
        return None
    if isinstance(output, InterruptedOutput) and output.reason == "lost" and not output.message:
        return None  # Codex leaves such a call without an output, too
    kind = "custom_tool_call_output" if call["type"] == "custom_tool_call" else "function_call_output"
    return {"type": kind, "call_id": call["call_id"], "output": output_of(output, f"{path}.output", losses)}


def _name(part: ToolCallPart) -> str:
    return NAME.sub("_", part.name)[:LONGEST_NAME] or NO_NAME


def _report(part: ToolCallPart, call_id: str, path: str, losses: Losses) -> None:
    if call_id != part.id:
        losses.say(f"{path}.id", part.id, f"the API takes no such id, or another call has it: {call_id}")
    if _name(part) != part.name:
        losses.say(f"{path}.name", part.name, f"the API takes no such name: {_name(part)}")
    if part.raw_input is not UNSET and part.input is not UNSET:
        losses.say(f"{path}.rawInput", part.raw_input, NO_PLACE)
    for name, value in (part.tool_metadata or {}).items():
        if not codex_notes(part.tool_metadata) or name != "codex":
            losses.say(f"{path}.toolMetadata.{name}", value, NO_PLACE)
    losses.rest(part, path, *CARRIED)
