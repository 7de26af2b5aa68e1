"""What comes of calls, as the content of a result."""

from typing import TypeAlias

from msgspec import UNSET, UnsetType

from partita.formats.ag_ui.content import write_content
from partita.formats.ag_ui.losses import Losses
from partita.formats.ag_ui.writing.results import DENIED, words_of_output
from partita.types.chunks import ToolOutputAvailable, ToolOutputChunk, ToolOutputDenied, ToolOutputError
from partita.types.codec import to_json
from partita.types.json import Json, dumps
from partita.types.tools import (
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    InterruptedOutput,
    JsonOutput,
    TextOutput,
    ToolOutput,
)

from .telling import Telling

Output: TypeAlias = ToolOutputAvailable | ToolOutputError | ToolOutputDenied | ToolOutputChunk


def content_of(chunk: Output, telling: Telling) -> Json:
    """The content of the result that a chunk is."""
    match chunk:
        case ToolOutputDenied():
            telling.lose("", "tool-output-denied", "a refusal becomes words", "changed")
            return DENIED
        case ToolOutputError():
            telling.lose("errorText", chunk.error_text, "an error becomes words", "changed")
            return chunk.error_text
        case ToolOutputAvailable() | ToolOutputChunk():
            return _content(chunk.output, telling)


def _content(output: Json | ToolOutput | UnsetType, telling: Telling) -> Json:
    match output:
        case str():
            return output
        case TextOutput():
            return output.value
        case ContentOutput():
            return _parts(output, telling)
        case ErrorTextOutput():
            telling.lose("output", to_json(output), "an error becomes words", "changed")
            return output.value
        case UnsetType():
            telling.lose("output", None, "a result must have a content", "repaired")
            return ""
        case JsonOutput() | ErrorJsonOutput() | ExecutionDeniedOutput() | InterruptedOutput():
            words = words_of_output(output)
        case _:
            words = dumps(output).decode()
    telling.lose("output", words, "an output that is no text becomes words", "changed")
    return words


def _parts(output: ContentOutput, telling: Telling) -> list[Json]:
    losses = Losses()
    written = write_content(output.value, "output", losses)
    for loss in losses.told:
        telling.lose(loss.path, loss.what, loss.why, loss.severity)
    return written


def preview_of(chunk: Output) -> Json | UnsetType:
    """What a chunk shows while its call still runs; unset if the call has come to its end."""
    if not isinstance(chunk, ToolOutputAvailable | ToolOutputChunk) or not chunk.preliminary:
        return UNSET
    return None if chunk.output is UNSET else to_json(chunk.output)
