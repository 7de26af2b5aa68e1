"""Codecs for the blocks of Converse."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import UNSET
from msgspec.structs import replace

from partita.formats.core.codec import PartCodec, PartCodecs
from partita.formats.core.files import FILES, AnyFile, file_name, media_type_of
from partita.formats.core.metadata import FIELDS, add_notes, notes
from partita.formats.core.report import Place, PlacedPart
from partita.formats.core.rules import Alphabet
from partita.formats.core.server_tools import behind_note, write_message_blocks
from partita.formats.core.tool_text import as_text, object_input, read_tool_text, tool_text
from partita.formats.core.turns import Placed
from partita.formats.core.wire import UnknownVariant, Wire, to_json
from partita.types.data_url import OCTETS, PLAIN, data_url, kind_of_media, parse_data_url, text_url
from partita.types.fold import state_after
from partita.types.json import Json, JsonObject, is_array, is_object, walk
from partita.types.messages import AssistantPart, ToolCallPart
from partita.types.parts import (
    Citation,
    CustomPart,
    DocumentCitationSource,
    FilePart,
    ForeignPart,
    ImagePart,
    ReasoningPart,
    TextPart,
    UrlCitationSource,
)
from partita.types.tools import ContentOutput, ErrorJsonOutput, ToolOutput, ToolResultPart

from . import wire
from .wire import NAME

# https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolUseBlock.html
CALL_ID: Final = Alphabet(re.compile(r"[^A-Za-z0-9_.:-]"), 64)
TOOL_NAME: Final = Alphabet(re.compile(r"[^A-Za-z0-9_-]"), 64)


SERVER: Final = "server_tool_use"
EMPTY: Final = "."
"""The text where the API demands one and there is none. It refuses white space."""


# Text and reasoning


def read_text(block: wire.Text, role: str) -> TextPart:
    return TextPart(block.text)


def write_text(part: TextPart) -> Wire:
    return wire.Text(text=part.text)


def read_citations(block: wire.CitationsBlock, role: str) -> TextPart | None:
    match block.citations_content:
        case {"content": [*content], "citations": [*raw]}:
            text = "".join(one["text"] for one in content if _is_text(one))
            found = tuple(_citation(one) for one in raw if is_object(one))
            return TextPart(text, citations=found or None, provider_metadata={NAME: {"citations": raw}})
        case _:
            return None


def write_citations(part: TextPart) -> Wire:
    raw = notes(part.provider_metadata, NAME).get("citations")
    return wire.CitationsBlock(citations_content={"content": [{"text": part.text}], "citations": raw})


def has_citations(part: TextPart) -> bool:
    return is_array(notes(part.provider_metadata, NAME).get("citations"))


def _citation(raw: JsonObject) -> Citation:
    """https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Citation.html"""
    location: Json = raw.get("location")
    kind, place = next(iter(location.items()), ("", {})) if is_object(location) else ("", {})
    place = place if is_object(place) else {}
    content = raw.get("sourceContent")
    texts = [one["text"] for one in content if _is_text(one)] if is_array(content) else []
    cited = "".join(texts) if texts else None
    title = raw["title"] if isinstance(raw.get("title"), str) else None
    url = place.get("url") if kind == "web" else raw.get("source")
    metadata: JsonObject = {NAME: raw}
    if isinstance(url, str) and "://" in url:
        page = UrlCitationSource(url, url, title, provider_metadata=metadata, type="source")
        return Citation(page, cited_text=cited)
    number = place.get("documentIndex", place.get("searchResultIndex", ""))
    source = DocumentCitationSource(
        str(number),
        "application/pdf" if kind == "documentPage" else PLAIN,
        title or f"Document {number}",
        provider_metadata=metadata,
        type="source",
    )
    return Citation(source, cited_text=cited)


def _is_text(value: Json) -> bool:
    return is_object(value) and isinstance(value.get("text"), str)


def read_guard(block: wire.GuardBlock, role: str) -> TextPart | ImagePart | None:
    """https://docs.aws.amazon.com/bedrock/latest/userguide/guardrails-use-converse-api.html"""
    match block.guard_content:
        case {"text": {"text": str(text), **more}}:
            return TextPart(text, provider_metadata={NAME: {"guardContent": more}})
        case {"image": {"format": str(format_), "source": {"bytes": str(data)}}}:
            media_type = _MEDIA_TYPES["image"].get(format_)
            if media_type is None:
                return None
            return ImagePart(
                data_url(data, media_type), media_type, provider_metadata={NAME: {"guardContent": {}}}
            )
        case _:
            return None


def write_guard(part: TextPart | ImagePart) -> Wire | None:
    if isinstance(part, TextPart):
        more = notes(notes(part.provider_metadata, NAME), "guardContent")
        return wire.GuardBlock(guard_content={"text": {"text": part.text, **more}})
    block = write_media(part)
    return wire.GuardBlock(guard_content=to_json(block)) if isinstance(block, wire.ImageBlock) else None


def is_guarded(part: TextPart | ImagePart) -> bool:
    return is_object(notes(part.provider_metadata, NAME).get("guardContent"))


def read_reasoning(block: wire.ReasoningBlock, role: str) -> ReasoningPart | None:
    match block.reasoning_content:
        case {"reasoningText": {"text": str(text), "signature": str(signature)}}:
            return ReasoningPart(text, provider_metadata={NAME: {"signature": signature}})
        case {"reasoningText": {"text": str(text)}}:
            return ReasoningPart(text, provider_metadata={NAME: {"unsigned": True}})
        # The AI SDK once wrote `redactedReasoning`, which the API never had.
        case {"redactedContent": str(data)} | {"redactedReasoning": {"data": str(data)}}:
            return ReasoningPart("", provider_metadata={NAME: {"redactedContent": data}})
        case _:
            return None


def write_reasoning(part: ReasoningPart) -> Wire | None:
    own = notes(part.provider_metadata, NAME)
    data, signature = own.get("redactedContent", own.get("redactedData")), own.get("signature")
    if isinstance(data, str):
        return wire.ReasoningBlock(reasoning_content={"redactedContent": data})
    if isinstance(signature, str) and signature:
        text: JsonObject = {"text": part.text, "signature": signature}
        return wire.ReasoningBlock(reasoning_content={"reasoningText": text})
    # Reasoning of another API is refused. Of models on Bedrock, some do not sign theirs and take it back:
    # gpt-oss, Nova 2, DeepSeek v3 … (`langchain-aws`, `_drop_foreign_reasoning`).
    is_own = own.get("unsigned") is True
    return wire.ReasoningBlock(reasoning_content={"reasoningText": {"text": part.text}}) if is_own else None


# Calls and results


def read_call(block: wire.ToolUseBlock, role: str) -> ToolCallPart:
    call, is_served = block.tool_use, block.tool_use.type == SERVER
    return ToolCallPart(
        call.tool_use_id,
        call.name,
        "input-available",
        call.input,
        provider_executed=True if is_served else None,
        call_provider_metadata={NAME: {"type": SERVER}} if is_served else None,
    )


def write_call(part: ToolCallPart) -> Wire | None:
    is_served = part.provider_executed is True
    if is_served and notes(part.call_provider_metadata, NAME).get("type") != SERVER:
        return None  # a server tool of another provider
    id_, name = CALL_ID.fit(part.id), TOOL_NAME.fit(part.name)
    call = wire.ToolUse(
        tool_use_id=id_, name=name, input=object_input(part), type=SERVER if is_served else UNSET
    )
    return wire.ToolUseBlock(tool_use=call)


def read_result(block: wire.ToolResultBlock, names: Mapping[str, str]) -> ToolResultPart | None:
    result = block.tool_result
    content = result.content
    if not all(map(is_object, content)):
        return None
    output: ToolOutput
    outcome: Any = "failed" if result.status == "error" else "success"
    match content:
        case []:
            output = read_tool_text(outcome, "")
        case [{"text": str(text)} as only] if len(only) == 1:
            output = read_tool_text(outcome, text)
        case [{"json": value} as only] if len(only) == 1 and not isinstance(value, str):
            output = read_tool_text(outcome, value)
        case _ if outcome == "failed":
            output = ErrorJsonOutput(content)
        case _:
            output = ContentOutput(tuple(RESULT_BLOCKS.read(wire.BLOCKS.read(one), "") for one in content))
    return ToolResultPart(result.tool_use_id, names.get(result.tool_use_id, ""), output)


def write_result(part: ToolResultPart) -> Wire:
    outcome, value, items = tool_text(part.output)
    blocks: list[Json]
    if items is not None:
        found = (RESULT_BLOCKS.write(item) for item in items if not _is_blank(item))
        blocks = [to_json(block) for block in found if block is not None]
    elif _is_json(value):
        blocks = [{"json": value}]
    else:
        text = "" if value is None else as_text(value)
        blocks = [{"text": text}] if text.strip() else []
    # The API refuses a result without content, and blank text also there:
    # https://github.com/NousResearch/hermes-agent/pull/60628
    status = "error" if outcome in ("failed", "interrupted") else UNSET
    result = wire.ToolResult(
        tool_use_id=CALL_ID.fit(part.id), content=blocks or [{"text": EMPTY}], status=status
    )
    return wire.ToolResultBlock(tool_result=result)


def _is_json(value: Json) -> bool:
    """Whether the API takes a value as `json`: only objects (https://github.com/aws/aws-sdk-js-v3/issues/7330).

    A member `__type` is refused at any depth (https://github.com/maximhq/bifrost/issues/5762).
    """
    return is_object(value) and not any("__type" in path for path, _ in walk(value))


def _is_blank(item: Any) -> bool:
    return isinstance(item, TextPart) and not item.text.strip()


# Files


def _types(kind: str, formats: str) -> dict[str, str]:
    """Media types by format, given `format=subtype …`; the subtype may be the format itself."""
    found = (one.partition("=") for one in formats.split())
    return {format_: f"{kind}/{subtype or format_}" for format_, _, subtype in found}


_OFFICE: Final = "vnd.openxmlformats-officedocument"
_MEDIA_TYPES: Final[Mapping[str, Mapping[str, str]]] = {
    "image": _types("image", "png jpeg gif webp"),
    "document": {
        **_types("text", "csv html txt=plain md=markdown"),
        **_types("application", "pdf doc=msword xls=vnd.ms-excel"),
        **_types(
            "application", f"docx={_OFFICE}.wordprocessingml.document xlsx={_OFFICE}.spreadsheetml.sheet"
        ),
    },
    "video": _types(
        "video",
        "mkv=x-matroska mov=quicktime mp4 webm flv=x-flv mpeg mpg=mpeg wmv=x-ms-wmv three_gp=3gpp",
    ),
    "audio": _types(
        "audio",
        "mp3=mpeg mpeg mpga=mpeg wav ogg opus flac aac x-aac=aac m4a=mp4 mp4 webm"
        " mka=x-matroska mkv=x-matroska pcm=L16",
    ),
}
"""Media types by kind and format, as the AI SDK and `langchain-aws` have them. Audio: by common use."""

_FORMATS: Final[Mapping[str, Mapping[str, str]]] = {
    kind: {media_type: one for one, media_type in reversed(list(formats.items()))}
    for kind, formats in _MEDIA_TYPES.items()
}
_BLOCKS: Final[Mapping[str, Any]] = {
    "image": lambda media: wire.ImageBlock(image=media),
    "video": lambda media: wire.VideoBlock(video=media),
    "audio": lambda media: wire.AudioBlock(audio=media),
}


def read_media(block: Any, role: str) -> AnyFile | None:
    kind = next(one for one in _BLOCKS if hasattr(block, one))
    media: wire.Media = getattr(block, kind)
    media_type = _MEDIA_TYPES[kind].get(media.format)
    url = None if media_type is None else _read_source(media.source, media_type)
    if url is None or media_type is None:
        return None
    # In a stream, an image of the model is a file too.
    return (
        ImagePart(url, media_type) if kind == "image" and role != "assistant" else FilePart(url, media_type)
    )


def write_media(part: AnyFile) -> Wire | None:
    media_type, source = media_type_of(part), _write_source(part.url)
    kind = kind_of_media(media_type)
    format_ = _FORMATS[kind].get(media_type)
    if kind not in _BLOCKS or format_ is None or source is None:
        return None
    block: Wire = _BLOCKS[kind](wire.Media(format=format_, source=source))
    return block


def read_document(block: wire.DocumentBlock, role: str) -> FilePart | None:
    document, noted = block.document, {}
    formats = _MEDIA_TYPES["document"]
    if isinstance(document.format, str) and document.format not in formats:
        return None
    match document.source:
        case {"text": str(text)}:
            media_type = formats.get(str(document.format), PLAIN)
            url: str | None = text_url(text, media_type)
            noted = {"source": "text"}
        case {"content": [*blocks]}:
            media_type = PLAIN
            url = text_url("\n\n".join(one["text"] for one in blocks if _is_text(one)))
            noted = {"source": "text"}
        case source:
            media_type = formats.get(str(document.format), OCTETS)
            url = _read_source(source, media_type)
    name = document.name if document.format is UNSET else f"{document.name}.{document.format}"
    return (
        None
        if url is None
        else FilePart(url, media_type, name, provider_metadata={NAME: noted} if noted else None)
    )


def write_document(part: AnyFile) -> Wire | None:
    media_type, source = media_type_of(part), _write_source(part.url)
    if kind_of_media(media_type) != "document":
        return None
    format_ = _FORMATS["document"].get(media_type)
    if format_ is None and (media_type.startswith("text/") or media_type.endswith(("json", "xml"))):
        format_ = "txt"  # as `langchain-aws` does
    inline = parse_data_url(part.url)
    text = None if inline is None else inline.text()
    if text is not None and notes(part.provider_metadata, NAME).get("source") == "text":
        source = {"text": text}
    if source is None or (format_ is None and media_type != OCTETS):
        return None
    filename = file_name(part) or "document"
    return wire.DocumentBlock(
        document=wire.Document(name=document_name(filename), source=source, format=format_ or UNSET)
    )


def document_name(filename: str) -> str:
    """A name that the API takes: letters, digits, single spaces, `-`, `()`, `[]`, 200 of them at most.

    https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_DocumentBlock.html
    """
    stem = re.sub(r"\.[A-Za-z0-9]{1,5}$", "", filename)
    allowed = re.sub(r"[^A-Za-z0-9 ()\[\]-]", "-", re.sub(r"\s+", " ", stem))
    return allowed.strip()[:200].strip() or "document"


def _read_source(source: JsonObject, media_type: str) -> str | None:
    match source:
        case {"bytes": str(data)}:
            return data_url(data, media_type)
        case {"s3Location": {"uri": str(uri)}}:
            return uri
        case _:
            return None


def _write_source(url: str) -> JsonObject | None:
    """Bytes, or a location in S3. The API reads no other URL."""
    inline = parse_data_url(url)
    if inline is not None:
        return {"bytes": inline.in_base64()}
    return {"s3Location": {"uri": url}} if url.startswith("s3://") else None


# The tables


_GUARD: Final = PartCodec(wire.GuardBlock, (TextPart, ImagePart), read_guard, write_guard, suits=is_guarded)
_TEXT: Final = PartCodec(wire.Text, TextPart, read_text, write_text)
_MEDIA: Final = PartCodec((wire.ImageBlock, wire.VideoBlock, wire.AudioBlock), FILES, read_media, write_media)
_DOCUMENT: Final = PartCodec(wire.DocumentBlock, FILES, read_document, write_document)

USER_BLOCKS: Final[PartCodecs[str]] = PartCodecs(NAME, _GUARD, _TEXT, _MEDIA, _DOCUMENT, member=FIELDS)
RESULT_BLOCKS: Final[PartCodecs[str]] = PartCodecs(NAME, _TEXT, _MEDIA, _DOCUMENT, member=FIELDS)
ASSISTANT_BLOCKS: Final[PartCodecs[str]] = PartCodecs(
    NAME,
    PartCodec(wire.CitationsBlock, TextPart, read_citations, write_citations, suits=has_citations),
    _TEXT,
    PartCodec(wire.ReasoningBlock, ReasoningPart, read_reasoning, write_reasoning),
    PartCodec(wire.ToolUseBlock, ToolCallPart, read_call, write_call, metadata="call_provider_metadata"),
    _MEDIA,
    member=FIELDS,
    custom=True,
)
RESULTS: Final[PartCodecs[Mapping[str, str]]] = PartCodecs(
    NAME, PartCodec(wire.ToolResultBlock, ToolResultPart, read_result, write_result), member=FIELDS
)


# The blocks of a message. Some belong to the one before them: a cache point is a note on a part, and the
# result of a server tool is the output of its call.

CACHE: Final = "cachePoint"
"""A block, and the note of the AI SDK on what is before it."""


def read_blocks(raws: Sequence[JsonObject], role: str, calls: Mapping[str, str]) -> list[PlacedPart]:
    """The parts of a message. `calls` are the names of open calls by id."""
    found: list[PlacedPart] = []
    served: dict[str, int] = {}
    for number, raw in enumerate(raws):
        last = found[-1] if found else None
        point = raw.get(CACHE) if len(raw) == 1 else None
        if is_object(point) and last is not None and last.place == number - 1:
            found[-1] = last._replace(part=_noted(last.part, {CACHE: point}))
            continue
        part = read_block(wire.BLOCKS.read(raw), role, calls)
        if isinstance(part, ToolCallPart) and part.provider_executed:
            served.setdefault(part.id, len(found))
        at = served.pop(part.id, None) if role == "assistant" and isinstance(part, ToolResultPart) else None
        if at is not None:
            call, place = found[at]
            found[at] = PlacedPart(add_result(call, part, number - place - 1), place)
        else:
            is_stray = role == "assistant" and isinstance(part, ToolResultPart)
            found.append(PlacedPart(ASSISTANT_BLOCKS.keep(raw) if is_stray else part, number))
    return found


def read_block(block: Wire | UnknownVariant, role: str, calls: Mapping[str, str]) -> Any:
    """The part of a block. One that has no part in a message of that role is kept whole."""
    if isinstance(block, wire.ToolResultBlock) and role != "system":
        return RESULTS.read(block, calls)
    part = (ASSISTANT_BLOCKS if role == "assistant" else USER_BLOCKS).read(block, role)
    is_kept = role == "system" and not isinstance(part, TextPart)
    return ForeignPart(NAME, to_json(block)) if is_kept else part


def add_result(call: ToolCallPart, result: ToolResultPart, behind: int) -> ToolCallPart:
    """The call of a server tool with its result."""
    metadata = add_notes(result.provider_metadata, NAME, behind_note(behind))
    state = state_after(result.output)
    return replace(call, state=state, output=result.output, result_provider_metadata=metadata)


def _noted(part: Any, more: JsonObject) -> Any:
    field = "call_provider_metadata" if isinstance(part, ToolCallPart) else "provider_metadata"
    return replace(part, **{field: add_notes(getattr(part, field), NAME, more)})


def write_blocks(
    parts: Sequence[Placed], role: str, text: str | None = None
) -> tuple[list[Json], list[Place | None]]:
    """The blocks of a message, and of a text behind them, and the number of each part's block."""

    def write(part: Any) -> list[Json]:
        block = _write_block(part, role)
        if block is None:
            return []
        metadata = part.call_provider_metadata if isinstance(part, ToolCallPart) else part.provider_metadata
        point = notes(metadata, NAME).get(CACHE)
        has_point = is_object(point) and not isinstance(part, CustomPart)
        return [to_json(block), {CACHE: point}] if has_point else [to_json(block)]

    blocks, places = write_message_blocks(parts, write, _write_results)
    return (blocks if text is None else [*blocks, {"text": text}]), places


def _write_results(call: ToolCallPart) -> list[tuple[Json, JsonObject]]:
    assert call.output is not None
    result = ToolResultPart(call.id, call.name, call.output, call.result_provider_metadata)
    return [(to_json(RESULTS.write(result)), notes(call.result_provider_metadata, NAME))]


def _write_block(part: Any, role: str) -> Wire | JsonObject | None:
    match part:
        case ToolResultPart():
            return RESULTS.write(part)
        case _ if role == "system" and not isinstance(part, TextPart | ForeignPart):
            return None
        case _:
            return (ASSISTANT_BLOCKS if role == "assistant" else USER_BLOCKS).write(part)


def is_written(part: AssistantPart) -> bool:
    """Whether a part of the assistant has a block."""
    return _write_block(part, "assistant") is not None
