"""What a tool gave back, as the object that Gemini wants."""

from collections.abc import Callable
from typing import Final, NamedTuple, assert_never

from partita.formats.losses import Loss
from partita.types.json import Json, JsonObject, is_object
from partita.types.parts import FilePart, ForeignPart, ImagePart, TextPart, UnknownPart
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

from .looking import NAMESPACE, RESPONSE, UNTYPED, object_at
from .media import media_of

Lose = Callable[[Loss], None]

DENIED: Final = "the call was not allowed"
NO_REFUSAL: Final = "Gemini knows errors alone: the refusal is told in words"
NO_END: Final = "Gemini knows errors alone: it is told in words"
NO_NAME: Final = "Gemini is not told the names of files"
NOT_SENT: Final = "Gemini has no such content"
NO_ADDRESS: Final = "the file is neither in the message nor at an address that Gemini reads"

FILE_MARKS: Final = frozenset({UNTYPED, "inlineData", "fileData"})


class Answer(NamedTuple):
    """The object that answers a call, and the files that go with it."""

    response: JsonObject
    files: tuple[JsonObject, ...] = ()


def answer_of(output: ToolOutput, path: str, lose: Lose) -> Answer:
    """The answer to a call."""
    match output:
        case TextOutput(value=text):
            return Answer({"output": text})
        case JsonOutput(value=value):
            return Answer(_as_object(value))
        case ErrorTextOutput(value=text):
            return Answer({"error": text})
        case ErrorJsonOutput(value=value):
            return Answer({"error": value})
        case ExecutionDeniedOutput(reason=reason):
            lose(Loss(path, "execution-denied", NO_REFUSAL, "changed"))
            return Answer({"error": f"{DENIED}: {reason}" if reason else DENIED})
        case InterruptedOutput(reason=reason, message=message):
            lose(Loss(path, f"interrupted ({reason})", NO_END, "changed"))
            return Answer({"error": message or f"the call was interrupted: {reason}"})
        case ContentOutput(value=items):
            return _content(items, path, lose)
        case _:
            assert_never(output)


def _content(items: tuple[ContentItem, ...], path: str, lose: Lose) -> Answer:
    texts: list[str] = []
    files: list[JsonObject] = []
    response: JsonObject | None = None
    for number, item in enumerate(items):
        match item:
            case TextPart(text=text):
                whole = object_at(item.provider_metadata, NAMESPACE).get(RESPONSE)
                if is_object(whole) and response is None:
                    response = whole
                else:
                    texts.append(text)
            case ImagePart() | FilePart():
                media = media_of(item)
                if media is None:
                    lose(Loss.of(f"{path}.value[{number}]", item, NO_ADDRESS))
                    continue
                marks = object_at(item.provider_metadata, NAMESPACE)
                files.append({**media, **{key: marks[key] for key in marks if key not in FILE_MARKS}})
                name = item.name if isinstance(item, ImagePart) else item.filename
                if name is not None:
                    lose(Loss.of(f"{path}.value[{number}]", name, NO_NAME))
            case ForeignPart(format="gemini", value=value) if is_object(value):
                files.append(value)
            case ForeignPart() | UnknownPart():
                lose(Loss.of(f"{path}.value[{number}]", item, NOT_SENT))
            case _:
                assert_never(item)
    said: JsonObject = {"output": "\n".join(texts)} if texts else {}
    return Answer({**(response or {}), **said}, tuple(files))


def _as_object(value: Json) -> JsonObject:
    return value if is_object(value) else {"output": value}
