"""The service for compiled graphs of LangGraph."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Final

from langchain_core.messages import SystemMessage
from langgraph.types import Command, Interrupt

from partita.errors import AgentError
from partita.runtime.agent.loop import WAITING
from partita.runtime.plugged.agent_request import AgentRequest
from partita.runtime.plugged.jsonable import as_json, as_line
from partita.runtime.plugged.replies import replies_in
from partita.runtime.plugged.service import PluggedService
from partita.runtime.plugged.spoken import spoken
from partita.store.ids import new_id
from partita.types.chunks import Chunk, DataChunk, MessageFinish
from partita.types.events import AgentStreamEvent
from partita.types.json import JsonObject, is_object
from partita.types.messages import ToolCallPart

from .graph import Graph
from .history import history_of, news_of
from .interrupts import Resumption, chunks_of, resumption
from .telling import Speaking

MESSAGES: Final = "messages"
INTERRUPT: Final = "__interrupt__"
MODES: Final = ("messages", "updates", "custom")
CUSTOM: Final = "data-custom"


class GraphService(PluggedService):
    """A compiled graph that keeps the talk in `messages`. What it asks with `interrupt()` waits.

    A graph with a checkpointer knows a thread by its id, and is told only what is new; any other is told all.
    """

    def __init__(self, graph: Graph, *, name: str | None = None) -> None:
        super().__init__(name or graph.name, self._said)
        self._graph = graph

    async def _said(self, request: AgentRequest) -> AsyncGenerator[Chunk | AgentStreamEvent]:
        seed = request.continued
        replies = replies_in(seed)
        if replies.waiting:
            yield MessageFinish(WAITING)
            return
        config = _config(request)
        state = await self._graph.aget_state(config) if self._graph.checkpointer else None
        resumed = resumption(seed, replies, _open_interrupts(state))
        for chunk in resumed.chunks:
            yield chunk
        parts = () if seed is None else seed.parts
        speaking = Speaking({part.id for part in parts if isinstance(part, ToolCallPart)})
        seen: set[str] = set()
        stream = self._graph.astream(
            _input(request, resumed, state), config, stream_mode=list(MODES), subgraphs=True
        )
        async with aclosing(_generator(stream)) as events:
            async for space, mode, data in events:
                raw = as_line({"space": list(space), "mode": mode, "data": data})
                for event in spoken(_chunks(mode, data, speaking, seen), raw):
                    yield event
                if seen and not self._graph.checkpointer:
                    raise AgentError("an interrupt, and no checkpointer", hint="compile(checkpointer=…)")
        for chunk in speaking.leave():
            yield chunk


def plug(thing: Any, name: str | None) -> GraphService:
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
    return GraphService(graph, name=name)


async def _generator(stream: Any) -> AsyncGenerator[tuple[tuple[str, ...], str, Any]]:
    """The stream as a generator, which is closed with it."""
    try:
        async for event in stream:
            yield event
    finally:
        await stream.aclose()


def _config(request: AgentRequest) -> JsonObject:
    """How the graph is to be run: the settings, and the thread."""
    settings = request.options.settings
    more = settings.get("configurable")
    known = more if is_object(more) else {}
    return {**settings, "configurable": {"thread_id": request.thread_id or new_id(), **known}}


def _open_interrupts(state: Any) -> set[str]:
    return set() if state is None else {interrupt.id for interrupt in state.interrupts}


def _input(request: AgentRequest, resumed: Resumption, state: Any) -> Any:
    """What the graph is given: answers to what it asked, what is new, or everything."""
    if resumed.values:
        command: Any = Command  # its type parameter cannot be given: it is frozen and has slots
        return command(resume=resumed.values)
    history = history_of(request.messages)
    known = state.values.get(MESSAGES) if state is not None and is_object(state.values) else None
    if known:
        return {MESSAGES: news_of(history, known)}
    told = request.options.instructions
    return {MESSAGES: [SystemMessage(told, id="instructions"), *history] if told else history}


def _chunks(mode: str, data: Any, speaking: Speaking, seen: set[str]) -> list[Chunk]:
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
        chunks += [*speaking.leave(), *(chunk for one in interrupts for chunk in chunks_of(one))]
    return chunks
