"""What tools gave back → the content of a `tool` message, which is text; pictures and files go behind it."""

from typing import Final, NamedTuple, assert_never

from partita.formats.losses import Loss
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
from .notes import CONTENT
from .owning import own_item, own_of
from .texts import is_plain, text_content, text_item

DENIED: Final = "The user did not allow this call."
UNANSWERED: Final = "This call was never answered."
BEHIND: Final = "What this call gave is in the message behind the results."

NO_MARK: Final = "a tool message cannot say that it is an error"
NOT_TAKEN: Final = "servers take no such content in a result"
MOVED: Final = "a result is text: it is sent in a message behind the results"


class Said(NamedTuple):
    """The content of a tool message, and what has to go behind it."""

    content: str | list[JsonObject]
    media: list[JsonObject]


def result_content(
    output: ToolOutput, path: str, dialect: Dialect, losses: list[Loss], notes: JsonObject
) -> Said:
    """What a tool gave back, in the words of a request."""
    match output:
        case TextOutput(value=text):
            return Said(text, [])
        case JsonOutput(value=value):
            return Said(dumps(value).decode(), [])
        case ErrorTextOutput(value=text):
            losses.append(Loss(f"{path}.type", "error-text", NO_MARK, "changed"))
            return Said(text, [])
        case ErrorJsonOutput(value=value):
            losses.append(Loss(f"{path}.type", "error-json", NO_MARK, "changed"))
            return Said(dumps(value).decode(), [])
        case ExecutionDeniedOutput(reason=reason):
            return Said(reason or DENIED, [])
        case ContentOutput():
            return _content(output, path, dialect, losses, is_list=notes.get(CONTENT) == "list")
        case InterruptedOutput(reason=reason, message=message):
            return Said(f"This call was interrupted: {reason}{f', {message}' if message else ''}.", [])
        case _:
            assert_never(output)


def _content(
    output: ContentOutput, path: str, dialect: Dialect, losses: list[Loss], *, is_list: bool
) -> Said:
    items: list[JsonObject] = []
    media: list[JsonObject] = []
    for index, item in enumerate(output.value):
        where = f"{path}.value[{index}]"
        match item:
            case TextPart(text=text):
                own = own_of(item.provider_metadata, dialect)
                items += [text_item(text, own)] if text or is_list else []
            case ImagePart() | FilePart():
                found = media_item(item, dialect)
                if isinstance(found, str):
                    losses.append(Loss.of(where, item, found))
                else:
                    media.append(found)
                    losses.append(Loss(where, "its place", MOVED, "repaired"))
            case ForeignPart() | UnknownPart():
                kept = own_item(item, dialect)
                if kept is None:
                    losses.append(Loss.of(where, item, NOT_TAKEN))
                else:
                    items.append(kept)
            case _:
                assert_never(item)
    if media and not items:
        items = [text_item(BEHIND, None)]
    if is_list or not is_plain(items):
        return Said(items, media)
    return Said(text_content([item["text"] for item in items], path, dialect, losses), media)
