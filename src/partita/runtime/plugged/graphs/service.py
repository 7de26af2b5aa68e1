"""The service for compiled graphs of LangGraph."""

from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from typing import Any, Final

from langchain_core.messages import SystemMessage
from langgraph.types import Command, Interrupt

from partita.errors import AgentError
from partita.formats.core.metadata import SERVER_CALLS
from partita.runtime.agent.loop import WAITING
from partita.runtime.plugged.agent_request import AgentRequest
from partita.runtime.plugged.jsonable import as_json, as_line
from partita.runtime.plugged.replies import replies_in
from partita.runtime.plugged.request_values import value_for
from partita.runtime.plugged.service import PluggedService
from partita.runtime.plugged.spoken import spoken
from partita.store.ids import new_id
from partita.types.chunks import Chunk, DataChunk, MessageFinish, MessageMetadata
from partita.types.events import AgentStreamEvent, CompleteEvent
from partita.types.json import Json, JsonObject, is_object, kind_of
from partita.types.messages import ToolCallPart

from .checkpoints import MESSAGES, Record, Start, checkpoint_of, find_start
from .graph import Graph, Snapshot
from .history import history_of
from .interrupts import Resumption, chunks_of, interrupt_id, resumption
from .telling import Speaking

INTERRUPT: Final = "__interrupt__"
MODES: Final = ("messages", "updates", "custom")
CUSTOM: Final = "data-custom"
CONFIG: Final = "give a dict such as `{'configurable': {…}, 'recursion_limit': 50}`"
RESERVED: Final = frozenset({"thread_id", "checkpoint_id", "checkpoint_ns", "checkpoint_map"})
"""What an end user must not choose: it names the state that the graph continues."""


class GraphService(PluggedService):
    """A compiled graph that has the conversation in `messages`. An `interrupt()` of it waits for an answer.

    A graph with a checkpointer continues from the checkpoint that belongs to the branch, and is given the
    messages behind it; any other graph is given all messages.
    """

    supports_client_tools = False  # the model of a compiled graph has its tools bound

    def __init__(
        self, graph: Graph, *, name: str | None = None, config: Any = None, context: Any = None
    ) -> None:
        """`config` and `context` are what the graph is run with, or functions of the request that give it."""
        super().__init__(name or graph.name, self._said)
        self._graph = graph
        self._given_config = config
        self._context = context

    async def _said(self, request: AgentRequest) -> AsyncGenerator[Chunk | AgentStreamEvent]:
        start = await self._start(request)
        seed = request.continued
        replies = replies_in(seed)
        if replies.waiting:
            yield MessageFinish(WAITING)
            yield CompleteEvent(agent_result=start.result or {})
            return
        resumed = resumption(seed, replies, _open_interrupts(start.state))
        if not resumed.values and any(interrupt_id(call) is not None for call in replies.decided):
            raise AgentError(
                "there is no checkpoint with the interrupt that was answered and the messages before it",
                where=f"message {request.message_id}",
                hint="answer the user's message again; a checkpointer must outlive the process",
            )
        record = Record(request)
        for chunk in resumed.chunks:
            record.add(chunk)
            yield chunk
        parts = () if seed is None else seed.parts
        speaking = Speaking({part.id for part in parts if isinstance(part, ToolCallPart)})
        seen: set[str] = set()
        async with self._stream(request, start, resumed) as events:
            async for space, mode, data in events:
                raw = as_line({"space": list(space), "mode": mode, "data": data})
                chunks = _chunks(mode, data, speaking, seen, start.thread_id)
                for chunk in chunks:
                    record.add(chunk)
                for event in spoken(chunks, raw):
                    yield event
                if seen and not self._graph.checkpointer:
                    raise AgentError("an interrupt, and no checkpointer", hint="compile(checkpointer=…)")
        for chunk in speaking.leave():
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
    async def _stream(
        self, request: AgentRequest, start: Start, resumed: Resumption
    ) -> AsyncGenerator[AsyncGenerator[tuple[tuple[str, ...], str, Any]]]:
        """What happens while the graph works. Its configuration and context last as long."""
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


def plug(thing: Any, name: str | None, **how: Any) -> GraphService:
    """The service of a compiled graph."""
    if not all(hasattr(thing, name) for name in ("astream", "aget_state", "channels")):
        hint = (
            "give what `compile()` gives"
            if hasattr(thing, "compile")
            else "give a compiled graph of LangGraph"
        )
        raise AgentError(f"{type(thing).__qualname__} is no compiled graph", hint=hint)
    graph: Graph = thing
    if MESSAGES not in graph.channels:
        raise AgentError(f"graph {graph.name!r} has no `messages` in its state", hint="use MessagesState")
    return GraphService(graph, name=name, **how)


async def _generator(stream: Any) -> AsyncGenerator[tuple[tuple[str, ...], str, Any]]:
    """The stream as a generator, which is closed with it."""
    try:
        async for event in stream:
            yield event
    finally:
        await stream.aclose()


def _config(request: AgentRequest, start: Start, given: Any) -> JsonObject:
    """How the graph is run: with the settings and the configuration that was given, in its thread."""
    if given is not None and not is_object(given):
        raise AgentError(f"the `config` of a graph is {kind_of(given)}", hint=CONFIG)
    whole: JsonObject = {**request.options.settings, **(given or {})}
    known: JsonObject = {}
    for source in (request.options.settings, given or {}):
        more: Json = source.get("configurable")
        known |= more if is_object(more) else {}
    reserved = [name for name in known if name in RESERVED or name.startswith("__pregel")]
    if reserved:
        raise AgentError(
            f"`configurable` has {reserved[0]!r}, which names the thread or checkpoint of the graph",
            hint="leave it out: Partita gives each conversation of each owner a thread of its own",
        )
    own: JsonObject = {
        "thread_id": start.thread_id,
        "owner": request.owner,
        "partita_thread_id": request.thread_id,
        "conversation_key": request.conversation_key,
    }
    if start.checkpoint_id is not None:
        own["checkpoint_id"] = start.checkpoint_id
    return {**whole, "configurable": {**known, **own}}


def _open_interrupts(state: Snapshot | None) -> set[str]:
    return set() if state is None else {interrupt.id for interrupt in state.interrupts}


def _input(request: AgentRequest, resumed: Resumption, start: Start) -> Any:
    """What the graph is given: answers to what it asked, or messages."""
    if resumed.values:
        command: Any = Command  # its type parameter cannot be given: it is frozen and has slots
        return command(resume=resumed.values)
    instructions = request.options.instructions
    first = [SystemMessage(instructions, id="instructions")] if instructions else []
    return {MESSAGES: [*first, *start.news]}


def _chunks(mode: str, data: Any, speaking: Speaking, seen: set[str], thread_id: str) -> list[Chunk]:
    if mode == "messages":
        message, about = data
        return speaking.chunks(message, str(about.get("langgraph_node")))
    if mode == "custom":
        return [DataChunk(CUSTOM, as_json(data))]
    chunks: list[Chunk] = []
    for node, update in data.items() if is_object(data) else ():
        if node != INTERRUPT:
            chunks += speaking.leave(node)
            continue
        interrupts: list[Interrupt[Any]] = [one for one in update if one.id not in seen]
        seen.update(one.id for one in interrupts)
        chunks += [*speaking.leave(), *(chunk for one in interrupts for chunk in chunks_of(one, thread_id))]
    return chunks
