"""Blocks of providers and of LangChain before version 1 ↔ standard blocks, as JSON.

LangChain keeps the blocks of its integrations, and translates them when `content_blocks` is read: see
`block_translators` in langchain-core, which the functions here follow. A shape is such a form of a block.
Members that only the native block has are kept as a residue, so that the native block can be written
back.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from partita.errors import DecodeError
from partita.formats.core.members import present, without
from partita.formats.core.wire import residue
from partita.types.data_url import PLAIN, data_url, inline_data, media_kind, text_of_base64, text_url
from partita.types.json import Json, JsonObject, dumps, is_array, is_object, loads

SUMMARY: Final = "summary"

STANDARD: Final = "standard"
STRING: Final = "string"
"""The shape of a string in a list of blocks."""
REASONING_CONTENT: Final = "reasoning_content"
"""The member of `additional_kwargs` with reasoning, and its shape: langchain-deepseek, -groq, -ollama."""


class Shape(NamedTuple):
    """A form of native blocks. Its functions raise an error if a block has members of unexpected types."""

    to_standard: Callable[[JsonObject], list[JsonObject]]
    to_native: Callable[[JsonObject], JsonObject]
    namespace: str | None = None
    """The provider of the form, if signatures depend on it."""


class Standardized(NamedTuple):
    """The standard blocks of a native block, its shape and its residue."""

    shape: str
    blocks: list[JsonObject]
    residue: JsonObject


def standardize(block: JsonObject) -> Standardized | None:
    """Return the standard blocks for a native one; `None` if it has no known shape."""
    shape = _shape_of(block)
    if shape is None:
        return None
    try:
        blocks = SHAPES[shape].to_standard(block)
        native: list[Any] = []
        for one in blocks:
            append_native(native, SHAPES[shape].to_native(one))
    except (KeyError, TypeError, AttributeError, ValueError, DecodeError):
        return None
    return Standardized(shape, blocks, residue(native[0], block)) if len(native) == 1 else None


def to_native(block: JsonObject, shape: Json) -> JsonObject:
    """Return a standard block in a shape, unchanged if it lacks members that the shape needs."""
    known = SHAPES.get(shape) if isinstance(shape, str) else None
    try:
        return block if known is None else known.to_native(block)
    except (KeyError, TypeError, AttributeError, ValueError):
        return block


def default_shape(block: JsonObject, namespace: str | None) -> str | None:
    """Return the shape of a standard block for code before version 1."""
    match block:
        case {"type": "reasoning"} if namespace == "openai":
            return SUMMARY
        case {"type": "reasoning"} if namespace == "anthropic":
            return None if "id" in block else "thinking"
        case {"type": "reasoning"}:
            return REASONING_CONTENT
        case {"type": "non_standard", "value": {"type": "redacted_thinking"}}:
            return "redacted_thinking"
        case {"type": "image", "url": _} | {"type": "image", "base64": _}:
            return "image_url"
        case {"type": "audio" | "file" | "text-plain"}:
            return "source_type"
        case _:
            return None


def append_native(blocks: list[Any], block: JsonObject) -> bool:
    """Append a block, unless it is a summary in the last one: OpenAI has one block for an item."""
    last: JsonObject = blocks[-1] if blocks and is_object(blocks[-1]) else {}
    is_summary = is_array(block.get(SUMMARY)) and is_array(last.get(SUMMARY)) and block[SUMMARY]
    if is_summary and block.keys() <= {"type", "id", SUMMARY} and last.get("id") == block.get("id"):
        blocks[-1] = {**last, SUMMARY: [*last[SUMMARY], *block[SUMMARY]]}
        return False
    blocks.append(block)
    return True


def _shape_of(block: JsonObject) -> str | None:
    match block:
        case {"type": "image" | "document", "source": {}}:
            return "source"
        case {"type": "image" | "audio" | "file", "source_type": str()}:
            return "source_type"
        case {"type": "reasoning", "summary": [*_]}:
            return SUMMARY
        case {"type": "file", "file": {}}:
            return "file"
        case {"type": "image_url", "image_url": str()}:
            return "image_url_text"
        case {"type": "text", "annotations": [{"type": "url_citation"}, *_]}:
            return "url_citation"
        case {"type": "text" | "reasoning" | "file"}:
            return None
        case {"type": str(type_), "tool_use_id": str()} if type_.endswith("_tool_result"):
            return "tool_result"
        case {"type": str(type_)}:
            return type_ if type_ in SHAPES else None
        case _:
            return None


def _extras(block: JsonObject) -> JsonObject:
    extras = block.get("extras")
    return extras if is_object(extras) else {}


# Text and reasoning


def _annotations(before: str, after: str) -> Callable[[JsonObject], JsonObject]:
    """Return a function that renames a type of annotations."""

    def rename(block: JsonObject) -> JsonObject:
        renamed = [{**one, "type": after} if one["type"] == before else one for one in block["annotations"]]
        return {**block, "annotations": renamed}

    return rename


_to_citations: Final = _annotations("url_citation", "citation")


def _thinking(block: JsonObject) -> list[JsonObject]:
    extras = {"extras": {"signature": block["signature"]}} if "signature" in block else {}
    rest = without(block, "thinking", "signature")
    return [{**rest, "type": "reasoning", "reasoning": block["thinking"], **extras}]


def _to_thinking(block: JsonObject) -> JsonObject:
    rest = without(block, "reasoning", "extras")
    return {**rest, "type": "thinking", "thinking": block.get("reasoning", ""), **_extras(block)}


def _summary(block: JsonObject) -> list[JsonObject]:
    texts: list[str] = [one["text"] for one in block["summary"]] or [""]
    first = {**without(block, "summary"), "reasoning": texts[0]}
    id_ = {"id": block["id"]} if "id" in block else {}
    return [first, *({"type": "reasoning", **id_, "reasoning": text} for text in texts[1:])]


def _to_summary(block: JsonObject) -> JsonObject:
    text = block.get("reasoning")
    summary = [{"type": "summary_text", "text": text}] if text else []
    return {**without(block, "reasoning"), "summary": summary}


# Calls


def _call(type_: str) -> Callable[[JsonObject], list[JsonObject]]:
    return lambda block: [{**without(block, "input"), "type": type_, "args": block["input"]}]


def _to_call(type_: str) -> Callable[[JsonObject], JsonObject]:
    return lambda block: {**without(block, "args"), "type": type_, "input": block["args"]}


def _tool_result(block: JsonObject) -> list[JsonObject]:
    content = block["content"]
    is_error = is_object(content) and str(content.get("type")).endswith("_error")
    result = {
        "type": "server_tool_result",
        "tool_call_id": block["tool_use_id"],
        "status": "error" if is_error or block.get("is_error") is True else "success",
        "output": content,
        "extras": {"block_type": block["type"]},
    }
    return [{**without(block, "tool_use_id", "content"), **result}]


def _to_tool_result(block: JsonObject) -> JsonObject:
    rest = without(block, "tool_call_id", "output", "status", "extras")
    type_ = block["extras"]["block_type"]
    return {**rest, "type": type_, "tool_use_id": block["tool_call_id"], "content": block["output"]}


def _function_call(block: JsonObject) -> list[JsonObject]:
    extras = present(item_id=block.get("id"), status=block.get("status"))
    call = {"type": "tool_call", "id": block["call_id"], "name": block["name"]}
    call |= {"args": loads(block["arguments"]), **({"extras": extras} if extras else {})}
    return [{**without(block, "arguments", "call_id", "id", "status", "name"), **call}]


def _to_function_call(block: JsonObject) -> JsonObject:
    extras = _extras(block)
    call = {"type": "function_call", "call_id": block["id"], "name": block["name"]}
    call |= {"arguments": dumps(block["args"]).decode()}
    call |= present(id=extras.get("item_id"), status=extras.get("status"))
    return {**without(block, "id", "name", "args", "extras"), **call}


# Files


def _inline(url: str) -> JsonObject:
    """Return the members of a standard block for a URL."""
    inline = inline_data(url)
    return {"url": url} if inline is None else {"base64": inline.data, **present(mime_type=inline.media_type)}


def _url(block: JsonObject) -> str:
    url: str = data_url(block["base64"], block.get("mime_type")) if "base64" in block else block["url"]
    return url


def _image_url(block: JsonObject) -> list[JsonObject]:
    about = block["image_url"]
    image = {"type": "image", **_inline(about["url"])}
    extras = without(about, "url")
    return [{**without(block, "image_url"), **image, **({"extras": extras} if extras else {})}]


def _to_image_url(block: JsonObject) -> JsonObject:
    rest = without(block, "url", "base64", "mime_type", "extras")
    return {**rest, "type": "image_url", "image_url": {"url": _url(block), **_extras(block)}}


def _image_url_text(block: JsonObject) -> list[JsonObject]:
    return [{**without(block, "image_url"), "type": "image", **_inline(block["image_url"])}]


def _to_image_url_text(block: JsonObject) -> JsonObject:
    return {**without(block, "url", "base64", "mime_type"), "type": "image_url", "image_url": _url(block)}


def _file(block: JsonObject) -> list[JsonObject]:
    file = block["file"]
    source = {"file_id": file["file_id"]} if "file_id" in file else _inline(file["file_data"])
    extras = {"extras": {"filename": file["filename"]}} if "filename" in file else {}
    return [{**without(block, "file"), **source, **extras}]


def _to_file(block: JsonObject) -> JsonObject:
    source = {"file_id": block["file_id"]} if "file_id" in block else {"file_data": _url(block)}
    rest = without(block, "file_id", "url", "base64", "mime_type", "extras")
    return {**rest, "file": {**source, **_extras(block)}}


def _input_audio(block: JsonObject) -> list[JsonObject]:
    audio = block["input_audio"]
    own = {"type": "audio", "base64": audio["data"], "mime_type": f"audio/{audio['format']}"}
    return [{**without(block, "input_audio"), **own}]


def _to_input_audio(block: JsonObject) -> JsonObject:
    audio = {"data": block["base64"], "format": block["mime_type"].removeprefix("audio/")}
    return {**without(block, "base64", "mime_type"), "type": "input_audio", "input_audio": audio}


def _media(block: JsonObject) -> list[JsonObject]:
    """A file of Google's integrations."""
    kind = media_kind(block["mime_type"])
    source = {"base64": block["data"]} if "data" in block else {"url": block["file_uri"]}
    type_ = "file" if kind == "document" else kind
    return [{**without(block, "data", "file_uri"), "type": type_, **source}]


def _to_media(block: JsonObject) -> JsonObject:
    source = {"data": block["base64"]} if "base64" in block else {"file_uri": block["url"]}
    return {**without(block, "base64", "url"), "type": "media", **source}


Members: TypeAlias = Mapping[str, tuple[str, str]]
"""By the type of a source: the member with its value, and that of a standard block."""

# https://docs.claude.com/en/api/messages
SOURCES: Final[Members] = {
    "base64": ("data", "base64"),
    "url": ("url", "url"),
    "file": ("file_id", "file_id"),
    "text": ("data", "text"),
}
# block_translators/langchain_v0.py
SOURCE_TYPES: Final[Members] = {
    "base64": ("data", "base64"),
    "url": ("url", "url"),
    "id": ("id", "file_id"),
    "text": ("text", "text"),
}


def _member_of(block: JsonObject, members: Members) -> tuple[str, str, str]:
    """Return the type of the source of a standard block, and both names of its value."""
    return next((kind, old, new) for kind, (old, new) in members.items() if new in block)


def _source(block: JsonObject) -> list[JsonObject]:
    source = block["source"]
    old, new = SOURCES[source["type"]]
    type_ = "image" if block["type"] == "image" else "text-plain" if new == "text" else "file"
    own = {"type": type_, new: source[old], **present(mime_type=source.get("media_type"))}
    return [{**without(block, "source"), **own}]


def _to_source(block: JsonObject) -> JsonObject:
    kind, old, new = _member_of(block, SOURCES)
    source = {"type": kind, old: block[new], **present(media_type=block.get("mime_type"))}
    type_ = "image" if block["type"] == "image" else "document"
    return {**without(block, new, "mime_type"), "type": type_, "source": source}


def _source_type(block: JsonObject) -> list[JsonObject]:
    old, new = SOURCE_TYPES[block["source_type"]]
    own = {"type": block["type"], new: block[old]}
    text = text_of_base64(block[old]) if new == "base64" and block.get("mime_type") == PLAIN else None
    if text is not None:
        own = {"type": "text-plain", "text": text}
    elif new == "text":
        own["type"] = "text-plain"
    extras = {"extras": {"filename": block["filename"]}} if "filename" in block else {}
    return [{**without(block, "source_type", "filename", old), **own, **extras}]


def _to_source_type(block: JsonObject) -> JsonObject:
    text = inline_data(text_url(block["text"])) if "text" in block else None
    if text is not None:  # there was no block for text files
        block = {"mime_type": PLAIN, **without(block, "text"), "base64": text.data}
    kind, old, new = _member_of(block, SOURCE_TYPES)
    type_ = "file" if block["type"] == "text-plain" else block["type"]
    rest = without(block, "id", "extras", new)
    return {**rest, "type": type_, "source_type": kind, old: block[new], **_extras(block)}


SHAPES: Final[Mapping[str, Shape]] = {
    "thinking": Shape(_thinking, _to_thinking, "anthropic"),
    "redacted_thinking": Shape(
        lambda block: [{"type": "non_standard", "value": block}], lambda block: block["value"], "anthropic"
    ),
    SUMMARY: Shape(_summary, _to_summary, "openai"),
    "url_citation": Shape(
        lambda block: [_to_citations(block)], _annotations("citation", "url_citation"), "openai"
    ),
    "tool_use": Shape(_call("tool_call"), _to_call("tool_use"), "anthropic"),
    "server_tool_use": Shape(_call("server_tool_call"), _to_call("server_tool_use"), "anthropic"),
    "tool_result": Shape(_tool_result, _to_tool_result),
    "function_call": Shape(_function_call, _to_function_call, "openai"),
    "image_url": Shape(_image_url, _to_image_url),
    "image_url_text": Shape(_image_url_text, _to_image_url_text),
    "source": Shape(_source, _to_source),
    "source_type": Shape(_source_type, _to_source_type),
    "file": Shape(_file, _to_file),
    "input_audio": Shape(_input_audio, _to_input_audio),
    "media": Shape(_media, _to_media),
}
