"""A typed output → the chunk that gives it to a call."""

from partita.types.chunks import Chunk, ToolOutputAvailable, ToolOutputChunk, ToolOutputError
from partita.types.tools import ErrorTextOutput, JsonOutput, TextOutput, ToolOutput


def chunk_of_output(call_id: str, output: ToolOutput, preliminary: bool = False) -> Chunk:
    """The chunk whose fold is a call with exactly this output: the AI SDK's own where it says enough."""
    early = True if preliminary else None
    if output.provider_metadata is None and not output.extra:
        match output:
            case TextOutput(value=value):
                return ToolOutputAvailable(call_id, value, preliminary=early)
            case JsonOutput(value=value) if not isinstance(value, str):
                return ToolOutputAvailable(call_id, value, preliminary=early)
            case ErrorTextOutput(value=value) if not preliminary:
                return ToolOutputError(call_id, value)
            case _:
                pass
    return ToolOutputChunk(call_id, output, preliminary=early)
