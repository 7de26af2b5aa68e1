"""Items that answer calls which the client ran → results."""

from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from partita.formats.openai_responses.amending import OUTPUT, amendments
from partita.formats.openai_responses.fields import NAMESPACE, inner, text
from partita.formats.openai_responses.request_calls import LONGEST, fit_call_id
from partita.formats.openai_responses.request_content import own
from partita.formats.openai_responses.request_outputs import output_item
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.tools import (
    ContentOutput,
    ErrorTextOutput,
    JsonOutput,
    TextOutput,
    ToolOutput,
    ToolResultPart,
)

from .content import read_content

CALLS: Final[Mapping[str, str]] = {
    "function_call_output": "function_call",
    "custom_tool_call_output": "custom_tool_call",
    "computer_call_output": "computer_call",
    "local_shell_call_output": "local_shell_call",
    "shell_call_output": "shell_call",
    "apply_patch_call_output": "apply_patch_call",
    "tool_search_output": "tool_search_call",
}
"""Items that answer a call, and what kind of call."""


def answered_call(item: JsonObject) -> str:
    """The id of the call that an item answers. A local shell's is under another name."""
    return text(item, "call_id") or text(item, "id")


def read_output(item: JsonObject, name: str, kind: str) -> ToolResultPart:
    """The result that an item brings to a call of that name and kind."""
    call_id = answered_call(item)
    if kind == "function_call" and _is_plain(item):
        return ToolResultPart(call_id, name, TextOutput(item["output"]))
    result = ToolResultPart(call_id, name, _output(item))
    written = output_item(result, kind, fit_call_id(call_id), "", [])
    more = amendments(item, written[0] if written else {})
    return replace(result, provider_metadata={NAMESPACE: {OUTPUT: more}}) if more else result


def read_lone_output(item: JsonObject) -> ToolResultPart:
    """The result that an item brings to a call that is not there. It says what kind of call that was."""
    kind = text(item, "type")
    result = read_output(item, text(item, "name"), CALLS[kind])
    more = {"type": kind, **inner(own(result.provider_metadata), OUTPUT)}
    return replace(result, provider_metadata={NAMESPACE: {OUTPUT: more}})


def _is_plain(item: JsonObject) -> bool:
    """Whether an item says no more than which call of a function it answers, and with which words."""
    call_id = item.get("call_id")
    return (
        item["type"] == "function_call_output"
        and len(item) == 3
        and isinstance(item.get("output"), str)
        and isinstance(call_id, str)
        and 0 < len(call_id) <= LONGEST
    )


def _output(item: JsonObject) -> ToolOutput:
    said = item.get("output")
    match text(item, "type"):
        case "computer_call_output":
            return JsonOutput(_screen(said))
        case "shell_call_output":
            return JsonOutput({"output": said})
        case "tool_search_output":
            return JsonOutput({"tools": item.get("tools")})
        case "apply_patch_call_output":
            words = said if isinstance(said, str) else ""
            return ErrorTextOutput(words) if item.get("status") == "failed" else TextOutput(words)
        case _:
            return _shown(said)


def _shown(said: Json) -> ToolOutput:
    if is_array(said):
        return ContentOutput(tuple(read_content(said)))
    return TextOutput(said) if isinstance(said, str) else JsonOutput(said)


def _screen(said: Json) -> Json:
    """A picture of the screen without the word that says so."""
    if is_object(said) and said.get("type") == "computer_screenshot":
        return {name: value for name, value in said.items() if name != "type"}
    return said
