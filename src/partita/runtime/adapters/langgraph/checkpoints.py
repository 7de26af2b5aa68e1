"""Finds the checkpoint of a graph that a branch of a conversation continues.

The run of each response records the checkpoint that the graph ended with, a digest of the messages before the
response, and a digest of the response. A later turn finds the newest response of its branch whose record
still matches the branch, and continues from that checkpoint with the messages after it. So edited, deleted
and regenerated messages, and responses of other agents, reach the graph as the store has them, and the other
channels of its state belong to the same point in time.
"""

import hashlib
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Final, NamedTuple, Protocol

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage, messages_from_dict
from msgspec.structs import replace

from partita.formats.langchain.format import dump
from partita.formats.model_view import repair_calls
from partita.runtime.adapters.agent_request import AgentRequest
from partita.runtime.adapters.frameworks import as_json, calls_in, earlier_runs
from partita.runtime.agent.calls import OPEN_STATES
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
from partita.types.messages import AssistantMessage, AssistantPart, Message, ToolCallPart, text_of

from .interrupts import NAMESPACE, interrupt_id, thread_of

# The history, as the format `langchain-v0` writes it: version 0, because the chat models of all integrations
# accept it. Text is a string, calls are a member of their own, and reasoning is in the form of its provider.
# Interrupts, and calls that a provider ran, are not sent.


def history_of(messages: Sequence[Message]) -> list[BaseMessage]:
    """The messages as a history in which every call has a result."""
    repaired = repair_calls(list(map(_sent, messages))).messages
    return messages_from_dict(dump(repaired, version=0).payload)


def _sent(message: Message) -> Message:
    if not isinstance(message, AssistantMessage):
        return message
    kept = tuple(part for part in message.parts if _is_sent(part))
    return replace(message, content=replace(message.content, parts=kept))


def _is_sent(part: AssistantPart) -> bool:
    return not isinstance(part, ToolCallPart) or not (part.provider_executed or interrupt_id(part))


# What is used of a compiled graph. The types of the package have parameters that are not known here.


class Snapshot(Protocol):
    """The state of a thread."""

    @property
    def values(self) -> Any:
        """The values of the channels, by name."""
        ...

    @property
    def next(self) -> tuple[str, ...]:
        """The nodes that run next; empty once the graph has ended."""
        ...

    @property
    def interrupts(self) -> tuple[Any, ...]:
        """The open interrupts."""
        ...

    @property
    def config(self) -> Any:
        """The configuration that names the checkpoint."""
        ...

    @property
    def metadata(self) -> Any:
        """The metadata of the checkpoint; `None` if there is no checkpoint."""
        ...


class Graph(Protocol):
    """A compiled graph."""

    name: str
    checkpointer: Any
    channels: Mapping[str, Any]

    def astream(
        self, input: Any, config: Any, *, context: Any, stream_mode: Sequence[str], subgraphs: bool
    ) -> AsyncIterator[tuple[tuple[str, ...], str, Any]]:
        """The events of a run: the path of the subgraph, the stream mode, and the data."""
        ...

    async def aget_state(self, config: Any) -> Snapshot:
        """The state of a thread."""
        ...


MESSAGES: Final = "messages"

OUTPUTS: Final = (ToolOutputAvailable, ToolOutputChunk, ToolOutputDenied, ToolOutputError)


class Start(NamedTuple):
    """Where a turn of a graph starts."""

    thread_id: str
    """The thread of the graph. No other owner's conversation has the same one."""
    new_messages: list[BaseMessage]
    """The messages to add to the state."""
    checkpoint_id: str | None = None
    """The checkpoint to continue from; `None`: the latest of the thread."""
    state: Snapshot | None = None
    """The state of the message that the turn continues, if it continues one."""
    result: JsonObject | None = None
    """What the run of that message recorded."""


class ResponseRecord:
    """Collects the content of a response, to recognize it in a later turn."""

    def __init__(self, request: AgentRequest) -> None:
        seed = request.continued
        self._before = digest(request.messages if seed is None else request.messages[:-1])
        # By block, because several models may stream at once.
        self._texts = {"": "" if seed is None else text_of(seed)}
        self._calls = {
            call.id: call.state in OPEN_STATES and interrupt_id(call) is None for call in calls_in(seed)
        }

    def add(self, chunk: Chunk) -> None:
        """Add a chunk of the response."""
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
        """The calls without an output, except for interrupts."""
        return [call for call, is_open in self._calls.items() if is_open]

    def result(self, thread_id: str, checkpoint_id: str) -> JsonObject:
        """The result of the run, with the checkpoint that the graph ended with."""
        content = _hash(["".join(self._texts.values()), sorted(self._calls)])
        kept = {"thread": thread_id, "checkpoint": checkpoint_id, "before": self._before, "answer": content}
        return {NAMESPACE: kept}


async def find_start(graph: Graph, request: AgentRequest, agent: str) -> Start:
    """Start after what the graph knows of the branch, or with all messages in a new thread."""
    key = request.conversation_key or new_id()
    messages = request.messages
    interrupted = thread_of(request.continued)
    async with aclosing(earlier_runs(request, agent)) as runs:
        async for index, message, result in runs:
            known: Json = result.get(NAMESPACE)
            if not is_object(known) or not str(known.get("thread")).startswith(key):
                continue
            if known["thread"] == interrupted:
                interrupted = None  # the record of the run decides
            if known.get("before") != digest(messages[:index]) or known.get("answer") != _content(message):
                continue
            state = await _state(graph, known["thread"], known["checkpoint"])
            if state is None:
                continue
            latest = await _state(graph, known["thread"])
            is_latest = latest is not None and checkpoint_of(latest) == known["checkpoint"]
            is_continued = index == len(messages) - 1
            return Start(
                known["thread"],
                [*_outputs(messages[: index + 1], state), *history_of(messages[index + 1 :])],
                None if is_latest else known["checkpoint"],
                state if is_continued else None,
                result if is_continued else None,
            )
    if interrupted is not None and interrupted.startswith(key):
        # A member of a network: its response is inside of the message of another agent's run.
        return Start(interrupted, [], state=await _state(graph, interrupted))
    return await _fresh(graph, request, key)


async def _fresh(graph: Graph, request: AgentRequest, key: str) -> Start:
    """All messages, in a thread of the graph that has no messages."""
    history = history_of(request.messages)
    state = await _state(graph, key)
    is_used = state is not None and state.values.get(MESSAGES)
    return Start(f"{key}:{new_id()}" if is_used else key, history)


async def _state(graph: Graph, thread_id: str, checkpoint_id: str | None = None) -> Snapshot | None:
    """A state of a thread, if the checkpointer has it."""
    checkpoint: JsonObject = {"thread_id": thread_id}
    if checkpoint_id is not None:
        checkpoint["checkpoint_id"] = checkpoint_id
    state = await graph.aget_state({"configurable": checkpoint})
    return state if state.metadata is not None and is_object(state.values) else None


def checkpoint_of(state: Snapshot) -> str:
    """The id of the checkpoint of a state."""
    return str(state.config["configurable"]["checkpoint_id"])


def _outputs(messages: Sequence[Message], state: Snapshot) -> list[BaseMessage]:
    """The outputs that the calls of a response received after the graph had ended."""
    known: list[BaseMessage] = state.values.get(MESSAGES) or []
    called = {call["id"] for one in known if isinstance(one, AIMessage) for call in one.tool_calls}
    open_calls = called - {one.tool_call_id for one in known if isinstance(one, ToolMessage)}
    history = history_of(messages)
    return [one for one in history if isinstance(one, ToolMessage) and one.tool_call_id in open_calls]


def digest(messages: Sequence[Message]) -> str:
    """A digest of messages as a model sees them."""
    values: list[Json] = []
    for message in history_of(messages):
        calls = getattr(message, "tool_calls", None) or getattr(message, "tool_call_id", None)
        values.append([message.type, as_json(message.content), as_json(calls)])
    return _hash(values)


def _content(message: AssistantMessage) -> str:
    return _hash([text_of(message), sorted(call.id for call in calls_in(message))])


def _hash(value: Any) -> str:
    return hashlib.sha256(dumps(value)).hexdigest()
