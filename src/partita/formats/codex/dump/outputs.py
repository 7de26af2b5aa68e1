"""Outputs of calls → what `function_call_output` holds.

A rollout has no flag for failures, refusals and interruptions: they show in the text. Of the texts that Codex
itself writes, the first one is taken that is read back as the same output.
"""

from collections.abc import Sequence
from typing import Final, assert_never

from msgspec.structs import replace

from partita.formats.codex.content import outcome_of
from partita.formats.losses import Loss
from partita.formats.session_content import content_blocks
from partita.formats.session_losses import Losses
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, dumps
from partita.types.parts import TextPart
from partita.types.tools import (
    ContentItem,
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    InterruptedOutput,
    JsonOutput,
    TextOutput,
    ToolOutput,
)

from .content import image_block

AS_JSON: Final = "an output is text or content items: it is written as JSON"
IN_TEXT: Final = "a rollout shows by the text alone how a call ended"


def output_of(output: ToolOutput, path: str, losses: Losses) -> Json:
    """The output as Codex writes it."""
    losses.rest(output, path, "value", "reason", "message")
    wanted = replace(_as_text(output, path, losses), provider_metadata=None)
    found = _candidates(wanted, path, losses)
    for one in found:
        if outcome_of(one).output == wanted:
            return one
    losses.told.append(Loss.of(path, to_json(wanted), IN_TEXT, "changed"))
    return found[-1]


def _as_text(output: ToolOutput, path: str, losses: Losses) -> ToolOutput:
    """JSON is written as text."""
    match output:
        case JsonOutput(value=value):
            losses.say(f"{path}.type", "json", AS_JSON)
            return TextOutput(dumps(value).decode())
        case ErrorJsonOutput(value=value):
            losses.say(f"{path}.type", "error-json", AS_JSON)
            return ErrorTextOutput(dumps(value).decode())
        case _:
            return output


def _candidates(output: ToolOutput, path: str, losses: Losses) -> list[Json]:
    """The ways to write an output, the plainest first; the last one if none is read back as the same."""
    match output:
        case TextOutput(value=text):
            return [text, _with_code(text, 0), text]
        case ErrorTextOutput(value=text):
            return [text, _with_code(text, 1)]
        case ContentOutput(value=(TextPart(text=text),) as items):
            return [_blocks(items, path, losses), text]
        case ContentOutput(value=items):
            return [_blocks(items, path, losses)]
        case ExecutionDeniedOutput(reason=reason):
            return [reason, f"rejected by user: {reason}"] if reason else ["rejected by user"]
        case InterruptedOutput(reason="timeout", message=message):
            late = "command timed out after"
            return [message, f"{late}: {message}"] if message else [late]
        case InterruptedOutput(message=message):
            return [message, f"aborted by user: {message}"] if message else ["aborted"]
        case JsonOutput() | ErrorJsonOutput():
            raise AssertionError("JSON was made text before")
        case _:
            assert_never(output)


def _with_code(text: str, code: int) -> str:
    """A text with its exit code, as shells of Codex gave it until 2025."""
    return dumps({"output": text, "metadata": {"exit_code": code, "duration_seconds": 0.0}}).decode()


def _blocks(items: Sequence[ContentItem], path: str, losses: Losses) -> list[JsonObject]:
    return content_blocks(items, path, losses, text_blocks=_text_blocks, file_blocks=image_block)


def _text_blocks(text: str) -> list[JsonObject]:
    return [{"type": "input_text", "text": text}]
