"""A tool call, its approval and its result in model messages ↔ one canonical tool call.

Written by way of UI messages, as the SDK does it. What a UI part cannot say is put right afterwards: typed
outputs, and for a call with a note whatever the SDK's conversion would have added or changed.
"""

from collections.abc import Iterator
from typing import NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from partita.formats.bare import is_open, plain_result
from partita.types.fold import state_after, state_before
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import ToolCallPart
from partita.types.tools import (
    Approval,
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    InterruptedOutput,
    JsonOutput,
    TextOutput,
)

from .marks import amended, difference, note_of, options_of, with_note, with_options
from .outputs import PLAIN_RESULT, plain_output, read_output, write_output
from .parts import Pieces, by_way_of_ui

KINDS = {
    "tool-call": "call",
    "tool-approval-request": "request",
    "tool-approval-response": "response",
    "tool-result": "result",
}
"""Parts that a call may become, and what a note calls them."""

FIXED = ("type", "toolCallId", "approvalId", "approved")
"""Members that no note changes."""


PLAIN_CALL = frozenset({"type", "toolCallId", "toolName", "input"})


class _Told(NamedTuple):
    """What model messages tell about one call, each an empty object if it is not told."""

    call: JsonObject
    request: JsonObject
    response: JsonObject
    result: JsonObject


def is_call(raw: Json) -> bool:
    """Whether a part is a tool call with an id and a name."""
    return (
        is_object(raw)
        and raw.get("type") == "tool-call"
        and isinstance(raw.get("toolCallId"), str)
        and isinstance(raw.get("toolName"), str)
    )


def is_request(raw: Json) -> bool:
    """Whether a part asks if a call may run."""
    return (
        is_object(raw)
        and raw.get("type") == "tool-approval-request"
        and isinstance(raw.get("toolCallId"), str)
        and isinstance(raw.get("approvalId"), str)
    )


def is_response(raw: Json) -> bool:
    """Whether a part answers a request."""
    return (
        is_object(raw)
        and raw.get("type") == "tool-approval-response"
        and isinstance(raw.get("approvalId"), str)
        and isinstance(raw.get("approved"), bool)
    )


def read_call(pieces: Pieces, version: int) -> ToolCallPart:
    """The call that these parts tell, with a note if the SDK would tell it otherwise."""
    plain = _read_plain(pieces, version)
    if plain is not None:
        return plain
    told = _told(pieces)
    for candidate in _candidates(told, pieces, version):
        if write_call(candidate, version, "$") == pieces:
            return candidate
    exact = with_note(_exact(told, version), {})
    return with_note(exact, _differences(write_call(exact, version, "$"), pieces))


def write_call(call: ToolCallPart, version: int, path: str, superseded: bool = False) -> Pieces:
    """The parts that a call becomes; nothing if its input is not whole, or a user passed its request over."""
    if is_plain_call(call):
        return _write_plain(call, version)
    said, answered = by_way_of_ui(_sayable(call), "assistant", version, path, superseded)
    note = note_of(call)
    if note is None:
        return Pieces(
            said and [_typed(piece, call, version) for piece in said],
            answered and [_typed(piece, call, version) for piece in answered],
        )
    return Pieces(
        said and list(_exactly(said, call, note, version)),
        list(_exactly(answered or [], call, note, version)) or None,
    )


# Calls that say no more than their input and their result: every version has them, and has them alike.


def is_plain_call(call: ToolCallPart) -> bool:
    """Whether a call is such a one."""
    return plain_result(call) is not UNSET or is_open(call)


def _write_plain(call: ToolCallPart, version: int) -> Pieces:
    around = {"toolCallId": call.id, "toolName": call.name}
    said = {"type": "tool-call", **around, "input": call.input}
    value = plain_result(call)
    if value is UNSET:
        return Pieces([said], _unanswered(version))
    output = {"type": "text" if isinstance(value, str) else "json", "value": value}
    return Pieces([said], [{"type": "tool-result", **around, "output": output}])


def _read_plain(pieces: Pieces, version: int) -> ToolCallPart | None:
    if pieces.said is None or len(pieces.said) != 1 or pieces.said[0].keys() != PLAIN_CALL:
        return None
    call, answered = pieces.said[0], pieces.answered
    id_, name = call["toolCallId"], call["toolName"]
    if not answered:
        is_as_written = answered == _unanswered(version)
        return ToolCallPart(id_, name, "input-available", call["input"]) if is_as_written else None
    result = answered[0]
    if len(answered) != 1 or result.keys() != PLAIN_RESULT or result["toolName"] != name:
        return None
    output = plain_output(result["output"])
    if output is None:
        return None
    return ToolCallPart(id_, name, "output-available", call["input"], output=output)


def _unanswered(version: int) -> list[Json] | None:
    """What stands behind a call without a result: in version 5, a tool message that says nothing."""
    return [] if version == 5 else None


# Reading


def _told(pieces: Pieces) -> _Told:
    found: dict[str, JsonObject] = {
        KINDS[piece["type"]]: piece for piece in (*(pieces.said or ()), *(pieces.answered or ()))
    }
    return _Told(*(found.get(name, {}) for name in _Told._fields))


def _candidates(told: _Told, pieces: Pieces, version: int) -> Iterator[ToolCallPart]:
    """The calls that might have been converted to this, the likeliest first."""
    call = _exact(told, version)
    if call.result_provider_metadata == call.call_provider_metadata:
        call = replace(call, result_provider_metadata=None)  # the conversion repeats that of the call
    is_own = told.result in (pieces.said or ())
    is_refused = call.approval is not None and call.approval.approved is False
    match call.output:
        case ErrorTextOutput() if is_refused:
            yield replace(call, state="output-denied", output=None)
        case ExecutionDeniedOutput() if is_refused and call.provider_executed and not is_own:
            yield replace(call, state="approval-responded", output=None)
        case ErrorJsonOutput(value=str() as text, provider_metadata=None, extra=None) if is_own:
            yield replace(call, output=ErrorTextOutput(text))
        case _:
            pass
    yield call


def _exact(told: _Told, version: int) -> ToolCallPart:
    executed = told.call.get("providerExecuted")
    output = read_output(told.result.get("output"), version) if told.result else None
    call = ToolCallPart(
        told.call["toolCallId"],
        told.call["toolName"],
        "input-available",
        told.call.get("input", UNSET),
        output=output,
        approval=_approval(told) if told.request else None,
        provider_executed=executed if isinstance(executed, bool) else None,
        call_provider_metadata=options_of(told.call),
        result_provider_metadata=options_of(told.result),
    )
    return replace(call, state=state_before(call) if output is None else state_after(output))


def _approval(told: _Told) -> Approval:
    automatic = told.request.get("isAutomatic")
    return Approval(
        told.request["approvalId"],
        told.response.get("approved"),
        _text(told.response.get("reason")),
        _text(told.request.get("reason")),
        automatic if isinstance(automatic, bool) else None,
        _text(told.request.get("signature")),
        input_schema_input=told.request.get("inputSchemaInput", UNSET),
    )


def _text(value: Json) -> str | None:
    return value if isinstance(value, str) else None


def _differences(written: Pieces, meant: Pieces) -> JsonObject:
    ours, theirs = _told(written)._asdict(), _told(meant)._asdict()
    found = {name: difference(ours[name], theirs[name]) for name in ours if ours[name] and theirs[name]}
    return {name: note for name, note in found.items() if note}


# Writing


def _sayable(call: ToolCallPart) -> ToolCallPart:
    """The call with an output that a UI part can hold, in place of one that it cannot."""
    bare = replace(call, children=(), result_message=None)
    match call.output:
        case None:
            return bare
        case JsonOutput(value=str()) | ContentOutput():
            return replace(bare, output=TextOutput(""))
        case ErrorJsonOutput() | ExecutionDeniedOutput() | InterruptedOutput():
            return replace(bare, state="output-error", output=ErrorTextOutput(""))
        case _:
            return replace(bare, output=replace(call.output, provider_metadata=None, extra=None))


def _typed(piece: JsonObject, call: ToolCallPart, version: int) -> JsonObject:
    """A piece with the typed output of the call, where the UI part could not hold it."""
    if piece["type"] != "tool-result" or call.output is None or _is_withheld(call):
        return piece
    match call.output:
        case TextOutput() | ErrorTextOutput():
            unsaid = False
        case JsonOutput(value=value):
            unsaid = isinstance(value, str)
        case _:
            unsaid = True
    output = write_output(call.output, version)
    if unsaid:
        return {**piece, "output": output}
    around = {key: item for key, item in output.items() if key not in ("type", "value")}
    return {**piece, "output": {**piece["output"], **around}} if around else piece


def _is_withheld(call: ToolCallPart) -> bool:
    """Whether the model is not to see the output: the conversion has put words in its place."""
    return call.dynamic and call.unavailable


def _exactly(pieces: list[Json], call: ToolCallPart, note: JsonObject, version: int) -> Iterator[JsonObject]:
    """Pieces as the call has them, whatever the conversion made of it; a result only if there is one."""
    for piece in pieces:
        exact = piece
        if piece["type"] == "tool-call":
            bare = {key: item for key, item in piece.items() if key != "input"}
            input_ = {} if call.input is UNSET else {"input": call.input}
            exact = with_options({**bare, **input_}, call.call_provider_metadata)
        elif piece["type"] == "tool-result":
            if call.output is None:
                continue
            output = piece["output"] if _is_withheld(call) else write_output(call.output, version)
            exact = with_options({**piece, "output": output}, call.result_provider_metadata)
        fixed = {key: piece[key] for key in FIXED if key in piece}
        yield amended(exact, note.get(KINDS[piece["type"]])) | fixed
