"""Compiled graphs of LangGraph."""

from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from typing import Any, Final, TypeAlias

from langchain_core.messages import SystemMessage
from langgraph.types import Command, Interrupt

from partita.errors import AgentError
from partita.formats.core.metadata import SERVER_CALLS
from partita.runtime.adapters.agent_request import AgentRequest, value_for
from partita.runtime.adapters.frameworks import as_json, calls_in, pending_calls, with_line
from partita.runtime.adapters.service import FunctionService
from partita.runtime.agent.calls import WAITING
from partita.store.ids import new_id
from partita.types.chunks import (
    AgentStreamEvent,
    Chunk,
    CompleteEvent,
    DataChunk,
    MessageFinish,
    MessageMetadata,
)
from partita.types.json import Json, JsonObject, is_object, kind_of

from .checkpoints import (
    MESSAGES,
    Graph,
    ResponseRecord,
    Snapshot,
    Start,
    checkpoint_of,
    find_start,
    history_of,
)
from .interrupts import Resumption, chunks_of, interrupt_id, resumption
from .messages import MessageStreams

INTERRUPT: Final = "__interrupt__"
MODES: Final = ("messages", "updates", "custom")
CUSTOM: Final = "data-custom"
CONFIG_HINT: Final = "give a dict such as `{'configurable': {…}, 'recursion_limit': 50}`"
RESERVED: Final = frozenset({"thread_id", "checkpoint_id", "checkpoint_ns", "checkpoint_map"})
"""Members of `configurable` that an end user must not set: they name the state that the graph continues."""

GraphEvent: TypeAlias = tuple[tuple[str, ...], str, Any]
"""The path of the subgraph, the stream mode, and the data."""


class GraphService(FunctionService):
    """A compiled graph with the conversation in `messages`. An `interrupt()` in it waits for a response.

    A graph with a checkpointer continues from the checkpoint that belongs to the branch, with the messages
    after it; any other graph is given all messages.
    """

    supports_client_tools = False  # the model of a compiled graph has its tools bound

    def __init__(
        self, graph: Graph, *, name: str | None = None, config: Any = None, context: Any = None
    ) -> None:
        """`config` and `context` are those of a run, or functions of the request that return them."""
        super().__init__(name or graph.name, self._stream)
        self._graph = graph
        self._given_config = config
        self._context = context

    async def _stream(self, request: AgentRequest) -> AsyncGenerator[Chunk | AgentStreamEvent]:
        start = await self._start(request)
        seed = request.continued
        pending = pending_calls(seed)
        if pending.waiting:
            yield MessageFinish(WAITING)
            yield CompleteEvent(agent_result=start.result or {})
            return
        resumed = resumption(seed, pending, _open_interrupts(start.state))
        if not resumed.values and any(interrupt_id(call) is not None for call in pending.decided):
            raise AgentError(
                "no checkpoint has both the interrupt and the messages before it",
                where=f"message {request.message_id}",
                hint="regenerate the response; a checkpointer must outlive the process",
            )
        record = ResponseRecord(request)
        for chunk in resumed.chunks:
            record.add(chunk)
            yield chunk
        streams = MessageStreams({call.id for call in calls_in(seed)})
        interrupts: set[str] = set()
        async with self._run(request, start, resumed) as events:
            async for space, mode, data in events:
                chunks = _chunks(mode, data, streams, interrupts, start.thread_id)
                for chunk in chunks:
                    record.add(chunk)
                for event in with_line(chunks, {"space": list(space), "mode": mode, "data": data}):
                    yield event
                if interrupts and not self._graph.checkpointer:
                    raise AgentError("an interrupt, and no checkpointer", hint="compile(checkpointer=…)")
        for chunk in streams.end():
            record.add(chunk)
            yield chunk
        if not self._graph.checkpointer:
            return
        state = await self._graph.aget_state({"configurable": {"thread_id": start.thread_id}})
        if state.next and record.open_calls:
            yield MessageMetadata({SERVER_CALLS: [*record.open_calls]})
        yield CompleteEvent(agent_result=record.result(start.thread_id, checkpoint_of(state)))

    async def _start(self, request: AgentRequest) -> Start:
        if self._graph.checkpointer:
            return await find_start(self._graph, request, self.name)
        return Start(request.conversation_key or new_id(), history_of(request.messages))

    @asynccontextmanager
    async def _run(
        self, request: AgentRequest, start: Start, resumed: Resumption
    ) -> AsyncGenerator[AsyncGenerator[GraphEvent]]:
        """The events of a run. The configuration and the context stay open until it ends."""
        async with (
            value_for(self._given_config, request) as config,
            value_for(self._context, request) as context,
        ):
            stream = self._graph.astream(
                _input(request, resumed, start),
                _config(request, start, config),
                context=context,
                stream_mode=list(MODES),
                subgraphs=True,
            )
            async with aclosing(_generator(stream)) as events:
                yield events


def create_service(thing: Any, name: str | None, **values: Any) -> GraphService:
    """The service for a compiled graph."""
    if not all(hasattr(thing, member) for member in ("astream", "aget_state", "channels")):
        can_compile = hasattr(thing, "compile")
        hint = "give what `compile()` returns" if can_compile else "give a compiled graph of LangGraph"
        raise AgentError(f"{type(thing).__qualname__} is not a compiled graph", hint=hint)
    graph: Graph = thing
    if MESSAGES not in graph.channels:
        raise AgentError(f"graph {graph.name!r} has no `messages` in its state", hint="use MessagesState")
    return GraphService(graph, name=name, **values)


async def _generator(stream: Any) -> AsyncGenerator[GraphEvent]:
    """The stream as a generator, which closes it."""
    try:
        async for event in stream:
            yield event
    finally:
        await stream.aclose()


def _config(request: AgentRequest, start: Start, given: Any) -> JsonObject:
    """The configuration of a run: the settings of the request, the given configuration, and the thread."""
    if given is not None and not is_object(given):
        raise AgentError(f"the `config` of a graph is {kind_of(given)}", hint=CONFIG_HINT)
    config: JsonObject = {**request.options.settings, **(given or {})}
    configurable: JsonObject = {}
    for source in (request.options.settings, given or {}):
        members: Json = source.get("configurable")
        configurable |= members if is_object(members) else {}
    reserved = [name for name in configurable if name in RESERVED or name.startswith("__pregel")]
    if reserved:
        raise AgentError(
            f"`configurable` has {reserved[0]!r}, which names the thread or checkpoint of the graph",
            hint="leave it out: each conversation of each owner has a thread of its own",
        )
    configurable |= {
        "thread_id": start.thread_id,
        "owner": request.owner,
        "partita_thread_id": request.thread_id,
        "conversation_key": request.conversation_key,
    }
    if start.checkpoint_id is not None:
        configurable["checkpoint_id"] = start.checkpoint_id
    return {**config, "configurable": configurable}


def _open_interrupts(state: Snapshot | None) -> set[str]:
    return set() if state is None else {interrupt.id for interrupt in state.interrupts}


def _input(request: AgentRequest, resumed: Resumption, start: Start) -> Any:
    """The input of a run: responses to interrupts, or messages."""
    if resumed.values:
        command: Any = Command  # its type parameter cannot be given: it is frozen and has slots
        return command(resume=resumed.values)
    instructions = request.options.instructions
    first = [SystemMessage(instructions, id="instructions")] if instructions else []
    return {MESSAGES: [*first, *start.new_messages]}


def _chunks(mode: str, data: Any, streams: MessageStreams, known: set[str], thread_id: str) -> list[Chunk]:
    """The chunks for an event. Interrupts are added to those that are `known`."""
    if mode == "messages":
        message, metadata = data
        return streams.chunks(message, str(metadata.get("langgraph_node")))
    if mode == "custom":
        return [DataChunk(CUSTOM, as_json(data))]
    chunks: list[Chunk] = []
    for node, update in data.items() if is_object(data) else ():
        if node != INTERRUPT:
            chunks += streams.end(node)
            continue
        interrupts: list[Interrupt[Any]] = [one for one in update if one.id not in known]
        known.update(one.id for one in interrupts)
        chunks += [*streams.end(), *(chunk for one in interrupts for chunk in chunks_of(one, thread_id))]
    return chunks
