"""A network in a stream: each run of an agent, a workflow or a tool is a message with its network execution.

What it says stands under the execution. The router's turns are messages of their own: a data part with what
it was asked and what it decided, and the answer if it gives one.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias, get_args

from msgspec import UNSET, Struct

from partita.errors import DecodeError
from partita.formats.mastra.network import ROUTING
from partita.types.chunks import DataChunk, NetworkExecutionEnd, NetworkExecutionStart
from partita.types.json import Json, JsonObject, dumps, is_object, loads
from partita.types.messages import NetworkResult, PrimitiveType, network_call
from partita.types.value import Extra

from .consumption import usage_of
from .said import Said, is_chunk
from .speaker import AROUND, Speaker

Handler: TypeAlias = Callable[[Said], bool]

PRIMITIVES: Final[tuple[PrimitiveType, ...]] = get_args(PrimitiveType)
ASKED: Final = "asked"
"""The member of a decision that holds what the router was asked."""

ROUTER: Final = "routing"
FINISHES: Final = ("network-execution-event-step-finish", "network-execution-event-finish")


class Running(Struct):
    """What the network runs now."""

    known: JsonObject
    speaker: Speaker


class Network:
    """The network's own chunks. All others are left to whoever speaks."""

    def __init__(self, speaker: Speaker) -> None:
        self._speaker = speaker
        self._voice = speaker.voice
        self._running: Running | None = None
        self._asked: JsonObject | None = None
        self._routing = ""  # the id of the router's turn
        self._has_run = False  # whether the message at hand is a run
        self._has_answer = False
        self._handlers: Mapping[str, Handler] = {
            "routing-agent-start": self._ask,
            "routing-agent-end": self._decide,
            "routing-agent-text-start": self._text_start,
            "routing-agent-text-delta": self._text,
            **{f"{name}-execution-start": self._start for name in PRIMITIVES},
            **{f"{name}-execution-end": self._end for name in PRIMITIVES},
            **dict.fromkeys(FINISHES, self._finish),
        }

    @property
    def types(self) -> frozenset[str]:
        """The types of chunks that have a place of their own."""
        return frozenset(self._handlers)

    def feed(self, event: JsonObject, where: str) -> bool:
        """Say what a chunk of the network says; whether it is one."""
        type_: str = event["type"]
        primitive = type_.partition("-execution-event-")[0]
        handler = self._handlers.get(type_) or (self._event if primitive in PRIMITIVES else None)
        if handler is None or not is_object(event.get("payload")):
            return False
        said = Said(event, where)
        self._voice.next_around = {key: event[key] for key in AROUND if key in event}
        if not handler(said):
            return False
        self._voice.aside(said)
        return True

    def close(self) -> None:
        """Nothing more is said of what runs."""
        if self._running is not None:
            self._running.speaker.close()
            self._running = None

    def _begin(self, message_id: str | None) -> None:
        self.close()
        self._has_run = self._has_answer = False
        self._voice.begin(message_id, self._voice.next_around)

    # The router

    def _ask(self, said: Said) -> bool:
        run_id = said.get("runId")
        self._begin(run_id if isinstance(run_id, str) else None)
        self._routing, self._asked = _name(run_id), dict(said.rest)
        self._voice.emit(DataChunk(f"data-{ROUTING}", {ASKED: self._asked}, self._routing))
        said.rest = {}
        return True

    def _decide(self, said: Said) -> bool:
        run_id = said.get("runId")
        if self._asked is None or _name(run_id) != self._routing:
            self._begin(run_id if isinstance(run_id, str) else None)
            self._routing, self._asked = _name(run_id), None
        decision, asked = dict(said.rest), {} if self._asked is None else {ASKED: self._asked}
        self._voice.emit(DataChunk(f"data-{ROUTING}", {**decision, **asked}, self._routing))
        result = decision.get("result")
        if (
            decision.get("primitiveType") == "none"
            and isinstance(result, str)
            and result
            and not self._has_answer
        ):
            self._say(result)
        self._voice.end("text", self._routing)
        self._count(said)
        said.rest, self._asked = {}, None
        return True

    def _text_start(self, said: Said) -> bool:
        """A text is said to begin. Often none comes."""
        said.drop({"runId": self._routing})
        return True

    def _text(self, said: Said) -> bool:
        delta = said.get("text")
        if not isinstance(delta, str):
            return False
        run_id = said.get("runId")
        if self._has_run:
            self._begin(run_id if isinstance(run_id, str) else None)
            self._routing, self._asked = _name(run_id), None
        self._say(delta)
        said.drop({"text": delta, "runId": self._routing})
        return True

    def _say(self, delta: str) -> None:
        self._has_answer = True
        self._voice.grow("text", self._routing or ROUTER, delta, None)

    def _finish(self, said: Said) -> bool:
        """The network has come to its end, or to that of a step. What it says is put aside."""
        if said.type == FINISHES[-1]:
            self.close()
            self._voice.finish("stop")
        return True

    # What it chose

    def _start(self, said: Said) -> bool:
        type_ = _primitive(said.type)
        args = said.get("args")
        known: JsonObject = args if is_object(args) else {}
        id_ = _first(known.get("primitiveId"), known.get("toolName"), *map(said.get, (f"{type_}Id", "name")))
        run_id = known.get("toolCallId") if type_ == "tool" else said.get("runId")
        message_id = run_id if isinstance(run_id, str) else None
        self._begin(message_id or f"network-{len(self._voice.sink)}")
        assert self._voice.message_id is not None, "it was given"
        reason, iteration = known.get("selectionReason"), known.get("iteration")
        input_, taken = _input(type_, known)
        self._voice.emit(
            NetworkExecutionStart(
                type_,
                id_,
                reason if isinstance(reason, str) else None,
                input_,
                iteration + 1 if type(iteration) is int else None,  # its first one is 0
            )
        )
        path = (network_call(self._voice.message_id),)
        self._running = Running({**known, **said.rest}, Speaker(self._voice.sink, self._voice.losses, path))
        self._has_run = True
        self._take_names(said, known, id_, taken)
        return True

    def _take_names(self, said: Said, known: JsonObject, id_: str, taken: frozenset[str]) -> None:
        """Leave out of a start what the message says: its own id, what was chosen, why, and the input."""
        said.drop({"runId": self._voice.message_id, "agentId": id_, "workflowId": id_, "name": id_})
        told: JsonObject = {"primitiveId": id_, "primitiveType": _primitive(said.type), "toolName": id_}
        told["toolCallId"] = self._voice.message_id
        told |= {key: known[key] for key in taken}
        told |= (
            {"selectionReason": known["selectionReason"]}
            if isinstance(known.get("selectionReason"), str)
            else {}
        )
        told |= {"iteration": known["iteration"]} if type(known.get("iteration")) is int else {}
        inner = Said({"type": said.type, "payload": known}, said.where)
        inner.drop(told)
        if known:
            said.rest.pop("args")
            said.rest |= {"args": inner.rest} if inner.rest else {}

    def _event(self, said: Said) -> bool:
        """A chunk of what runs, in an envelope that repeats its type."""
        if self._running is None or not is_chunk(said.payload):
            return False
        inner = said.type.partition("-execution-event-")[2]
        self._running.speaker.feed(said.payload, f"{said.where}.payload")
        said.rest = {}
        if inner != said.payload["type"]:
            said.around["type"] = said.type
        return True

    def _end(self, said: Said) -> bool:
        if self._running is None:
            return False
        known = self._running.known
        self.close()
        said.drop({key: item for key, item in known.items() if key != "result"})
        result = said.rest.pop("result", UNSET)
        call_id = known.get("toolCallId")
        extra = Extra({"toolCallId": call_id}) if isinstance(call_id, str) else None
        if isinstance(result, str) and said.type == "agent-execution-end":
            final = NetworkResult(result, extra=extra)
        else:
            final = NetworkResult(value=result, extra=extra)
        self._voice.emit(NetworkExecutionEnd(final))
        self._count(said)
        return True

    def _count(self, said: Said) -> None:
        usage = said.take_object("usage")
        if usage is not None:
            self._voice.finish(None, usage=usage_of(usage))


def _name(run_id: Json) -> str:
    return run_id if isinstance(run_id, str) and run_id else ROUTER


def _primitive(type_: str) -> PrimitiveType:
    stated = type_.partition("-execution-")[0]
    for primitive in PRIMITIVES:
        if primitive == stated:
            return primitive
    return "agent"


def _first(*names: Json) -> str:
    return next((name for name in names if isinstance(name, str) and name), "")


def _input(type_: PrimitiveType, known: JsonObject) -> tuple[Any, frozenset[str]]:
    """What was handed over, and the members that say it. The router writes down inputs as JSON."""
    prompt = known.get("prompt", UNSET)
    if type_ == "tool" and "args" in known:
        given = known["args"]
        repeats = isinstance(prompt, str) and dumps(given).decode() == prompt
        return given, frozenset({"args", "prompt"} if repeats else {"args"})
    if prompt is UNSET:
        return UNSET, frozenset()
    if type_ == "workflow" and isinstance(prompt, str):
        try:
            value = loads(prompt)
        except DecodeError:
            return prompt, frozenset({"prompt"})
        is_exact = is_object(value) and dumps(value).decode() == prompt
        return value if is_object(value) else prompt, frozenset(
            {"prompt"} if is_exact or not is_object(value) else ()
        )
    return prompt, frozenset({"prompt"})
