"""What a user shows and says, read from the parts of a content."""

from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import SystemPart, UserPart
from partita.types.parts import FilePart, ForeignPart, TextPart

from .looking import FORMAT, NAMESPACE, UNTYPED, marks_of, more_of, text_at
from .sources import ANY_BYTES


def user_part(part: Json, raw: Json) -> UserPart:
    """A part of a user's turn. What is not understood is kept as it came."""
    if is_object(part) and len(part) == 1 and isinstance(part.get("text"), str):
        return TextPart(part["text"])
    if is_object(part) and isinstance(part.get("text"), str) and not _holds_more(part):
        return _text(part)
    return file_in(part) or ForeignPart(FORMAT, raw)


def system_part(part: Json, raw: Json) -> SystemPart:
    """A part of the instructions: a text, or something that is kept as it came."""
    if is_object(part) and isinstance(part.get("text"), str) and not _holds_more(part):
        return _text(part)
    return ForeignPart(FORMAT, raw)


def file_in(part: Json) -> FilePart | None:
    """The file that a part holds, if it holds one and no more."""
    if not is_object(part) or "text" in part:
        return None
    match [key for key in HOLDERS if part.get(key) is not None]:
        case ["inlineData"] if is_object(part["inlineData"]):
            blob = part["inlineData"]
            media_type, data = text_at(blob, "mimeType"), blob.get("data", "")
            if not isinstance(data, str):
                return None
            url: str | None = f"data:{media_type or ANY_BYTES};base64,{data}"
            more = more_of(blob, "inlineData", "mimeType", "data")
        case ["fileData"] if is_object(part["fileData"]):
            media_type, url = text_at(part["fileData"], "mimeType"), text_at(part["fileData"], "fileUri")
            more = more_of(part["fileData"], "fileData", "mimeType", "fileUri")
        case _:
            return None
    if url is None:
        return None
    untyped = {} if media_type else {UNTYPED: True}
    marks = {**marks_of(part, "inlineData", "fileData"), **more, **untyped}
    return FilePart(url, media_type or ANY_BYTES, provider_metadata={NAMESPACE: marks} if marks else None)


HOLDERS = (
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "executableCode",
    "codeExecutionResult",
    "toolCall",
    "toolResponse",
)
"""What a part may hold besides a text."""


def _holds_more(part: JsonObject) -> bool:
    return any(part.get(key) is not None for key in HOLDERS)


def _text(part: JsonObject) -> TextPart:
    marks = marks_of(part, "text")
    return TextPart(part["text"], provider_metadata={NAMESPACE: marks} if marks else None)
