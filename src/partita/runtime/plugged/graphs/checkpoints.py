"""Which checkpoint of a graph a branch of a conversation continues.

The run of each answer records the checkpoint that the graph ended with, a digest of the messages before the
answer, and what the answer consists of. A later turn looks for the newest answer of its branch whose record
still describes the branch, and continues from that checkpoint with the messages behind it. So edited, deleted
and regenerated messages, and answers of other agents, reach the graph as the store has them, and the other
channels of its state are those of the same moment.
"""

import hashlib
from collections.abc import Sequence
from contextlib import aclosing
from typing import Any, Final, NamedTuple

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from partita.runtime.agent.calls import OPEN
from partita.runtime.plugged.agent_request import AgentRequest
from partita.runtime.plugged.jsonable import as_json
from partita.runtime.plugged.run_results import earlier_runs
from partita.store.ids import new_id
from partita.types.chunks import (
    Chunk,
    TextDelta,
    TextStart,
    ToolInputAvailable,
    ToolInputError,
    ToolOutputAvailable,
    ToolOutputChunk,
    ToolOutputDenied,
    ToolOutputError,
)
from partita.types.json import Json, JsonObject, dumps, is_object
from partita.types.messages import AssistantMessage, Message, ToolCallPart, text_of

from .graph import Graph, Snapshot
from .history import history_of
from .interrupts import NAMESPACE, interrupt_id, thread_of

MESSAGES: Final = "messages"

OUTPUTS: Final = (ToolOutputAvailable, ToolOutputChunk, ToolOutputDenied, ToolOutputError)


class Start(NamedTuple):
    """Where a turn of a graph begins."""

    thread_id: str
    """The graph's own thread: no other owner's conversation has it."""
    news: list[BaseMessage]
    """The messages to add to the state."""
    checkpoint_id: str | None = None
    """The checkpoint to continue from; `None` is the latest of the thread."""
    state: Snapshot | None = None
    """The state that the message to continue was left with, if the turn continues one."""
    result: JsonObject | None = None
    """What the run of that message recorded."""


class Record:
    """Collects what an answer consists of, to recognize it later."""

    def __init__(self, request: AgentRequest) -> None:
        seed = request.continued
        self._before = digest(request.messages if seed is None else request.messages[:-1])
        # By block, for several models may write at once.
        self._texts = {"": "" if seed is None else text_of(seed)}
        calls = [part for part in (() if seed is None else seed.parts) if isinstance(part, ToolCallPart)]
        self._calls = {call.id: call.state in OPEN and interrupt_id(call) is None for call in calls}

    def add(self, chunk: Chunk) -> None:
        """Add a chunk of the answer."""
        match chunk:
            case TextStart(id=block):
                self._texts[block] = ""
            case TextDelta(id=block, delta=text):
                self._texts[block] += text
            case ToolInputAvailable(tool_call_id=id):
                self._calls[id] = NAMESPACE not in (chunk.provider_metadata or {})
            case ToolInputError(tool_call_id=id):
                self._calls[id] = False
            case _ if isinstance(chunk, OUTPUTS):
                self._calls[chunk.tool_call_id] = False
            case _:
                pass

    @property
    def open_calls(self) -> list[str]:
        """The calls without an output. Interrupts are not among them."""
        return [call for call, is_open in self._calls.items() if is_open]

    def result(self, thread_id: str, checkpoint_id: str) -> JsonObject:
        """What the run records once the graph has ended with a checkpoint."""
        content = _hash(["".join(self._texts.values()), sorted(self._calls)])
        kept = {"thread": thread_id, "checkpoint": checkpoint_id, "before": self._before, "answer": content}
        return {NAMESPACE: kept}


async def find_start(graph: Graph, request: AgentRequest, agent: str) -> Start:
    """Where the graph begins: behind what it knows of the branch, or with all messages in a new thread."""
    key = request.conversation_key or new_id()
    messages = request.messages
    asked = thread_of(request.continued)
    async with aclosing(earlier_runs(request, agent)) as runs:
        async for place, answer, result in runs:
            known: Json = result.get(NAMESPACE)
            if not is_object(known) or not str(known.get("thread")).startswith(key):
                continue
            if known["thread"] == asked:
                asked = None  # its record counts
            if known.get("before") != digest(messages[:place]) or known.get("answer") != _content(answer):
                continue
            state = await _state(graph, known["thread"], known["checkpoint"])
            if state is None:
                continue
            latest = await _state(graph, known["thread"])
            is_latest = latest is not None and checkpoint_of(latest) == known["checkpoint"]
            continued = place == len(messages) - 1
            return Start(
                known["thread"],
                [*_outputs(messages[: place + 1], state), *history_of(messages[place + 1 :])],
                None if is_latest else known["checkpoint"],
                state if continued else None,
                result if continued else None,
            )
    if asked is not None and asked.startswith(key):
        # A member of a network: its answer stands within the message of another agent's run.
        return Start(asked, [], state=await _state(graph, asked))
    return await _fresh(graph, request, key)


async def _fresh(graph: Graph, request: AgentRequest, key: str) -> Start:
    """All messages, in a thread of the graph whose state has none."""
    history = history_of(request.messages)
    state = await _state(graph, key)
    is_used = state is not None and state.values.get(MESSAGES)
    return Start(f"{key}:{new_id()}" if is_used else key, history)


async def _state(graph: Graph, thread_id: str, checkpoint_id: str | None = None) -> Snapshot | None:
    """A state of a thread, if the checkpointer has it."""
    place: JsonObject = {"thread_id": thread_id}
    if checkpoint_id is not None:
        place["checkpoint_id"] = checkpoint_id
    state = await graph.aget_state({"configurable": place})
    return state if state.metadata is not None and is_object(state.values) else None


def checkpoint_of(state: Snapshot) -> str:
    """The id of the checkpoint that a state is of."""
    return str(state.config["configurable"]["checkpoint_id"])


def _outputs(messages: Sequence[Message], state: Snapshot) -> list[BaseMessage]:
    """The outputs that the calls of an answer got after the graph had ended."""
    known: list[BaseMessage] = state.values.get(MESSAGES) or []
    made = {call["id"] for one in known if isinstance(one, AIMessage) for call in one.tool_calls}
    open_calls = made - {one.tool_call_id for one in known if isinstance(one, ToolMessage)}
    history = history_of(messages)
    return [one for one in history if isinstance(one, ToolMessage) and one.tool_call_id in open_calls]


def digest(messages: Sequence[Message]) -> str:
    """A digest of what a model sees of messages."""
    return _hash([_seen(message) for message in history_of(messages)])


def _seen(message: BaseMessage) -> Json:
    more = getattr(message, "tool_calls", None) or getattr(message, "tool_call_id", None)
    return [message.type, as_json(message.content), as_json(more)]


def _content(answer: AssistantMessage) -> str:
    calls = [part.id for part in answer.parts if isinstance(part, ToolCallPart)]
    return _hash([text_of(answer), sorted(calls)])


def _hash(value: Any) -> str:
    return hashlib.sha256(dumps(value)).hexdigest()
