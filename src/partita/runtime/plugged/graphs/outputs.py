"""What a tool of a graph returned, as the format `langchain` reads it."""

from langchain_core.messages import ToolMessage, messages_to_dict

from partita.formats.langchain.format import load
from partita.runtime.plugged.jsonable import as_json
from partita.types.tools import ToolOutput, ToolResultPart


def output_of(message: ToolMessage) -> ToolOutput:
    """The output of a call."""
    (read,) = load(as_json(messages_to_dict([message]))).messages
    (result,) = read.parts
    assert isinstance(result, ToolResultPart)
    return result.output
