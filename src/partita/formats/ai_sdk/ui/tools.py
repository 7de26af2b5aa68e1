"""Tool parts of UI messages: `tool-NAME` and `dynamic-tool` ↔ the canonical tool call.

A UI part keeps a bare `output` or an `errorText`; ours keeps a typed output. What a bare one cannot say
(that a string was JSON, that an error had structure, that the call was interrupted) is told as a loss.
"""

from collections.abc import Mapping
from typing import Any, assert_never

from msgspec import UNSET
from msgspec.structs import replace

from partita.formats.bare import is_open, plain_result
from partita.formats.losses import Loss
from partita.types.codec import Codec, encode, to_json
from partita.types.json import Json, JsonObject
from partita.types.messages import ToolCallPart
from partita.types.tools import (
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    InterruptedOutput,
    JsonOutput,
    TextOutput,
    ToolOutput,
    ToolState,
)
from partita.types.value import kept, unkept

from .aside import put

FORMAT = "ai-sdk-ui"

NAMES: Mapping[str, str] = {
    "toolCallId": "id",
    "state": "state",
    "input": "input",
    "rawInput": "rawInput",
    "inputEncoding": "inputEncoding",
    "approval": "approval",
    "title": "title",
    "providerExecuted": "providerExecuted",
    "preliminary": "preliminary",
    "callProviderMetadata": "callProviderMetadata",
    "resultProviderMetadata": "resultProviderMetadata",
    "toolMetadata": "toolMetadata",
    "providerMetadata": "providerMetadata",
}
"""Members of a UI part and their canonical names. Name, output and children take more than a name."""

OPEN = frozenset({"type", "toolCallId", "state", "input"})
ENDED = OPEN | {"output"}
"""The members of a call that says no more, without and with its result."""

_OTHERS = frozenset({"type", "output", "errorText", "childMessages"})
_CALL: Codec[ToolCallPart] = Codec(ToolCallPart)


def load_bare_tool(raw: JsonObject, type_: str) -> ToolCallPart | None:
    """A static call that says no more than its input and its result; `None` when it is anything else."""
    id_, state = raw.get("toolCallId"), raw.get("state")
    if not isinstance(id_, str) or not type_.startswith("tool-"):
        return None
    if state == "output-available" and raw.keys() == ENDED:
        value = raw["output"]
        output = TextOutput(value) if isinstance(value, str) else JsonOutput(value)
        return ToolCallPart(id_, type_[5:], "output-available", raw["input"], output=output)
    if state == "input-available" and raw.keys() == OPEN:
        return ToolCallPart(id_, type_[5:], "input-available", raw["input"])
    return None


def load_tool(raw: JsonObject) -> ToolCallPart:
    """A tool part as a canonical call, without its children."""
    dynamic = raw["type"] == "dynamic-tool"
    known: JsonObject = {"type": "tool-call", "name": _name_of(raw), "dynamic": dynamic}
    rest: JsonObject = {}
    for key, value in raw.items():
        if key in NAMES:
            known[NAMES[key]] = value
        elif key not in _OTHERS and not (dynamic and key == "toolName"):
            rest[key] = value
    known.setdefault("state", implied_state(raw))
    if dynamic and rest.get("dynamic") is False:
        known["unavailable"] = not rest.pop("dynamic")
    if not isinstance(raw.get("childMessages", []), list):
        rest["childMessages"] = raw["childMessages"]
    output, kept_output = _load_output(raw)
    part = _CALL.read(known)
    return replace(part, output=output, extra=kept(rest | kept_output, ToolCallPart))


def implied_state(raw: JsonObject) -> ToolState:
    """The state of a tool part, by its other members."""
    if isinstance(raw.get("errorText"), str):
        return "output-error"
    return "output-available" if "output" in raw else "input-available"


def _name_of(raw: JsonObject) -> Json:
    return raw.get("toolName") if raw["type"] == "dynamic-tool" else raw["type"].removeprefix("tool-")


def _load_output(raw: JsonObject) -> tuple[ToolOutput | None, JsonObject]:
    """The typed output, and what of a part that has both an output and an error must be kept aside."""
    error = raw.get("errorText")
    if "errorText" in raw and not isinstance(error, str):
        error_kept: JsonObject = {"errorText": error}
    else:
        error_kept = {}
    has_error = isinstance(error, str)
    if has_error and ("output" not in raw or raw.get("state") == "output-error"):
        return ErrorTextOutput(str(error)), {"output": raw["output"]} if "output" in raw else {}
    if "output" not in raw:
        return None, error_kept
    value = raw["output"]
    output = TextOutput(value) if isinstance(value, str) else JsonOutput(value)
    return output, {"errorText": error} if has_error else error_kept


def dump_bare_tool(part: ToolCallPart) -> JsonObject | None:
    """A call that says no more than its input and its result; `None` when it is anything else."""
    value = plain_result(part)
    if value is UNSET and not is_open(part):
        return None
    result: JsonObject = {
        "type": f"tool-{part.name}",
        "toolCallId": part.id,
        "state": part.state,
        "input": part.input,
    }
    if value is not UNSET:
        result["output"] = value
    return result


def dump_tool(part: ToolCallPart, path: str, losses: list[Loss]) -> JsonObject:
    """A canonical call as a tool part, without its children."""
    plain: JsonObject = to_json(replace(part, output=None, children=(), result_message=None, extra=None))
    result: JsonObject = {"type": "dynamic-tool" if part.dynamic else f"tool-{part.name}"}
    if part.dynamic:
        result["toolName"] = part.name
    result |= {wire: plain[name] for wire, name in NAMES.items() if name in plain}
    if part.unavailable and part.dynamic:
        result["dynamic"] = False
    elif part.unavailable:
        losses.append(Loss(f"{path}.unavailable", "true", "only a dynamic tool part can say so"))
    if part.result_message is not None:
        losses.append(
            Loss.of(
                f"{path}.resultMessage", to_json(part.result_message), "UI messages have no tool messages"
            )
        )
    if part.output is not None:
        result |= _dump_output(part, part.output, path, losses)
    put(result, unkept(part.extra), path, losses, NAMES)
    return result


def _dump_output(part: ToolCallPart, output: ToolOutput, path: str, losses: list[Loss]) -> JsonObject:
    where = f"{path}.output"
    if output.provider_metadata is not None or output.extra:
        aside = {"providerMetadata": output.provider_metadata, **(output.extra or {})}
        losses.append(Loss.of(where, aside, "a UI part keeps the bare output"))
    match output:
        case TextOutput(value=value):
            return {"output": value}
        case JsonOutput(value=value):
            if isinstance(value, str):
                losses.append(Loss(f"{where}.type", "json", "a bare string is read as text"))
            return {"output": value}
        case ErrorTextOutput(value=value):
            return {"errorText": value}
        case ErrorJsonOutput(value=value):
            losses.append(Loss(f"{where}.type", "error-json", "a UI part keeps errors as text"))
            return {"state": "output-error", "errorText": encode(value).decode()}
        case ContentOutput():
            losses.append(Loss(f"{where}.type", "content", "a UI part keeps the bare output"))
            return {"output": to_json(replace(output, provider_metadata=None, extra=None))}
        case ExecutionDeniedOutput(reason=reason):
            return _dump_denial(part, reason, where, losses)
        case InterruptedOutput(reason=interruption, message=message):
            losses.append(Loss.of(where, to_json(output), "a UI part has no such output"))
            words = f"The tool call was interrupted: {interruption}." if message is None else message
            return {"state": "output-error", "errorText": words}
        case _:
            assert_never(output)


def _dump_denial(part: ToolCallPart, reason: str | None, where: str, losses: list[Loss]) -> JsonObject:
    """A denial lives in the approval; a call that was never asked about gets one."""
    losses.append(Loss(f"{where}.type", "execution-denied", "a denial is told by the approval"))
    approval: Any = to_json(part.approval) if part.approval else {"id": part.id}
    said = approval.get("reason")
    if reason is not None and said not in (None, reason):
        losses.append(Loss.of(f"{where}.reason", reason, "the approval gives another reason"))
    if approval.get("approved") is True:
        path = f"{where.removesuffix('.output')}.approval.approved"
        losses.append(Loss.of(path, True, "the call was denied", "changed"))
    reason = said if said is not None else reason
    return {
        "state": "output-denied",
        "approval": {**approval, "approved": False, **({} if reason is None else {"reason": reason})},
    }
