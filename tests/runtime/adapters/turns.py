"""Turns of adapted agents in a session. Checks that log and message agree."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from partita.runtime.adapters.as_agent import as_agent
from partita.runtime.rebuild.run_decoder import RunDecoder
from partita.runtime.replay.recorded_run import RecordedRun
from partita.runtime.run_fold import RunFold
from partita.runtime.service import AgentService, InvokeOptions
from partita.runtime.session.client_replies import ApprovalResponse
from partita.runtime.session.log_writer import REFUSED
from partita.runtime.session.session import Session
from partita.runtime.session.turn import Input, without_ending
from partita.store.store import Store
from partita.types.chunks import Chunk, DataChunk, type_of
from partita.types.messages import AssistantMessage, ToolCallPart, text_of
from partita.types.parts import TextPart
from partita.types.threads import Run

THREAD = "t1"


class EndedTurn(NamedTuple):
    """An ended turn."""

    run: Run
    message: AssistantMessage
    chunks: Sequence[Chunk]
    """As a reader receives them."""
    raw: bytes

    @property
    def types(self) -> list[str]:
        return [type_of(chunk) for chunk in self.chunks]

    @property
    def texts(self) -> list[str]:
        return [part.text for part in self.message.parts if isinstance(part, TextPart)]

    @property
    def text(self) -> str:
        return text_of(self.message)

    @property
    def calls(self) -> list[ToolCallPart]:
        return [part for part in self.message.parts if isinstance(part, ToolCallPart)]


async def run_turn(
    session: Session, agent: Any, input: Input = None, options: InvokeOptions | None = None
) -> EndedTurn:
    """Run a turn of anything that `as_agent` accepts."""
    seed = await last_message(session.store) if input is None else None
    run = await session.start(adapted(agent), THREAD, input, options=options)
    chunks = [one.chunk async for seen in session.follow(run.id) for one in seen]
    await session.wait(run.id)
    return await ended_turn(session.store, run.id, chunks, seed)


def adapted(agent: Any) -> AgentService:
    return as_agent(agent)


async def ended_turn(
    store: Store, run_id: str, chunks: Sequence[Chunk], seed: AssistantMessage | None = None
) -> EndedTurn:
    """The ended turn. The message must equal the folded chunks, and the log when it is decoded again."""
    run = await store.runs.get(run_id)
    assert run is not None
    message = await store.messages.get(THREAD, run.message_id or "")
    assert isinstance(message, AssistantMessage)
    assert folded(run, chunks, seed).content == message.content
    records = await store.logs.read(run_id)
    refused = [one.chunk for one in records if isinstance(one.chunk, DataChunk) and one.chunk.type == REFUSED]
    assert refused == []
    decoded = list(RunDecoder(RecordedRun(run, records)).chunks())
    assert folded(run, decoded, seed).content == message.content
    return EndedTurn(run, message, chunks, b"".join(one.raw for one in records if one.raw is not None))


def folded(run: Run, chunks: Sequence[Chunk], seed: AssistantMessage | None) -> AssistantMessage:
    fold = RunFold(run.message_id or "", run_id=run.id, seed=None if seed is None else without_ending(seed))
    for chunk in chunks:
        fold.feed(chunk)
    return fold.finish(run.status, run.error if isinstance(run.error, str) else None)[-1]


async def last_message(store: Store) -> AssistantMessage | None:
    page = await store.messages.list(THREAD, limit=None)
    last = page.items[-1]
    return last if isinstance(last, AssistantMessage) else None


async def decide(session: Session, call: ToolCallPart, approved: bool, reason: str | None = None) -> None:
    """Decide the approval request of a call."""
    assert call.approval is not None
    await session.add_approval_response(
        THREAD, ApprovalResponse(call.approval.id, approved, by="ada", reason=reason)
    )
