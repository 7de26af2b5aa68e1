"""What tools gave back → the content of a `tool` message, which is text; pictures and files go behind it."""

from typing import Final, NamedTuple, assert_never

from partita.formats.losses import Loss
from partita.types.codec import to_json
from partita.types.json import JsonObject, dumps
from partita.types.parts import FilePart, ForeignPart, ImagePart, TextPart, UnknownPart
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

from .attachments import media_item
from .dialects import Dialect
from .texts import text_content

DENIED: Final = "The user did not allow this call."
UNANSWERED: Final = "This call was never answered."
BEHIND: Final = "What this call gave is in the message behind the results."

NO_MARK: Final = "a tool message cannot say that it is an error"
NOT_TAKEN: Final = "servers take no such content in a result"


class Said(NamedTuple):
    """The content of a tool message, and what has to go behind it."""

    content: str | list[JsonObject]
    media: list[JsonObject]


def result_content(output: ToolOutput, path: str, dialect: Dialect, losses: list[Loss]) -> Said:
    """What a tool gave back, in the words of a request."""
    match output:
        case TextOutput(value=text):
            return Said(text, [])
        case JsonOutput(value=value):
            return Said(dumps(value).decode(), [])
        case ErrorTextOutput(value=text):
            losses.append(Loss(f"{path}.type", "error-text", NO_MARK))
            return Said(text, [])
        case ErrorJsonOutput(value=value):
            losses.append(Loss(f"{path}.type", "error-json", NO_MARK))
            return Said(dumps(value).decode(), [])
        case ExecutionDeniedOutput(reason=reason):
            return Said(reason or DENIED, [])
        case ContentOutput():
            return _content(output, path, dialect, losses)
        case InterruptedOutput(reason=reason, message=message):
            return Said(f"This call was interrupted: {reason}{f', {message}' if message else ''}.", [])
        case _:
            assert_never(output)


def _content(output: ContentOutput, path: str, dialect: Dialect, losses: list[Loss]) -> Said:
    texts: list[str] = []
    media: list[JsonObject] = []
    for index, item in enumerate(output.value):
        where = f"{path}.value[{index}]"
        match item:
            case TextPart(text=text):
                texts += [text] if text else []
            case ImagePart() | FilePart():
                found = media_item(item, dialect)
                if isinstance(found, str):
                    losses.append(Loss.of(where, to_json(item), found))
                else:
                    media.append(found)
            case ForeignPart() | UnknownPart():
                losses.append(Loss.of(where, to_json(item), NOT_TAKEN))
            case _:
                assert_never(item)
    if media and not texts:
        texts = [BEHIND]
    return Said(text_content(texts, path, dialect, losses), media)
