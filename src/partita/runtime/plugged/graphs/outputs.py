"""What a tool of a graph gave back → our outputs."""

from langchain_core.messages import ToolMessage

from partita.runtime.plugged.jsonable import as_json
from partita.types.json import Json, is_array, is_object
from partita.types.parts import FilePart, TextPart
from partita.types.tools import (
    ContentItem,
    ContentOutput,
    ErrorTextOutput,
    JsonOutput,
    TextOutput,
    ToolOutput,
)


def output_of(message: ToolMessage) -> ToolOutput:
    """What came of a call."""
    content: Json = as_json(message.content)
    if message.status == "error":
        return ErrorTextOutput(content if isinstance(content, str) else message.text)
    if isinstance(content, str):
        return TextOutput(content)
    if is_array(content) and all(isinstance(item, str) or is_object(item) for item in content):
        return ContentOutput(tuple(_item(item) for item in content))
    return JsonOutput(content)


def _item(item: Json) -> ContentItem:
    match item:
        case str():
            return TextPart(item)
        case {"type": "text", "text": str(text)}:
            return TextPart(text)
        case {"base64": str(data), "mime_type": str(media_type)}:
            return FilePart(f"data:{media_type};base64,{data}", media_type)
        case {"url": str(url)}:
            return FilePart(url, str(item.get("mime_type") or "application/octet-stream"))
        case _:
            return TextPart(str(item))
