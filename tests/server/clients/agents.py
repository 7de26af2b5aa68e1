"""Agents to talk with: they say what is written down, and can be caught in the middle of it."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from partita.runtime.scripted import ScriptedService, as_script
from partita.runtime.service import AgentService, ApprovalRequest, InvokeOptions, Prompt
from partita.types.chunks import (
    AgentStreamEvent,
    ChunkEvent,
    CompleteEvent,
    MessageFinish,
    MessageStart,
    StepFinish,
    StepStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolApprovalRequest,
    ToolApprovalResponse,
    ToolInputAvailable,
    ToolOutputAvailable,
    ToolOutputDenied,
)
from partita.types.codec import encode


def answers(**steps: list[list[dict[str, Any]]]) -> ScriptedService:
    """A model that answers, by a word of what the user said last, with these steps of parts."""
    scenes = [{"match": word, "steps": [{"parts": parts} for parts in said]} for word, said in steps.items()]
    return ScriptedService(as_script({"scenes": scenes}))


def calls(name: str, input: Any, id: str = "") -> dict[str, Any]:
    """A call of a tool, as a part; without an id it gets one."""
    return {"type": "tool-call", "id": id, "name": name, "input": input}


class Held:
    """Another agent, that waits behind a word until it may go on."""

    def __init__(self, agent: AgentService, behind: str) -> None:
        self._agent = agent
        self._behind = behind.encode()
        self.released = asyncio.Event()

    @property
    def name(self) -> str:
        """What the other agent is called."""
        return self._agent.name

    async def invoke(
        self,
        prompt: Prompt,
        *,
        cwd: Path | None = None,
        session_id: str | None = None,
        options: InvokeOptions | None = None,
    ) -> AsyncIterator[AgentStreamEvent]:
        """What the other agent says, as soon as it may be said."""
        async for event in self._agent.invoke(prompt, cwd=cwd, session_id=session_id, options=options):
            yield event
            if isinstance(event, ChunkEvent) and self._behind in encode(event.chunk):
                await self.released.wait()


class Asking:
    """An agent that asks in the middle of its work, and stays at work until it is answered."""

    name = "asking"

    async def invoke(
        self,
        prompt: Prompt,
        *,
        cwd: Path | None = None,
        session_id: str | None = None,
        options: InvokeOptions | None = None,
    ) -> AsyncIterator[AgentStreamEvent]:
        """One call, whether it may be made, and what came of it."""
        assert options is not None
        assert options.approvals is not None
        question = ApprovalRequest("a1", "c1", "switch_off", {"name": "Bell"})
        yield ChunkEvent(chunk=MessageStart())
        yield ChunkEvent(chunk=StepStart())
        yield ChunkEvent(chunk=ToolInputAvailable("c1", "switch_off", question.input))
        yield ChunkEvent(chunk=ToolApprovalRequest("a1", "c1"))
        decision = await options.approvals.request(question)
        yield ChunkEvent(chunk=ToolApprovalResponse("a1", decision.approved, decision.reason))
        outcome = ToolOutputAvailable("c1", "dark") if decision.approved else ToolOutputDenied("c1")
        yield ChunkEvent(chunk=outcome)
        yield ChunkEvent(chunk=TextStart("t"))
        yield ChunkEvent(chunk=TextDelta("t", "Good night."))
        yield ChunkEvent(chunk=TextEnd("t"))
        yield ChunkEvent(chunk=StepFinish())
        yield ChunkEvent(chunk=MessageFinish("stop"))
        yield CompleteEvent()
