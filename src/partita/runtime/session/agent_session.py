"""The session of a coding agent: its id, model, title and cost, as its stream reports them, are stored."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from partita.formats.call_decoder import SESSION, is_marker
from partita.store.bulk.agent_sessions import AGENT_SESSION, RESUMED, link_session, record_session_usage
from partita.store.store import Store
from partita.store.values import ConsumptionRecord, RunFilter
from partita.types.chunks import Chunk, DataChunk
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import AssistantMessage, Message, UserMessage, text_of
from partita.types.threads import Run, Thread
from partita.types.usage import Usage
from partita.views.prompts import clean_title

AGENT_TOTALS: Final = "agentTotals"
"""The member of the metadata of a run with the totals of the session that its agent reported."""

NAMESPACES: Final = ("claudeCode", "acp")
"""Members of the metadata of a message in which agents report facts, besides its top level."""


class SessionFacts(NamedTuple):
    """What the stream of a coding agent reports of its session."""

    model: str | None = None
    cwd: str | None = None
    version: str | None = None
    title: str | None = None


class TurnCost(NamedTuple):
    """The cost of one turn, and the totals of its session that were reported with it."""

    cost: float | None
    totals: JsonObject


class AgentSession:
    """The session of a coding agent that runs a turn. Other agents have none: then nothing is stored."""

    def __init__(
        self,
        store: Store,
        run: Run,
        cwd: Path | None,
        history: Sequence[Message],
        resumed: str | None,
    ) -> None:
        """`resumed` is the session that the agent is asked to resume."""
        self._store = store
        self._resumed = resumed
        self._run = run
        self._cwd = str((cwd or Path()).absolute())
        prompt = next((text_of(one) for one in history if isinstance(one, UserMessage)), "")
        self._title = clean_title(prompt) or None
        self.id: str | None = None

    async def handle(self, chunk: Chunk) -> None:
        """Store the id of the session once a chunk reports it: the process may die in the first turn."""
        data: Json = chunk.data if isinstance(chunk, DataChunk) and is_marker(chunk, SESSION) else None
        session_id = data.get("sessionId") if is_object(data) else None
        if isinstance(session_id, str) and session_id:
            self.id = session_id
            about = Thread(
                id=self._run.thread_id,
                title=self._title,
                agent=self._run.agent,
                project=self._cwd,
                metadata={"sessionId": session_id},
            )
            known: JsonObject = {RESUMED: True} if session_id == self._resumed else {}
            await self._store.write(link_session, self._run.id, session_id, about, metadata=known)

    async def turn_cost(self, result: Json, usage: Usage | None, message: AssistantMessage) -> TurnCost:
        """The cost of the turn itself. Agents report running totals of the session."""
        reported: JsonObject = result if is_object(result) else {}
        if self.id is None and isinstance(session_id := reported.get("sessionId"), str):
            self.id = session_id or None  # reported only at the end
        totals = _totals(reported) or _acp_totals(message)
        before = await self._totals_before() if totals else {}
        cost = totals.get("costUsd")
        if before and _continues(totals, before, usage):
            cost = None if cost is None else max(0.0, cost - (before.get("costUsd") or 0.0))
        return TurnCost(cost, totals)

    async def end(
        self, run: Run, message: AssistantMessage, records: Sequence[ConsumptionRecord], totals: JsonObject
    ) -> Run:
        """Store the facts and the usage of the session, once the run has ended."""
        if self.id is None:
            if records:
                await self._store.usage.record(records)
            return run
        facts = session_facts(message)
        names = {"sessionId": self.id, "model": facts.model, "agentVersion": facts.version}
        about = Thread(
            id=run.thread_id,
            title=facts.title,
            agent=run.agent,
            project=facts.cwd or self._cwd,
            metadata={name: value for name, value in names.items() if value is not None},
        )
        ended = await self._store.write(
            link_session,
            run.id,
            self.id,
            about,
            provisional_title=self._title,
            model=facts.model,
            metadata={AGENT_TOTALS: totals} if totals else None,
        )
        await self._store.write(record_session_usage, run.id, self.id, records)
        return ended

    async def _totals_before(self) -> JsonObject:
        """The totals that the last run of the same session reported."""
        page = await self._store.runs.list(
            RunFilter(thread_id=self._run.thread_id, agent=self._run.agent), limit=10
        )
        for earlier in page.items:
            known = earlier.metadata or {}
            totals = known.get(AGENT_TOTALS)
            if earlier.id != self._run.id and known.get(AGENT_SESSION) == self.id and is_object(totals):
                return totals
        return {}


def _totals(result: JsonObject) -> JsonObject:
    """The totals in a result of Claude Code: of its session or of the turn, see `_continues`."""
    cost, models = _amount(result.get("totalCostUsd")), result.get("modelUsage")
    if cost is None:
        return {}
    used = [model for model in models.values() if is_object(model)] if is_object(models) else []
    counts = [count for model in used if isinstance(count := model.get("outputTokens"), int)]
    return {"costUsd": cost, "outputTokens": sum(counts)}


def _acp_totals(message: AssistantMessage) -> JsonObject:
    """The totals that an agent reports over the Agent Client Protocol: the cost of the session so far."""
    found: Json = message.content.metadata
    for name in ("acp", "context", "cost"):
        found = found.get(name) if is_object(found) else None
    cost = _amount(found.get("amount")) if is_object(found) and found.get("currency") == "USD" else None
    return {} if cost is None else {"costUsd": cost}


def _amount(value: Json) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and math.isfinite(value) and value >= 0 else None


def _continues(totals: JsonObject, before: JsonObject, usage: Usage | None) -> bool:
    """Whether totals include those before. Versions of Claude Code differ: some start again at 0."""
    if "outputTokens" not in totals:  # by the Agent Client Protocol they do
        return totals["costUsd"] >= (before.get("costUsd") or 0.0)
    output, known = totals.get("outputTokens"), before.get("outputTokens")
    own = 0 if usage is None else usage.output_tokens or 0
    return isinstance(output, int) and isinstance(known, int) and output >= known + own


def session_facts(message: AssistantMessage) -> SessionFacts:
    """The facts that an agent reported in the metadata of a message."""
    metadata: Json = message.content.metadata
    top: JsonObject = metadata if is_object(metadata) else {}
    places = [top, *(inner for name in NAMESPACES if is_object(inner := top.get(name)))]

    def first(name: str) -> str | None:
        return next((value for place in places if isinstance(value := place.get(name), str) and value), None)

    agent = next((info for place in places if is_object(info := place.get("agentInfo"))), {})
    version = agent.get("version")
    known = version if isinstance(version, str) else None
    return SessionFacts(first("model"), first("cwd"), first("version") or known, first("title"))


async def known_session(store: Store, run: Run) -> str | None:
    """The id of the session that the last run of the thread with the same agent stored."""
    page = await store.runs.list(RunFilter(thread_id=run.thread_id, agent=run.agent), limit=10)
    for earlier in page.items:
        known = (earlier.metadata or {}).get(AGENT_SESSION)
        if isinstance(known, str):
            return known
    return None
