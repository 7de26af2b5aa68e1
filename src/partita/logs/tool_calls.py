"""The tool calls of messages, those of sub-agents too, each with what came of it."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from partita.types.messages import Message, ToolCallPart
from partita.types.tools import ToolOutput, ToolState


class ToolCall(NamedTuple):
    """A call, where it is, and what came of it. `path` lists the calls above it, the outermost first."""

    message_id: str
    path: tuple[str, ...]
    id: str
    name: str
    state: ToolState
    part: ToolCallPart

    @property
    def input(self) -> object:
        """What the tool was given."""
        return self.part.input

    @property
    def output(self) -> ToolOutput | None:
        """What it gave back."""
        return self.part.output

    @property
    def failed(self) -> bool:
        """Whether it ended without doing its work."""
        return self.state in ("output-error", "output-denied")


def extract_tool_calls(messages: Iterable[Message]) -> Iterator[ToolCall]:
    """The calls of messages in order, each before those of the sub-agent it started."""
    return _calls(messages, ())


def _calls(messages: Iterable[Message], path: tuple[str, ...]) -> Iterator[ToolCall]:
    for message in messages:
        for part in message.content.parts:
            if isinstance(part, ToolCallPart):
                yield ToolCall(message.id, path, part.id, part.name, part.state, part)
                yield from _calls(part.children, (*path, part.id))
