"""What tools gave back, a message each."""

from typing import Final, NamedTuple

from partita.errors import ConversionError
from partita.formats.ag_ui.content import read_content
from partita.formats.ag_ui.notes import opened
from partita.formats.ag_ui.pieces import result_group
from partita.types.json import JsonObject, is_array
from partita.types.messages import ToolContent, ToolMessage
from partita.types.tools import ContentOutput, ErrorTextOutput, TextOutput, ToolOutput, ToolResultPart

from .raw import Raw

READ: Final = frozenset({"id", "role", "content", "toolCallId", "metadata", "error"})


class Result(NamedTuple):
    """A result: of which call, what came, and what providers say of it."""

    raw: Raw
    id: str
    """The id that all results of a piece share."""
    call_id: str
    output: ToolOutput
    metadata: JsonObject | None

    def is_bare(self, id: str, *, internal: bool) -> bool:
        """Whether its message has that id, and says nothing but the result."""
        raw = self.raw
        return self.id == id and "metadata" not in raw.value and raw.is_internal == internal

    def message(self, parts: tuple[ToolResultPart, ...]) -> ToolMessage:
        """The message that it came in, with these parts."""
        content = ToolContent(parts=parts, metadata=self.raw.metadata)
        return ToolMessage(id=self.id, type="tool", content=content, internal=self.raw.is_internal)

    def alone(self, tool: str) -> ToolMessage:
        """The message that it came in, with the result in it."""
        return self.message((ToolResultPart(self.call_id, tool, self.output, self.metadata),))


def read_result(raw: Raw) -> Result:
    """A result."""
    call_id = raw.value.get("toolCallId")
    if not isinstance(call_id, str):
        raise ConversionError("a result without a toolCallId", where=raw.path, hint="name the call")
    output, more = _output(raw)
    notes = raw.notes(READ) | more
    return Result(raw, result_group(raw.id), call_id, output, opened(notes) if notes else None)


def _output(raw: Raw) -> tuple[ToolOutput, JsonObject]:
    """What a tool gave back, and what else the message says of it."""
    said, error = raw.value.get("content"), raw.value.get("error")
    if isinstance(said, str):
        output: ToolOutput = TextOutput(said)
    elif is_array(said):
        output = ContentOutput(tuple(read_content(said, f"{raw.path}.content")))
    else:
        raise raw.bad_content("a string or a list of parts")
    if isinstance(error, str):
        return ErrorTextOutput(error), {} if said == error else {"content": said}
    return output, {"error": error} if "error" in raw.value else {}
