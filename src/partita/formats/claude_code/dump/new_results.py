"""Outputs of calls → `tool_result` blocks that the API takes."""

from typing import Final, NamedTuple, assert_never

from partita.formats.claude_code.results import DENIED, OWN_WORDS, USER_REJECTED
from partita.formats.session_content import content_blocks
from partita.formats.session_losses import Losses
from partita.types.json import Json, JsonObject, dumps
from partita.types.messages import ToolCallPart
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

from .new_blocks import file_blocks

STOPPED: Final = "[Request interrupted by user for tool use]"
FAILED: Final = "The tool failed without a word."
REFUSED: Final = f"{DENIED[0][0]}."
AS_JSON: Final = "a result is words or blocks: it is written as JSON"
NO_REASON: Final = "a session file does not tell why a call was interrupted"


class Result(NamedTuple):
    """The content of a result, whether it is an error, and what its record says besides."""

    content: Json
    is_error: bool = False
    beside: JsonObject | None = None

    def block(self, call_id: str) -> JsonObject:
        """The block for a call."""
        block: JsonObject = {"type": "tool_result", "tool_use_id": call_id, "content": self.content}
        return block | {"is_error": True} if self.is_error else block


def new_result(call: ToolCallPart, path: str, losses: Losses) -> Result:
    """The result of a call. One that never came, or was not the last word, was interrupted."""
    path = f"{path}.output"
    if call.output is None:
        return _stopped(None)
    if call.preliminary:
        losses.whole(call.output, path, "the tool was still at work")
        return _stopped(None)
    losses.rest(call.output, path, "value", "reason", "message")
    return _result(call.output, path, losses)


def _result(output: ToolOutput, path: str, losses: Losses) -> Result:
    match output:
        case TextOutput(value=text):
            return Result(text)
        case JsonOutput(value=value):
            losses.say(f"{path}.type", "json", AS_JSON)
            return Result(dumps(value).decode())
        case ErrorTextOutput(value=text):
            return Result(text if text.strip() else FAILED, is_error=True)  # the API wants words in an error
        case ErrorJsonOutput(value=value):
            losses.say(f"{path}.type", "error-json", AS_JSON)
            return Result(dumps(value).decode(), is_error=True)
        case ContentOutput(value=items):
            blocks = content_blocks(items, path, losses, text_blocks=_text_blocks, file_blocks=file_blocks)
            return Result(blocks or "")
        case ExecutionDeniedOutput(reason=reason):
            words = f"{REFUSED} Instead,{OWN_WORDS[0]}{reason}" if reason else REFUSED
            beside = {"toolUseResult": USER_REJECTED, "toolDenialKind": "user-rejected"}
            return Result(words, is_error=True, beside=beside)
        case InterruptedOutput(reason=why, message=message):
            if why != "aborted":
                losses.say(f"{path}.reason", why, NO_REASON)
            return _stopped(message)
        case _:
            assert_never(output)


def _stopped(message: str | None) -> Result:
    words = message if message and message.strip() else STOPPED
    return Result(words, is_error=True, beside={"toolDenialKind": "interrupted"})


def _text_blocks(text: str) -> list[JsonObject]:
    return [{"type": "text", "text": text}] if text.strip() else []
