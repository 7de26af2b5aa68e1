"""A tool call while its input, the question whether it may run, and its output come."""

from typing import Final, Literal, TypeAlias

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from partita.errors import DecodeError
from partita.formats.claude_code.blocks import CallFacts, server_of
from partita.formats.claude_code.wire import CLAUDE_CODE
from partita.types.chunks import (
    ToolInputAvailable,
    ToolInputDelta,
    ToolInputError,
    ToolInputStart,
    ToolOutputChunk,
)
from partita.types.json import Json, JsonObject, is_object, loads
from partita.types.tools import ToolOutput

UNKNOWN_TOOL: Final = "unknown-tool"
"""The name of a tool of which only a result, a question or a sub-agent is known."""

State: TypeAlias = Literal["streaming", "available", "lost", "done", "retracted"]
"""`lost`: given up, until an output comes after all. `retracted`: the answer that made it was taken back."""


class Call:
    """What is known of a call. `path` leads to the agent that made it; `step` is the step it is in."""

    __slots__ = ("_pieces", "approval", "facts", "failure", "input", "path", "state", "step", "wire_id")

    def __init__(self, facts: CallFacts, path: tuple[str, ...], step: int, wire_id: str) -> None:
        """`wire_id` is its id in the stream, which may have been used before."""
        self.facts = facts
        self.wire_id = wire_id
        self.path = path
        self.step = step
        self.state: State = "streaming"
        self.input: Json | UnsetType = UNSET
        self.approval: str | None = None
        self.failure: tuple[JsonObject, Json | UnsetType] | None = None
        """The block of an error and the structured result beside it: it may turn out to be a refusal."""
        self._pieces: list[str] = []

    @property
    def is_open(self) -> bool:
        """Whether an output is still to come."""
        return self.state in ("streaming", "available")

    def start(self) -> ToolInputStart:
        """The chunk that opens the input."""
        facts = self.facts
        return ToolInputStart(
            facts.call_id,
            facts.name,
            provider_executed=facts.provider_executed,
            provider_metadata=facts.provider_metadata,
            tool_metadata=facts.tool_metadata,
        )

    def hear(self, piece: str) -> ToolInputDelta | None:
        """The chunk for a piece of the input; none once the input is whole."""
        if self.state != "streaming" or not piece:
            return None
        self._pieces.append(piece)
        return ToolInputDelta(self.facts.call_id, piece)

    def stop(self) -> ToolInputAvailable | None:
        """The input is written. Without a name, or when it is no JSON, the whole block may still help."""
        if self.state != "streaming" or not self.facts.name:
            return None
        try:
            return self.available(self._written())
        except DecodeError:
            return None

    def settle(self) -> ToolInputAvailable | ToolInputError | None:
        """The input as it is, now that nothing more comes of it."""
        if self.state != "streaming":
            return None
        self.name(UNKNOWN_TOOL)
        try:
            return self.available(self._written())
        except DecodeError as error:
            self.state = "lost"
            return ToolInputError(
                self.facts.call_id,
                self.facts.name,
                f"the input is no JSON: {error}",
                "".join(self._pieces),
                **self._description(),
            )

    def available(self, input: Json | UnsetType) -> ToolInputAvailable:
        """The chunk with the whole input."""
        self.state, self.input = "available", input
        return ToolInputAvailable(self.facts.call_id, self.facts.name, input, **self._description())

    def output(self, chunk: ToolOutputChunk) -> ToolOutputChunk:
        """The chunk that ends it. Tool metadata of a chunk replaces what the call had, so both go into it."""
        self.state = "done"
        if chunk.tool_call_id != self.facts.call_id:
            chunk = replace(chunk, tool_call_id=self.facts.call_id)
        own, new = self.facts.tool_metadata, chunk.tool_metadata
        if own is None or new is None:
            return chunk
        return replace(chunk, tool_metadata={CLAUDE_CODE: {**own[CLAUDE_CODE], **new[CLAUDE_CODE]}})

    def give_up(self, output: ToolOutput) -> ToolOutputChunk:
        """The chunk that says what became of it when no output came."""
        self.state = "lost"
        return ToolOutputChunk(self.facts.call_id, output, provider_executed=self.facts.provider_executed)

    def name(self, name: str) -> None:
        """Give it a name if it has none."""
        if not self.facts.name:
            own = self.facts.tool_metadata or server_of(name)
            self.facts = self.facts._replace(name=name, tool_metadata=own)

    def _written(self) -> Json:
        text = "".join(self._pieces)
        return loads(text) if text.strip() else {} if self.input is UNSET else self.input

    def _description(self) -> JsonObject:
        facts = self.facts
        return {
            "provider_executed": facts.provider_executed,
            "provider_metadata": facts.provider_metadata,
            "tool_metadata": facts.tool_metadata,
        }


def input_of(block: JsonObject) -> Json | UnsetType:
    """The input that a block holds when it begins; an empty one says nothing."""
    given = block.get("input")
    return given if is_object(given) and given else UNSET
