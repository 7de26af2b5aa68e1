"""Scripted agents for chats, which can be paused in the middle of a response."""

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


def scripted_by_word(**steps: list[list[dict[str, Any]]]) -> ScriptedService:
    """A model that responds with steps of parts, chosen by a word of the last user message."""
    scenes = [
        {"match": word, "steps": [{"parts": parts} for parts in step_parts]}
        for word, step_parts in steps.items()
    ]
    return ScriptedService(as_script({"scenes": scenes}))


def calls(name: str, input: Any, id: str = "") -> dict[str, Any]:
    """A tool call as a part. Without an id, one is generated."""
    return {"type": "tool-call", "id": id, "name": name, "input": input}


class PausingAgent:
    """An agent that pauses after a word until it is released."""

    def __init__(self, agent: AgentService, behind: str) -> None:
        self._agent = agent
        self._behind = behind.encode()
        self.released = asyncio.Event()

    @property
    def name(self) -> str:
        """The name of the wrapped agent."""
        return self._agent.name

    async def invoke(
        self,
        prompt: Prompt,
        *,
        cwd: Path | None = None,
        session_id: str | None = None,
        options: InvokeOptions | None = None,
    ) -> AsyncIterator[AgentStreamEvent]:
        """The events of the wrapped agent, with the pause."""
        async for event in self._agent.invoke(prompt, cwd=cwd, session_id=session_id, options=options):
            yield event
            if isinstance(event, ChunkEvent) and self._behind in encode(event.chunk):
                await self.released.wait()


class ApprovalAgent:
    """An agent that requests approval during its run, and stays active until the decision."""

    name = "asking"

    async def invoke(
        self,
        prompt: Prompt,
        *,
        cwd: Path | None = None,
        session_id: str | None = None,
        options: InvokeOptions | None = None,
    ) -> AsyncIterator[AgentStreamEvent]:
        """One call, its approval request, and its result."""
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
