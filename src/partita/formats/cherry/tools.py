"""Tool blocks of Cherry Studio's first generation → calls with their outputs."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from msgspec import UNSET, UnsetType

from partita.formats.rows import Row, same
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import ToolCallPart
from partita.types.tools import (
    ErrorJsonOutput,
    ErrorTextOutput,
    InterruptedOutput,
    JsonOutput,
    TextOutput,
    ToolOutput,
    ToolState,
)

RAW = "rawMcpToolResponse"
"""What the agent's adapter said of the call, in the metadata of the block."""

UNNAMED = "unknown"


class _Said(NamedTuple):
    """What the adapter said of a call, member by member."""

    name: Json
    input: Json | UnsetType
    output: Json | UnsetType
    status: Json


def load_tool(block: Row, metadata_of: Callable[[Row], JsonObject | None]) -> Sequence[ToolCallPart]:
    """The call of a tool block, if it has an id."""
    if not isinstance(block.get("toolId"), str):
        return ()
    said = _said(block)
    id_ = str(block.take("toolId"))
    name = block.take_text("toolName") or (said.name if isinstance(said.name, str) else UNNAMED)
    input_ = block.take("arguments") if "arguments" in block else said.input
    output = said.output
    if "content" in block and (output is UNSET or same(output, block.get("content"))):
        output = block.take("content")
    failed = _failed(output) or "error" in (said.status, block.get("status"))
    if failed and output is UNSET and "error" in block:
        output = block.take("error")
    state, typed = _outcome(output, failed, said.status or block.get("status"))
    _drop_mirrors(block, id_, name, input_, output)
    return (
        ToolCallPart(
            id_, name, state, input_, output=typed, dynamic=True, call_provider_metadata=metadata_of(block)
        ),
    )


def _said(block: Row) -> _Said:
    raw = _raw(block)
    tool = raw.get("tool")
    return _Said(
        tool.get("name") if is_object(tool) else None,
        raw.get("arguments", UNSET),
        raw.get("response", UNSET),
        raw.get("status"),
    )


def _raw(block: Row) -> JsonObject:
    metadata = block.get("metadata")
    raw = metadata.get(RAW) if is_object(metadata) else None
    return raw if is_object(raw) else {}


def _failed(output: Json | UnsetType) -> bool:
    return is_object(output) and output.get("isError") is True


def _outcome(output: Json | UnsetType, failed: bool, status: Json) -> tuple[ToolState, ToolOutput | None]:
    """How far a call has come, and its output."""
    if failed:
        return "output-error", _error(output)
    if output is not UNSET:
        return "output-available", TextOutput(output) if isinstance(output, str) else JsonOutput(output)
    match status:
        case "done" | "success":
            return "output-available", None
        case "cancelled" | "paused":
            return "output-error", InterruptedOutput("aborted")
        case "streaming":
            return "input-streaming", None
        case _:
            return "input-available", None


def _error(output: Json | UnsetType) -> ToolOutput:
    if output is UNSET:
        return ErrorTextOutput("")
    return ErrorTextOutput(output) if isinstance(output, str) else ErrorJsonOutput(output)


def _drop_mirrors(
    block: Row, id_: str, name: str, input_: Json | UnsetType, output: Json | UnsetType
) -> None:
    """Leave out what the adapter repeats of the call. What it says otherwise is left."""
    metadata, raw = block.get("metadata"), _raw(block)
    if not raw:
        return
    known: JsonObject = {"toolCallId": id_, "id": id_}
    known |= {} if input_ is UNSET else {"arguments": input_}
    known |= {} if output is UNSET else {"response": output}
    rest = {key: value for key, value in raw.items() if key not in known or not same(value, known[key])}
    if is_object(raw.get("tool")) and raw["tool"].get("name") == name:
        rest["tool"] = {key: value for key, value in raw["tool"].items() if key != "name"}
    block.left["metadata"] = {**metadata, RAW: rest}
