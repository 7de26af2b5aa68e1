"""Tool calls in Mastra's streams: their inputs, approvals and outputs, and the steps of workflows.

A step of a workflow is a call, too: its payload is the input, and the messages of its agent are nested in it.
Chunk types: packages/core/src/stream/types.ts in https://github.com/mastra-ai/mastra
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from msgspec import UNSET, Struct

from partita.formats.core.metadata import RAW_INPUT, add_notes
from partita.formats.core.tool_text import read_arguments, read_tool_text
from partita.types.chunks import (
    ToolApprovalRequest,
    ToolApprovalResponse,
    ToolInputAvailable,
    ToolInputDelta,
    ToolInputStart,
    ToolOutputAvailable,
    ToolOutputChunk,
)
from partita.types.json import Json, JsonObject, dumps, same_json
from partita.types.parts import ExecutionDeniedOutput, InterruptedOutput

from .stream_output import NAMESPACE, Event, Output

Handler: TypeAlias = Callable[[Event], bool]
"""Emits the chunks of an event. Returns `False` if the event is invalid."""

FeedChild: TypeAlias = Callable[[str, Json, str], bool]
"""Decodes an event of the agent of a call. Returns whether it is an event."""

UNNAMED: Final = "unknown"
MEMBERS: Final[Mapping[str, tuple[str, type]]] = {
    "providerExecuted": ("provider_executed", bool),
    "dynamic": ("dynamic", bool),
    "title": ("title", str),
}
"""Members of a call, with the fields of chunks and the types for them."""

SHOWN: Final = ("suspendPayload", "resumeSchema")
"""Members of an approval request that are shown to the user."""

FAILED: Final = ("failed", "error", "tripwire")
"""The status of a workflow step that failed."""


class Call(Struct):
    """A call, and its state in the stream."""

    id: str
    name: str
    pieces: list[str] | None = None  # of its input, if it is streamed
    input: Any = UNSET
    metadata: JsonObject | None = None
    fields: JsonObject = {}  # those of `MEMBERS`
    approval_id: str | None = None
    has_ended: bool = False
    message: int = 0  # the number of its message


class Calls:
    """The calls of a sequence of messages."""

    def __init__(self, output: Output, feed_child: FeedChild, interrupt_child: Callable[[str], None]) -> None:
        self._output, self._feed_child, self._interrupt_child = output, feed_child, interrupt_child
        self._calls: dict[str, Call] = {}
        self._steps: dict[str, Call] = {}  # the last call of each step of a workflow
        self._last_step: Call | None = None
        self._step_count = 0
        self.handlers: Mapping[str, Handler] = {
            "tool-call-input-streaming-start": self._input_start,
            "tool-call-delta": self._input_delta,
            "tool-call-input-streaming-end": self._input_end,
            "tool-call": self._call,
            "tool-call-approval": self._request,
            "tool-call-suspended": self._request,
            "tool-output": self._child_event,
            "tool-output-denied": self._denial,
            "tool-result": self._result,
            "tool-error": self._error,
            "background-task-suspended": self._task_request,
            "background-task-completed": self._task_result,
            "background-task-failed": self._task_error,
            "background-task-cancelled": self._task_end,
            "workflow-step-start": self._step_start,
            "workflow-step-output": self._step_output,
            "workflow-step-result": self._step_result,
            "workflow-step-suspended": self._step_request,
        }

    def _find(self, call_id: Json) -> Call | None:
        return self._calls.get(call_id) if isinstance(call_id, str) else None

    # Inputs

    def _input_start(self, event: Event) -> bool:
        id_, name = event.get("toolCallId"), event.get("toolName")
        if not isinstance(id_, str) or not isinstance(name, str):
            return False
        _take_names(event, id_, name)
        fields = _take_fields(event, {})
        self._start(Call(id_, name, [], metadata=event.take_metadata(), fields=fields))
        return True

    def _start(self, call: Call) -> None:
        self._calls[call.id] = call
        self._output.emit(ToolInputStart(call.id, call.name, provider_metadata=call.metadata, **call.fields))
        call.message = self._output.count

    def _input_delta(self, event: Event) -> bool:
        id_, delta, name = event.get("toolCallId"), event.get("argsTextDelta"), event.get("toolName")
        if not isinstance(id_, str) or not isinstance(delta, str):
            return False
        call = self._find(id_)
        if call is None or call.pieces is None:
            call = Call(id_, name if isinstance(name, str) else UNNAMED, [])
            self._start(call)
        assert call.pieces is not None, "its input is streamed"
        call.pieces.append(delta)
        _take_names(event, id_, call.name)
        event.drop({"argsTextDelta": delta})
        self._output.emit(ToolInputDelta(id_, delta))
        return True

    def _input_end(self, event: Event) -> bool:
        """End the input, if it is JSON. A `tool-call` does not always follow."""
        call = self._find(event.get("toolCallId"))
        if call is None or call.pieces is None:
            return False
        _take_names(event, call.id, call.name)
        input_ = _parsed(call.pieces)
        if input_ is not UNSET:
            self._set_input(call, input_)
        return True

    def _call(self, event: Event) -> bool:
        id_, name = event.get("toolCallId"), event.get("toolName")
        if not isinstance(id_, str) or not isinstance(name, str):
            return False
        _take_names(event, id_, name)
        call = self._find(id_)
        if call is None or call.has_ended:
            call = self._calls[id_] = Call(id_, name)
        call.name = name
        input_ = event.rest.pop("args", UNSET)
        metadata = event.take_metadata()
        call.metadata = call.metadata if metadata is None else metadata
        if call.pieces is not None and input_ is UNSET:
            input_ = _parsed(call.pieces)
        call.fields = _take_fields(
            event, call.fields if call.pieces is None else {"dynamic": False, **call.fields}
        )
        self._set_input(call, input_)
        return True

    def _set_input(self, call: Call, input_: Json) -> None:
        """Set the input. Its text is kept if JSON would write it differently."""
        self._output.ensure()
        call.message = self._output.count
        call.input = input_
        text = "".join(call.pieces or ())
        if text and (input_ is UNSET or dumps(input_).decode() != text):
            call.metadata = add_notes(call.metadata, NAMESPACE, {RAW_INPUT: text})
        self._output.emit(
            ToolInputAvailable(call.id, call.name, input_, provider_metadata=call.metadata, **call.fields)
        )

    def _known(self, event: Event) -> Call | None:
        """Return the call of an event, after starting it if necessary; `None` if the event has no call."""
        id_, name, args = event.get("toolCallId"), event.get("toolName"), event.get("args")
        if not isinstance(id_, str):
            return None
        call = self._find(id_)
        if call is None:
            if not isinstance(name, str):
                return None
            call = self._calls[id_] = Call(id_, name)
            self._set_input(call, event.rest.pop("args", UNSET))
        elif call.input is UNSET and "args" in event.rest:
            self._set_input(call, event.rest.pop("args"))
        _take_names(event, id_, call.name)
        if call.input is not UNSET and same_json(args, call.input):
            event.drop({"args": args})
        return call

    # Approvals

    def _request(self, event: Event) -> bool:
        """Emit the approval request of a call: a user allows it, or supplies missing data."""
        call = self._known(event)
        return call is not None and self._request_approval(
            call, event, is_suspended=event.type == "tool-call-suspended"
        )

    def _task_request(self, event: Event) -> bool:
        call = self._running_task(event)
        return call is not None and self._request_approval(call, event, is_suspended=True)

    def _request_approval(self, call: Call, event: Event, *, is_suspended: bool) -> bool:
        run_id = event.envelope.get("runId")
        call.approval_id = f"{run_id}::{call.id}" if isinstance(run_id, str) else call.id
        shown: JsonObject = {key: event.rest.pop(key) for key in SHOWN if key in event.rest}
        if is_suspended:
            shown = {"type": "suspension", **shown}
        metadata = event.take_metadata()
        if metadata is not None:
            shown["metadata"] = metadata
        self._output.emit(ToolApprovalRequest(call.approval_id, call.id, shown or UNSET))
        return True

    def _denial(self, event: Event) -> bool:
        call = self._known(event)
        if call is None:
            return False
        reason: str | None = None
        match event.get("approval"):
            case {"id": str(id_), "approved": False, **rest}:
                del event.rest["approval"]
                reason = rest.pop("reason") if isinstance(rest.get("reason"), str) else None
                if call.approval_id != id_:
                    self._output.emit(ToolApprovalRequest(id_, call.id))
                self._output.emit(ToolApprovalResponse(id_, False, reason))
                event.rest |= {"approval": rest} if rest else {}
            case _:
                pass
        call.has_ended = True
        self._output.emit(ToolOutputChunk(call.id, ExecutionDeniedOutput(reason)))
        return True

    # Outputs

    def _result(self, event: Event) -> bool:
        call = self._known(event)
        if call is None:
            return False
        output = event.rest.pop("result", UNSET)
        return self._end(call, output, event, is_error=bool(event.take("isError", bool)))

    def _error(self, event: Event) -> bool:
        call = self._known(event) if "error" in event.rest else None
        return call is not None and self._end(call, event.rest.pop("error"), event, is_error=True)

    def _task_result(self, event: Event) -> bool:
        call = self._running_task(event) if "result" in event.rest else None
        return call is not None and self._end(call, event.rest.pop("result"), event)

    def _task_error(self, event: Event) -> bool:
        """End a background task that failed, and the sub-agent of its call."""
        call = self._running_task(event) if "error" in event.rest else None
        if call is None:
            return False
        self._interrupt_child(call.id)
        return self._end(call, event.rest.pop("error"), event, is_error=True)

    def _task_end(self, event: Event) -> bool:
        """End a background task that was cancelled."""
        call = self._running_task(event)
        if call is None:
            return False
        self._interrupt_child(call.id)
        self._interrupt(call)
        return True

    def _running_task(self, event: Event) -> Call | None:
        """Return the call of a background task, unless it has its output."""
        call = self._find(event.get("toolCallId"))
        return None if call is None or call.has_ended else self._known(event)

    def interrupt(self) -> None:
        """End the calls of the message that have no output and do not wait for a client."""
        for call in self._calls.values():
            if not call.has_ended and call.approval_id is None and call.message == self._output.count:
                self._interrupt(call)

    def _interrupt(self, call: Call) -> None:
        call.has_ended = True
        self._output.emit(ToolOutputChunk(call.id, InterruptedOutput("aborted")))

    def _end(self, call: Call, output: Json, event: Event, *, is_error: bool = False) -> bool:
        """Set the output of a call, or a preliminary one."""
        executed = event.take("providerExecuted", bool)
        metadata = event.take_metadata()
        preliminary = event.take("preliminary", bool)
        event.drop({"dynamic": True})
        call.has_ended = not preliminary
        if is_error:
            failed = read_tool_text("failed", None if output is UNSET else output)
            chunk: Any = ToolOutputChunk(call.id, failed, executed, metadata, preliminary=preliminary)
        else:
            chunk = ToolOutputAvailable(call.id, output, executed, metadata, preliminary=preliminary)
        self._output.emit(chunk)
        return True

    def _child_event(self, event: Event) -> bool:
        """Decode an event of the sub-agent or the workflow of a call."""
        call = self._find(event.get("toolCallId"))
        if call is None or not self._feed(call, event):
            return False
        _take_names(event, call.id, call.name)
        return True

    def _feed(self, call: Call, event: Event) -> bool:
        if not self._feed_child(call.id, event.get("output"), f"{event.where}.payload.output"):
            return False
        del event.rest["output"]
        return True

    # Steps of workflows

    def _step_start(self, event: Event) -> bool:
        return isinstance(event.get("id"), str) and self._begin_step(event) is not None

    def _begin_step(self, event: Event) -> Call:
        name, id_ = event.get("id"), event.get("stepCallId")
        self._step_count += 1
        id_ = id_ if isinstance(id_, str) else name
        if self._find(id_) is not None:
            id_ = f"{id_}:{self._step_count}"
        call = self._calls[id_] = Call(id_, name, fields={"dynamic": True})
        self._set_input(call, event.rest.pop("payload", UNSET))
        self._steps[name] = self._last_step = call
        _take_step_names(event, call)
        return call

    def _step(self, event: Event) -> Call | None:
        """Return the call of the step of an event, after starting the step if necessary."""
        name = event.get("id")
        if not isinstance(name, str):
            return None
        call = self._find(event.get("stepCallId")) or self._steps.get(name)
        if call is None or call.has_ended or call.name != name:
            return self._begin_step(event)
        _take_step_names(event, call)
        return call

    def _step_output(self, event: Event) -> bool:
        """Decode an event of an agent that runs in a step."""
        id_ = event.get("stepCallId") or event.get("id") or event.get("stepId")
        call = self._find(id_) or self._steps.get(str(id_)) or self._last_step
        if call is None or not self._feed(call, event):
            return False
        _take_step_names(event, call)
        event.drop({"stepId": call.name})
        return True

    def _step_result(self, event: Event) -> bool:
        call = self._step(event)
        if call is None:
            return False
        is_error = event.get("status") in FAILED
        name = "error" if is_error and "error" in event.rest else "output"
        return self._end(call, event.rest.pop(name, UNSET), event, is_error=is_error)

    def _step_request(self, event: Event) -> bool:
        call = self._step(event)
        return call is not None and self._request_approval(call, event, is_suspended=True)


def _take_names(event: Event, id_: str, name: str) -> None:
    event.drop({"toolCallId": id_, "toolName": name})
    event.subject = {"toolCallId": id_}


def _take_step_names(event: Event, call: Call) -> None:
    event.drop({"id": call.name, "stepName": call.name, "stepCallId": call.id})
    event.subject = {"stepCallId": call.id}


def _take_fields(event: Event, before: JsonObject) -> JsonObject:
    """Return the fields of a call besides its input, including earlier ones, which do not change."""
    fields = dict(before)
    for name, (field, kind) in MEMBERS.items():
        value = event.get(name)
        if isinstance(value, kind) and fields.get(field, value) == value:
            fields[field] = event.take(name, kind)
    return fields


def _parsed(pieces: list[str]) -> Json:
    """Return the value of an input, or unset if its text is not JSON."""
    text = "".join(pieces)
    return read_arguments(text)[0] if text.strip() else {}
