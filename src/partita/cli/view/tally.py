"""What a conversation amounts to: messages, calls and how they went, sub-agents, tokens."""

from collections.abc import Iterable
from dataclasses import dataclass

from partita.types.messages import AssistantMessage, Message, Part, ToolCallPart, calls_apart
from partita.types.usage import Usage

from .states import state_of

WORDS = {"✗": "failed", "⊘": "denied", "■": "interrupted", "…": "without a result", "?": "waiting"}


@dataclass(slots=True)
class Tokens:
    """Sums of usages."""

    input: int = 0
    output: int = 0
    cached: int = 0
    reasoning: int = 0

    def add(self, usage: Usage) -> None:
        """Count a usage."""
        self.input += usage.input_tokens or 0
        self.output += usage.output_tokens or 0
        self.cached += usage.cached_input_tokens or 0
        self.reasoning += usage.reasoning_tokens or 0

    def __bool__(self) -> bool:
        return bool(self.input or self.output)


class Tally:
    """Counts over messages; those of sub-agents are counted apart."""

    def __init__(self, messages: Iterable[Message]) -> None:
        self.messages = 0
        self.calls = 0
        self.agents = 0
        self.agent_messages = 0
        self.states: dict[str, int] = {}
        self.tokens = Tokens()
        self.agent_tokens = Tokens()
        waiting = [(message, False) for message in messages]
        while waiting:  # no recursion: sub-agents may nest as deep as they like
            message, inner = waiting.pop()
            waiting.extend((child, True) for child in self._count(message, inner))

    def _count(self, message: Message, inner: bool) -> list[Message]:
        """Count a message; gives those that hang under it."""
        if message.type != "event":
            self.messages += not inner
            self.agent_messages += inner
        if not isinstance(message, AssistantMessage):
            return []
        if message.content.usage is not None:
            (self.agent_tokens if inner else self.tokens).add(message.content.usage)
        parts: list[Part] = list(message.content.parts)
        below: list[Message] = []
        network = message.content.network_execution
        if network is not None and network.final_result is not None:
            parts += calls_apart(network.final_result)
            below += network.final_result.messages
        for part in parts:
            if isinstance(part, ToolCallPart):
                self._count_call(part)
                below += part.children
        return below

    def _count_call(self, call: ToolCallPart) -> None:
        self.calls += 1
        self.agents += bool(call.children)
        mark = state_of(call).mark
        self.states[mark] = self.states.get(mark, 0) + 1

    def troubles(self) -> str:
        """`2 failed, 1 denied`, or nothing."""
        return ", ".join(
            f"{self.states[mark]:,} {word}" for mark, word in WORDS.items() if mark in self.states
        )
