"""Outputs of calls that the client runs: taken for a call that waits for one, and for no other."""

from typing import Final, NamedTuple

from msgspec import UNSET, UnsetType

from partita.errors import ApprovalError
from partita.formats.core.metadata import server_calls
from partita.runtime.error_mask import error_text
from partita.runtime.tools.chunks import chunk_of_output
from partita.runtime.tools.sizes import shortened
from partita.stream.accumulator import Accumulator
from partita.types.chunks import Chunk
from partita.types.codec import Codec
from partita.types.json import Json
from partita.types.messages import AssistantMessage, ToolCallPart
from partita.types.tools import ToolOutput

from .approvals import Shown, check

OUTPUT: Final[Codec[ToolOutput]] = Codec(ToolOutput)


class ClientOutput(NamedTuple):
    """What came of a call. What is shown of the call must be what is stored of it."""

    tool_call_id: str
    output: ToolOutput
    tool_name: str | None = None
    input: Json | UnsetType = UNSET
    server_tools: frozenset[str] = frozenset()
    """Names of tools that the server runs: an output of theirs is refused."""
    public: bool = False
    """Whether end users may see the text of an error: it was reported for one of them."""


def with_output(call: ToolCallPart, given: ClientOutput, message: AssistantMessage) -> ToolCallPart | None:
    """The call of a message with its output; `None` when it is another one."""
    if call.id != given.tool_call_id:
        return None
    if call.name in given.server_tools or call.id in server_calls(message.content.metadata):
        raise ApprovalError(
            f"call {call.id!r} is not the client's to run",
            where=f"tool {call.name}",
            hint="the server runs it, once what the agent asked is answered",
        )
    if call.provider_executed or call.state != "input-available":
        state = "run by the provider" if call.provider_executed else call.state
        raise ApprovalError(
            f"call {call.id!r} does not wait for an output: it is {state}",
            where=f"tool {call.name}",
            hint="only a call whose input is there, and that has no output, takes one",
        )
    check(Shown(None, given.tool_name, given.input), Shown(call.id, call.name, call.input))
    fold = Accumulator(AssistantMessage(id="", content=[call]))
    fold.feed(output_chunk(given))
    (settled,) = fold.snapshot().parts
    assert isinstance(settled, ToolCallPart), "an output leaves a call a call"
    return settled


def public_text_of(given: ClientOutput) -> str | None:
    """The error that an end user's client reports for a tool of its own."""
    return error_text(shortened(given.output)) if given.public else None


def output_chunk(given: ClientOutput) -> Chunk:
    """The output, for the log of the run that waits for it. One that is too long is cut."""
    return chunk_of_output(given.tool_call_id, shortened(given.output))
