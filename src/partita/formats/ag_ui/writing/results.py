"""What tools gave back, in words."""

from typing import Final, assert_never

from partita.formats.ag_ui.content import write_content
from partita.formats.ag_ui.losses import NO_PLACE, Losses
from partita.formats.ag_ui.names import CONTENT, MESSAGE_ID
from partita.formats.ag_ui.notes import closed, rest_of
from partita.types.json import JsonObject, dumps
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

DENIED: Final = "The call was not allowed."
INTERRUPTED: Final = "The call was interrupted."


def result_message(output: ToolOutput, metadata: JsonObject | None, path: str, losses: Losses) -> JsonObject:
    """What a tool message says of an output."""
    notes: JsonObject = {}
    if metadata is not None:
        losses.empty(f"{path}.resultProviderMetadata", metadata)
        notes = closed(metadata)
    if output.provider_metadata is not None:
        losses.metadata(f"{path}.output.providerMetadata", output.provider_metadata)
    if output.extra:
        losses.say(f"{path}.output", dict(output.extra), NO_PLACE)
    told = _content_of(output, path, losses)
    if not notes:
        return told
    if isinstance(output, ErrorTextOutput) and CONTENT in notes:
        told[CONTENT] = notes[CONTENT]
    return {**rest_of(notes, "id", "role", CONTENT, "toolCallId", MESSAGE_ID), **told}


def _content_of(output: ToolOutput, path: str, losses: Losses) -> JsonObject:
    match output:
        case TextOutput(value=text):
            return {CONTENT: text}
        case ErrorTextOutput(value=text):
            return {CONTENT: text, "error": text}
        case ContentOutput(value=items):
            return {CONTENT: write_content(items, f"{path}.output.value", losses)}
        case JsonOutput() | ErrorJsonOutput() | ExecutionDeniedOutput() | InterruptedOutput():
            text = words_of_output(output)
            tell_words(text, output.__struct_config__.tag, path, losses)
            return {CONTENT: text} if isinstance(output, JsonOutput) else {CONTENT: text, "error": text}
        case _:
            assert_never(output)


def tell_words(text: str, kind: object, path: str, losses: Losses) -> None:
    """Tell that an output becomes words."""
    losses.say(f"{path}.output", text, f"an output of type {kind} becomes words", "changed")


def words_of_output(
    output: JsonOutput | ErrorJsonOutput | ExecutionDeniedOutput | InterruptedOutput,
) -> str:
    """An output in words."""
    match output:
        case JsonOutput(value=value) | ErrorJsonOutput(value=value):
            return dumps(value).decode()
        case ExecutionDeniedOutput(reason=reason):
            return DENIED if reason is None else f"{DENIED} {reason}"
        case InterruptedOutput(reason=reason, message=message):
            return f"{INTERRUPTED} ({reason})" if message is None else f"{INTERRUPTED} ({reason}) {message}"
        case _:
            assert_never(output)
