"""What tools gave back, a message each."""

from collections.abc import Callable
from typing import Final

from partita.errors import ConversionError
from partita.formats.ag_ui.content import read_content
from partita.formats.ag_ui.notes import opened
from partita.formats.ag_ui.pieces import result_group
from partita.types.json import JsonObject, is_array
from partita.types.messages import ToolContent, ToolMessage
from partita.types.tools import ContentOutput, ErrorTextOutput, TextOutput, ToolOutput, ToolResultPart

from .raw import Raw

READ: Final = frozenset({"id", "role", "content", "toolCallId", "metadata", "error"})


def read_result(raw: Raw, name_of: Callable[[str], str]) -> ToolMessage:
    """A result. `name_of` tells the tool of a call."""
    call_id = raw.value.get("toolCallId")
    if not isinstance(call_id, str):
        raise ConversionError("a result without a toolCallId", where=raw.path, hint="name the call")
    output, more = _output(raw)
    notes = {**raw.notes(READ), **more}
    result = ToolResultPart(call_id, name_of(call_id), output, opened(notes) if notes else None)
    content = ToolContent(parts=(result,), metadata=raw.metadata)
    return ToolMessage(id=result_group(raw.id), content=content, internal=raw.is_internal)


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
