"""LangChain's standard content blocks ↔ parts, but for calls. A block of any other shape is kept whole."""

from collections.abc import Callable, Mapping
from typing import Final

from partita.formats.framework.members import Members, noted, present
from partita.types.data_url import (
    OCTETS,
    PLAIN,
    Inline,
    data_url,
    inline_of,
    kind_of_media,
    text_in,
    text_url,
)
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import Part
from partita.types.parts import FilePart, ForeignPart, ImagePart, ReasoningPart, TextPart

from .annotations import OTHERS, read_annotations, write_annotations
from .envelope import NAME
from .signing import given, taken

SPELT: Final = "spelt"
"""What a note says of a medium: under which name its bytes stood, if not under the usual one."""

UNTYPED: Final = "untyped"
"""What a note says of a medium that came without its type."""

WORDLESS: Final = "wordless"
"""What a note says of reasoning that came without words."""


PLAIN_TYPES: Final = ("text", "reasoning")
"""The types of blocks that have their words under the name of their type."""


def read_plain(block: Json) -> TextPart | ReasoningPart | None:
    """The part of a block that is words or a thought and no more."""
    if not is_object(block) or len(block) != 2:
        return None
    type_ = block.get("type")
    text = block.get(type_) if type_ in PLAIN_TYPES else None
    if not isinstance(text, str):
        return None
    return TextPart(text) if type_ == "text" else ReasoningPart(text)


def read_block(block: Json, namespace: str | None) -> Part:
    """The part that a block amounts to."""
    if isinstance(block, str):
        return TextPart(block, provider_metadata={NAME: {"shape": "string"}})
    if is_object(block) and isinstance(block.get("type"), str):
        read = READERS.get(block["type"])
        part = None if read is None else read(block, namespace)
        if part is not None:
            return part
    return ForeignPart(NAME, block)


def write_block(part: Part, namespace: str | None) -> JsonObject | None:
    """The block that holds a part; `None` if there is none for it."""
    match part:
        case TextPart():
            return _write_text(part, namespace)
        case ReasoningPart() if (data := redacted(part)) is not None:
            shape = noted(part.provider_metadata, NAME)
            return {"type": "non_standard", "value": {"type": "redacted_thinking", "data": data}, **shape}
        case ReasoningPart():
            reasoning = {"type": "reasoning", **given(part.provider_metadata, namespace)}
            is_wordless = reasoning.pop(WORDLESS, False) and not part.text
            said = {} if is_wordless else {"reasoning": part.text}
            return {**reasoning, **present(id=part.id), **said}
        case ImagePart() | FilePart():
            return _write_media(part)
        case ForeignPart(format="langchain", value=value) if is_object(value):
            return value
        case _:
            return None


def _read_text(block: JsonObject, namespace: str | None) -> Part | None:
    members = Members(block)
    members.any("type")
    text = members.text("text")
    if text is None:
        return None
    citations = None
    annotations = members.left.get("annotations")
    if is_array(annotations):
        del members.left["annotations"]
        citations, others = read_annotations(annotations)
        if others:
            members.left[OTHERS] = others
    return TextPart(text, citations=citations, provider_metadata=taken(members, namespace))


def _write_text(part: TextPart, namespace: str | None) -> JsonObject:
    block = {"type": "text", **given(part.provider_metadata, namespace), "text": part.text}
    others = block.pop(OTHERS, None)
    if others is not None or part.citations is not None:
        block["annotations"] = write_annotations(part.citations or (), others)
    return block


def _read_reasoning(block: JsonObject, namespace: str | None) -> Part | None:
    members = Members(block)
    members.any("type")
    text = members.text("reasoning")
    if text is None:
        if "reasoning" in block or WORDLESS in block:
            return None
        text, members.left[WORDLESS] = "", True
    id_ = None if namespace == "openai" else members.text("id")
    return ReasoningPart(text, id=id_, provider_metadata=taken(members, namespace))


def _read_other(block: JsonObject, namespace: str | None) -> Part | None:
    """What Anthropic thought and does not show."""
    value = block.get("value")
    is_redacted = is_object(value) and set(value) == {"type", "data"} and value["type"] == "redacted_thinking"
    if set(block) - {"type", "value", "shape"} or not is_object(value) or not is_redacted:
        return None
    if namespace not in {None, "anthropic"} or not isinstance(value["data"], str):
        return None
    shape = {NAME: {"shape": block["shape"]}} if "shape" in block else {}
    return ReasoningPart("", provider_metadata={"anthropic": {"redactedData": value["data"]}, **shape})


def redacted(part: Part) -> str | None:
    """What a part holds of reasoning that is not shown."""
    if not isinstance(part, ReasoningPart) or part.text:
        return None
    data = noted(part.provider_metadata, "anthropic").get("redactedData")
    return data if isinstance(data, str) else None


def _read_media(block: JsonObject, namespace: str | None) -> Part | None:
    members = Members(block)
    kind = members.any("type")
    if block.get(SPELT) is not None or block.get(UNTYPED) is not None:
        return None
    media_type = members.text("mime_type")
    url, reference = _source(members, kind, media_type or (PLAIN if kind == "text-plain" else None))
    if url is None and reference is None:
        return None
    filename = _filename(members)
    if kind == "image" and url is not None and reference is None:
        return ImagePart(url, media_type=media_type, name=filename, provider_metadata=_left(members))
    if media_type is None:
        members.left[UNTYPED] = kind
    elif (PLAIN if kind == "text-plain" else media_type) != media_type or _kind(media_type) != kind:
        members.left["kind"] = kind
    provider_reference = None if reference is None else {namespace or NAME: reference}
    return FilePart(
        url or "",
        DEFAULTS.get(kind, OCTETS) if media_type is None else media_type,
        filename,
        provider_reference=provider_reference,
        provider_metadata=_left(members),
    )


DEFAULTS: Final = {"image": "image/*", "audio": "audio/*", "video": "video/*", "text-plain": PLAIN}


def _source(members: Members, kind: str, media_type: str | None) -> tuple[str | None, str | None]:
    """Where the bytes are, and the id that a provider has for them. One place is taken, the rest is left."""
    reference = members.text("file_id")
    data = members.text("base64")
    if data is not None:
        if kind == "text-plain":
            members.left[SPELT] = "base64"
        return data_url(data, media_type), reference
    url = members.text("url")
    if url is not None:
        if inline_of(url) is not None:
            members.left[SPELT] = "url"
        return url, reference
    text = members.text("text")
    if text is None:
        return None, reference
    if text_in((inline_of(text_url(text)) or Inline("", None)).data) != text:
        members.left["text"] = text
        return None, reference
    if media_type != PLAIN:
        members.left[SPELT] = "text"
    return text_url(text, media_type or PLAIN), reference


def _filename(members: Members) -> str | None:
    extras = members.left.get("extras")
    if not is_object(extras) or not isinstance(extras.get("filename"), str):
        return None
    rest = {key: value for key, value in extras.items() if key != "filename"}
    if rest:
        members.left["extras"] = rest
    else:
        del members.left["extras"]
    filename: str = extras["filename"]
    return filename


def _left(members: Members) -> JsonObject | None:
    return {NAME: members.left} if members.left else None


def _kind(media_type: str) -> str:
    if media_type == PLAIN:
        return "text-plain"
    kind = kind_of_media(media_type)
    return "file" if kind == "document" else kind


def _write_media(part: ImagePart | FilePart) -> JsonObject:
    note = dict(noted(part.provider_metadata, NAME))
    spelt, untyped, kind = note.pop(SPELT, None), note.pop(UNTYPED, None), note.pop("kind", None)
    name = part.name if isinstance(part, ImagePart) else part.filename
    named = "image" if isinstance(part, ImagePart) else untyped or kind
    block = {"type": named or _kind(OCTETS if part.media_type is None else part.media_type), **note}
    if part.media_type is not None and untyped is None:
        block["mime_type"] = part.media_type
    if name is not None:
        extras = block.get("extras")
        block["extras"] = {**(extras if is_object(extras) else {}), "filename": name}
    if isinstance(part, FilePart) and part.provider_reference:
        block["file_id"] = next(iter(part.provider_reference.values()))
        if not part.url:
            return block
    source = _written_source(part.url, block["type"], spelt)
    if untyped is not None:
        source.pop("mime_type", None)
    return {**source, **block}


def _written_source(url: str, kind: str, spelt: Json) -> JsonObject:
    inline = inline_of(url)
    if inline is None or spelt == "url":
        return {"url": url}
    is_text = (kind == "text-plain" and spelt is None) or spelt == "text"
    text = text_in(inline.data) if is_text else None
    if text is not None:
        return {"text": text}
    typed = {"mime_type": inline.media_type} if inline.media_type else {}
    return {"base64": inline.data, **typed}


READERS: Final[Mapping[str, Callable[[JsonObject, str | None], Part | None]]] = {
    "text": _read_text,
    "reasoning": _read_reasoning,
    "non_standard": _read_other,
    "image": _read_media,
    "audio": _read_media,
    "video": _read_media,
    "file": _read_media,
    "text-plain": _read_media,
}
