"""Agents of Pydantic AI, with a scripted model."""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from pydantic import BaseModel
from pydantic_ai import Agent, ModelRetry
from pydantic_ai.messages import (
    ModelMessage,
)
from pydantic_ai.models.function import AgentInfo, DeltaThinkingPart, DeltaToolCall, FunctionModel

Output = str | dict[int, DeltaToolCall] | dict[int, DeltaThinkingPart] | Exception


class Model:
    """Returns one reply after the other, and keeps the prompts that it receives."""

    def __init__(self, *responses: Sequence[Output]) -> None:
        self.prompts: list[list[ModelMessage]] = []
        self.requests: list[AgentInfo] = []
        self._responses = list(responses)

    async def stream(self, messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[Any]:
        self.prompts.append(list(messages))
        self.requests.append(info)
        for output in self._responses.pop(0):
            if isinstance(output, Exception):
                raise output
            yield output

    def agent(self, **more: Any) -> Agent[Any, Any]:
        return Agent(FunctionModel(stream_function=self.stream), name="poet", **more)


def call(name: str, *pieces: str, id: str = "c1") -> list[Output]:
    first, *rest = pieces
    return [
        {0: DeltaToolCall(name, first, tool_call_id=id)},
        *({0: DeltaToolCall(json_args=piece)} for piece in rest),
    ]


def dig(depth: int) -> str:
    """Dig a hole."""
    if depth > 100:
        raise ModelRetry("too deep")
    return f"dug {depth}"


def digger(model: Model, function: Callable[..., Any] = dig, *, approval: bool = False) -> Agent[Any, Any]:
    agent = model.agent(instructions="Be brief.", system_prompt="You dig.")
    agent.tool_plain(requires_approval=approval)(function)
    return agent


class Hole(BaseModel):
    depth: int
