"""Events of a network → chunks: each run of an agent, a workflow or a tool is a message with its execution.

The messages of the run are nested under the execution. Each turn of the router is a separate message: a data
part with its input and its decision, and its response, if there is one. Chunk types:
packages/core/src/stream/types.ts in https://github.com/mastra-ai/mastra
"""

from collections.abc import Mapping
from typing import Any, Final

from msgspec import UNSET

from partita.errors import DecodeError
from partita.types.chunks import DataChunk, NetworkExecutionEnd, NetworkExecutionStart
from partita.types.json import Json, JsonObject, dumps, is_object, loads
from partita.types.messages import NetworkResult, PrimitiveType, network_call_id
from partita.types.value import Extra

from .agent_stream import AgentStream, is_event, usage_of
from .network import ROUTING
from .network_payload import PRIMITIVES
from .stream_calls import Handler
from .stream_output import COMMON_MEMBERS, Event

ROUTER_INPUT: Final = "asked"
"""The member of a decision with the input of the router."""

ROUTER: Final = "routing"
FINISH: Final = "network-execution-event-finish"
STEP_FINISH: Final = "network-execution-event-step-finish"
INNER: Final = "-execution-event-"
"""The separator in the type of a nested event, between the primitive and the type of the inner event."""


class NetworkStream:
    """Decodes the events of the network itself. `AgentStream` decodes all others."""

    def __init__(self, stream: AgentStream) -> None:
        self._output = stream.output
        self._run: AgentStream | None = None
        self._known: JsonObject = {}  # the members of the start event of the run
        self._router_input: JsonObject | None = None
        self._routing = ""  # the id of the router's turn
        self._is_run = False  # whether the current message is a run
        self._has_response = False
        self._handlers: Mapping[str, Handler] = {
            "routing-agent-start": self._start_routing,
            "routing-agent-end": self._end_routing,
            "routing-agent-text-start": self._text_start,
            "routing-agent-text-delta": self._text,
            **{f"{name}-execution-start": self._start for name in PRIMITIVES},
            **{f"{name}-execution-end": self._end for name in PRIMITIVES},
            FINISH: self._finish,
            STEP_FINISH: lambda event: True,
        }

    def feed(self, raw: JsonObject, where: str) -> bool:
        """Decode an event. Returns whether it is an event of the network."""
        type_: str = raw["type"]
        is_inner = type_.partition(INNER)[0] in PRIMITIVES
        handler = self._handlers.get(type_) or (self._inner_event if is_inner else None)
        if handler is None or not is_object(raw.get("payload")):
            return False
        event = Event(raw, where)
        self._output.next_envelope = {key: raw[key] for key in COMMON_MEMBERS if key in raw}
        if not handler(event):
            return False
        self._output.keep_rest(event)
        return True

    def close(self) -> None:
        """End the run."""
        if self._run is not None:
            self._run.close()
            self._run = None

    def _begin(self, message_id: Json) -> None:
        self.close()
        self._is_run = self._has_response = False
        self._output.begin(message_id if isinstance(message_id, str) else None)

    # The router

    def _begin_router_message(self, run_id: Json, router_input: JsonObject | None) -> None:
        self._begin(run_id)
        self._routing = run_id if isinstance(run_id, str) and run_id else ROUTER
        self._router_input = router_input

    def _start_routing(self, event: Event) -> bool:
        self._begin_router_message(event.get("runId"), event.rest)
        self._output.emit(DataChunk(f"data-{ROUTING}", {ROUTER_INPUT: event.rest}, self._routing))
        event.rest = {}
        return True

    def _end_routing(self, event: Event) -> bool:
        run_id = event.get("runId")
        if self._router_input is None or (run_id or ROUTER) != self._routing:
            self._begin_router_message(run_id, None)
        decision, router_input = (
            dict(event.rest),
            {} if self._router_input is None else {ROUTER_INPUT: self._router_input},
        )
        self._output.emit(DataChunk(f"data-{ROUTING}", {**decision, **router_input}, self._routing))
        result = decision.get("result")
        if decision.get("primitiveType") == "none" and isinstance(result, str) and not self._has_response:
            self._add_response(result)
        self._output.end("text", self._routing)
        self._count(event)
        event.rest, self._router_input = {}, None
        return True

    def _text_start(self, event: Event) -> bool:
        """Handle the start of a text. Often no delta follows."""
        event.drop({"runId": self._routing})
        return True

    def _text(self, event: Event) -> bool:
        delta = event.get("text")
        if not isinstance(delta, str):
            return False
        if self._is_run:
            self._begin_router_message(event.get("runId"), None)
        self._has_response = True
        self._output.append("text", self._routing or ROUTER, delta)
        event.drop({"text": delta, "runId": self._routing})
        return True

    def _add_response(self, text: str) -> None:
        """Emit a response of the router that was not streamed."""
        if text:
            self._has_response = True
            self._output.append("text", self._routing, text)

    def _finish(self, event: Event) -> bool:
        self.close()
        self._output.finish("stop")
        return True

    # Runs of primitives

    def _start(self, event: Event) -> bool:
        type_ = _primitive(event.type)
        args = event.get("args")
        known: JsonObject = args if is_object(args) else {}
        names = (known.get("primitiveId"), known.get("toolName"), event.get(f"{type_}Id"), event.get("name"))
        id_ = next((name for name in names if isinstance(name, str) and name), "")
        run_id = known.get("toolCallId") if type_ == "tool" else event.get("runId")
        self._begin(run_id if isinstance(run_id, str) and run_id else f"network-{len(self._output.sink)}")
        message_id = self._output.message_id
        assert message_id is not None, "a message has begun"
        reason, iteration = known.get("selectionReason"), known.get("iteration")
        input_, read = _input(type_, known)
        self._output.emit(
            NetworkExecutionStart(
                type_,
                id_,
                reason if isinstance(reason, str) else None,
                input_,
                iteration + 1 if type(iteration) is int else None,  # the first one is 0 in the event
            )
        )
        self._known = {**known, **event.rest}
        self._run = AgentStream(self._output.sink, self._output.losses, (network_call_id(message_id),))
        self._is_run = True
        event.drop({"runId": message_id, "agentId": id_, "workflowId": id_, "name": id_})
        repeated = {"primitiveId": id_, "primitiveType": type_, "toolName": id_, "toolCallId": message_id}
        is_read = {"selectionReason": isinstance(reason, str), "iteration": type(iteration) is int}
        read |= {name for name in is_read if is_read[name]}
        inner = Event({"type": event.type, "payload": known}, event.where)
        inner.drop({**repeated, **{name: known[name] for name in read}})
        if known:
            event.rest.pop("args")
            event.rest |= {"args": inner.rest} if inner.rest else {}
        return True

    def _inner_event(self, event: Event) -> bool:
        """Decode a nested event. The type of the outer event repeats that of the inner one."""
        if self._run is None or not is_event(event.payload):
            return False
        self._run.feed(event.payload, f"{event.where}.payload")  # type: ignore[arg-type] # an object, as it is an event
        event.rest = {}
        if event.type.partition(INNER)[2] != event.payload["type"]:  # type: ignore[index] # likewise
            event.envelope["type"] = event.type
        return True

    def _end(self, event: Event) -> bool:
        if self._run is None:
            return False
        self.close()
        event.drop({key: item for key, item in self._known.items() if key != "result"})
        result = event.rest.pop("result", UNSET)
        call_id = self._known.get("toolCallId")
        extra = Extra({"toolCallId": call_id}) if isinstance(call_id, str) else None
        is_text = isinstance(result, str) and event.type == "agent-execution-end"
        final = NetworkResult(result, extra=extra) if is_text else NetworkResult(value=result, extra=extra)
        self._output.emit(NetworkExecutionEnd(final))
        self._count(event)
        return True

    def _count(self, event: Event) -> None:
        usage = event.take("usage", dict)
        if usage is not None:
            self._output.finish(None, usage=usage_of(usage))


def _primitive(type_: str) -> PrimitiveType:
    name = type_.partition("-execution-")[0]
    return next(primitive for primitive in PRIMITIVES if primitive == name)


def _input(type_: PrimitiveType, known: JsonObject) -> tuple[Any, frozenset[str]]:
    """Return the input of a run, and the members that only repeat it. The router writes it as JSON text."""
    prompt = known.get("prompt", UNSET)
    if type_ == "tool" and "args" in known:
        given = known["args"]
        is_repeated = isinstance(prompt, str) and dumps(given).decode() == prompt
        return given, frozenset({"args", "prompt"} if is_repeated else {"args"})
    if prompt is UNSET:
        return UNSET, frozenset()
    if type_ == "workflow" and isinstance(prompt, str):
        try:
            value = loads(prompt)
        except DecodeError:
            return prompt, frozenset({"prompt"})
        if is_object(value):
            is_exact = dumps(value).decode() == prompt
            return value, frozenset({"prompt"} if is_exact else ())
    return prompt, frozenset({"prompt"})
