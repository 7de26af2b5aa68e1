"""Rows of `tool_calls` → calls with their outputs.

They have ids of their own, so a row belongs to the first call of the same tool with the same input that no
row has taken yet. Without such a call it becomes one.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import UNSET
from msgspec.structs import replace

from partita.formats.rows import Row, same, unpacked
from partita.types.codec import to_json
from partita.types.json import JsonObject
from partita.types.messages import AssistantPart, ToolCallPart
from partita.types.tools import ErrorTextOutput, TextOutput, ToolOutput, ToolState

NAMESPACE: Final = "smithers"
SUMMARY: Final = "summary"
"""Marks an output of which the row holds a summary only."""


def with_rows(parts: Sequence[AssistantPart], rows: Iterable[Row]) -> list[AssistantPart]:
    """The parts, with what the rows know of their calls, and the calls that only the rows know."""
    result = list(parts)
    free = [index for index, part in enumerate(result) if isinstance(part, ToolCallPart)]
    for row in rows:
        call = load_call(row)
        place = next((index for index in free if _is_same(result[index], call)), None)
        if place is None:
            result.append(call)
        else:
            free.remove(place)
            result[place] = _merged(result[place], call)
    return result


def load_call(row: Row) -> ToolCallPart:
    """The call that a row tells of. All else that the row says is tool metadata."""
    row.take_text("agentId")
    id_, name = row.get("id"), row.get("toolName")
    input_ = unpacked(row.take("input")) if "input" in row else UNSET
    state, output = _outcome(row)
    if isinstance(name, str):
        row.take("toolName")
    if isinstance(id_, str):
        row.take("id")
    return ToolCallPart(
        id_ if isinstance(id_, str) else row.path,
        name if isinstance(name, str) else "unknown",
        state,
        input_,
        output=output,
        dynamic=True,
        tool_metadata={NAMESPACE: row.left} if row.left else None,
    )


def _outcome(row: Row) -> tuple[ToolState, ToolOutput | None]:
    """How far the call has come, and its output: whole, or as the summary that stands for a large one."""
    error, inline, summary = row.get("error"), row.get("outputInline"), row.get("outputSummary")
    if row.get("status") == "failed" or isinstance(error, str):
        return "output-error", ErrorTextOutput(row.take("error") if isinstance(error, str) else "")
    if isinstance(inline, str):
        return "output-available", TextOutput(row.take("outputInline"))
    if isinstance(summary, str):
        mark: JsonObject = {NAMESPACE: {"is": SUMMARY}}
        return "output-available", TextOutput(row.take("outputSummary"), provider_metadata=mark)
    return ("output-available" if row.get("status") == "completed" else "input-available"), None


def _is_same(part: AssistantPart, call: ToolCallPart) -> bool:
    if not isinstance(part, ToolCallPart):
        return False
    known = UNSET not in (part.input, call.input)
    return part.id == call.id or (part.name == call.name and known and same(part.input, call.input))


def _merged(part: AssistantPart, call: ToolCallPart) -> AssistantPart:
    """The call as the stream tells it, and of the row what the stream does not tell."""
    if not isinstance(part, ToolCallPart):
        return part
    told: JsonObject = {"id": call.id, **(call.tool_metadata or {}).get(NAMESPACE, {})}
    if call.name != part.name:
        told["toolName"] = call.name
    if call.input is not UNSET and (part.input is UNSET or not same(part.input, call.input)):
        told["input"] = call.input
    if part.output is None and call.output is not None:
        part = replace(part, state=call.state, output=call.output)
    elif call.output is not None and call.output != part.output:
        told["output"] = to_json(call.output)
    return replace(part, tool_metadata={NAMESPACE: told})
