"""Codecs for the blocks of Converse."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import UNSET
from msgspec.structs import replace

from partita.formats.core.codec import (
    MessageBlocks,
    PartCodec,
    PartCodecs,
    behind_note,
    text_codec,
    with_result,
)
from partita.formats.core.files import FILES, AnyFile, MediaFormats, file_name, media_type_of
from partita.formats.core.members import items_in, objects_in, text_in
from partita.formats.core.metadata import FIELDS, add_notes, notes, part_notes, with_part_notes
from partita.formats.core.rules import Alphabet
from partita.formats.core.sources import citation
from partita.formats.core.tool_text import Outcome, as_text, object_input, read_tool_text, write_tool_text
from partita.formats.core.turns import ReadPart
from partita.formats.core.wire import Wire, kind_of, to_json
from partita.types.data_url import OCTETS, PDF, PLAIN, data_url, media_kind, parse_data_url, text_url
from partita.types.json import Json, JsonObject, is_object, walk
from partita.types.messages import ToolCallPart
from partita.types.parts import (
    Citation,
    ContentOutput,
    CustomPart,
    ErrorJsonOutput,
    FilePart,
    ImagePart,
    ReasoningPart,
    TextPart,
    ToolOutput,
    ToolResultPart,
)
from partita.types.tool_results import result_of

from . import wire
from .wire import NAME

# https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolUseBlock.html
CALL_ID: Final = Alphabet(re.compile(r"[^A-Za-z0-9_.:-]"), 64)
TOOL_NAME: Final = Alphabet(re.compile(r"[^A-Za-z0-9_-]"), 64)


SERVER: Final = "server_tool_use"
EMPTY: Final = "."
"""The text where the API requires one and none is given. It refuses white space."""


# Text and reasoning


def read_citations(block: wire.CitationsBlock, role: str) -> TextPart | None:
    match block.citations_content:
        case {"content": [*content], "citations": [*raw]}:
            found = tuple(_citation(one) for one in objects_in(raw))
            metadata: JsonObject = {NAME: {"citations": raw}}
            return TextPart(_text(content), citations=found or None, provider_metadata=metadata)
        case _:
            return None


def write_citations(part: TextPart) -> Wire:
    raw = notes(part.provider_metadata, NAME).get("citations")
    return wire.CitationsBlock(citations_content={"content": [{"text": part.text}], "citations": raw})


def _citation(raw: JsonObject) -> Citation:
    """https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Citation.html"""
    location = notes(raw, "location")
    kind = next(iter(location), "")
    position = notes(location, kind)
    return citation(
        NAME,
        raw,
        id_=str(position.get("documentIndex", position.get("searchResultIndex", ""))),
        title=text_in(raw, "title"),
        url=text_in(position, "url") if kind == "web" else text_in(raw, "source"),
        media_type=PDF if kind == "documentPage" else PLAIN,
        cited_text=_text(items_in(raw.get("sourceContent"))),
    )


def _text(blocks: Sequence[Json], separator: str = "") -> str:
    return separator.join(text_in(block, "text") for block in blocks)


GUARD: Final = "guardContent"
"""The note of a text or an image that a guardrail assesses, with its other members."""


def read_guard(block: wire.GuardBlock, role: str) -> TextPart | ImagePart | None:
    """https://docs.aws.amazon.com/bedrock/latest/userguide/guardrails-use-converse-api.html"""
    match block.guard_content:
        case {"text": {"text": str(text), **more}}:
            return TextPart(text, provider_metadata={NAME: {GUARD: more}})
        case {"image": {}} as image:
            part = RESULT_BLOCKS.read(wire.BLOCKS.read(image), role)
            is_image = isinstance(part, ImagePart)
            return replace(part, provider_metadata={NAME: {GUARD: {}}}) if is_image else None
        case _:
            return None


def write_guard(part: TextPart | ImagePart) -> Wire | None:
    if isinstance(part, TextPart):
        more = notes(notes(part.provider_metadata, NAME), GUARD)
        return wire.GuardBlock(guard_content={"text": {"text": part.text, **more}})
    block = write_media(part)
    return wire.GuardBlock(guard_content=to_json(block)) if isinstance(block, wire.ImageBlock) else None


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
    # Reasoning of another API is refused. Some models on Bedrock do not sign reasoning, and accept it:
    # gpt-oss, Nova 2, DeepSeek v3 … (`langchain-aws`, `_drop_foreign_reasoning`).
    is_own = own.get("unsigned") is True
    return wire.ReasoningBlock(reasoning_content={"reasoningText": {"text": part.text}}) if is_own else None


# Calls and results


def read_call(block: wire.ToolUseBlock, role: str) -> ToolCallPart:
    call, is_server_call = block.tool_use, block.tool_use.type == SERVER
    return ToolCallPart(
        call.tool_use_id,
        call.name,
        "input-available",
        call.input,
        provider_executed=True if is_server_call else None,
        call_provider_metadata={NAME: {"type": SERVER}} if is_server_call else None,
    )


def write_call(part: ToolCallPart) -> Wire | None:
    is_server_call = part.provider_executed is True
    if is_server_call and notes(part.call_provider_metadata, NAME).get("type") != SERVER:
        return None  # a server tool of another provider
    id_, name, type_ = CALL_ID.fit(part.id), TOOL_NAME.fit(part.name), SERVER if is_server_call else UNSET
    return wire.ToolUseBlock(wire.ToolUse(id_, name, object_input(part), type_))


def read_result(block: wire.ToolResultBlock, names: Mapping[str, str]) -> ToolResultPart:
    result = block.tool_result
    output: ToolOutput
    outcome: Outcome = "failed" if result.status == "error" else "success"
    match result.content:
        case []:
            output = read_tool_text(outcome, "")
        case [{"text": str(text), **rest}] if not rest:
            output = read_tool_text(outcome, text)
        case [{"json": value, **rest}] if not rest and not isinstance(value, str):
            output = read_tool_text(outcome, value)
        case content if outcome == "failed":
            output = ErrorJsonOutput([*content])
        case content:
            output = ContentOutput(tuple(RESULT_BLOCKS.read(wire.BLOCKS.read(one), "") for one in content))
    return ToolResultPart(result.tool_use_id, names.get(result.tool_use_id, ""), output)


def write_result(part: ToolResultPart) -> Wire:
    outcome, value, items = write_tool_text(part.output)
    if items is not None:
        blocks: list[JsonObject] = to_json(RESULT_BLOCKS.write_all(items, skips_blank=True))
    elif _is_json(value):
        blocks = [{"json": value}]
    else:
        text = "" if value is None else as_text(value)
        blocks = [{"text": text}] if text.strip() else []
    # The API refuses a result without content, and blank text also there:
    # https://github.com/NousResearch/hermes-agent/pull/60628
    status = "error" if outcome in ("failed", "interrupted") else UNSET
    content = tuple(blocks or [{"text": EMPTY}])
    return wire.ToolResultBlock(wire.ToolResult(CALL_ID.fit(part.id), content, status))


def _is_json(value: Json) -> bool:
    """Whether the API takes a value as `json`: only objects (https://github.com/aws/aws-sdk-js-v3/issues/7330).

    A member `__type` is refused at any depth (https://github.com/maximhq/bifrost/issues/5762).
    """
    return is_object(value) and not any("__type" in path for path, _ in walk(value))


# Files

_OFFICE: Final = "application/vnd.openxmlformats-officedocument"
FORMATS: Final = MediaFormats(
    image="png jpeg gif webp",
    document="csv=text/csv html=text/html txt=text/plain md=text/markdown pdf=application/pdf"
    " doc=application/msword xls=application/vnd.ms-excel"
    f" docx={_OFFICE}.wordprocessingml.document xlsx={_OFFICE}.spreadsheetml.sheet",
    video="mkv=x-matroska mov=quicktime mp4 webm flv=x-flv mpeg mpg=mpeg wmv=x-ms-wmv three_gp=3gpp",
    audio="mp3=mpeg mpeg mpga=mpeg wav ogg opus flac aac x-aac=aac m4a=mp4 mp4 webm"
    " mka=x-matroska mkv=x-matroska pcm=L16",
)
"""The formats of the AI SDK and `langchain-aws`; those of audio by common use."""


def read_media(block: Any, role: str) -> AnyFile | None:
    kind = kind_of(type(block))
    media: wire.Media = getattr(block, kind)
    media_type = FORMATS.media_type(kind, media.format)
    url = None if media_type is None else _read_source(media.source, media_type)
    if url is None or media_type is None:
        return None
    # In a stream, an image of the model is a file too.
    is_image = kind == "image" and role != "assistant"
    return ImagePart(url, media_type) if is_image else FilePart(url, media_type)


def write_media(part: AnyFile) -> Wire | None:
    media_type, source = media_type_of(part), _write_source(part.url)
    kind, format_ = media_kind(media_type), FORMATS.name(media_type)
    if kind not in wire.MEDIA or format_ is None or source is None:
        return None
    return wire.MEDIA[kind](wire.Media(format_, source))


def read_document(block: wire.DocumentBlock, role: str) -> FilePart | None:
    document, text = block.document, None
    media_type = FORMATS.media_type("document", document.format) or ""
    if document.format and not media_type:
        return None
    match document.source:
        case {"text": str(text)}:
            media_type = media_type or PLAIN
        case {"content": [*blocks]}:
            media_type, text = PLAIN, _text(blocks, "\n\n")
        case _:
            media_type = media_type or OCTETS
    url = _read_source(document.source, media_type) if text is None else text_url(text, media_type)
    if url is None:
        return None
    name = document.name if document.format is UNSET else f"{document.name}.{document.format}"
    noted: JsonObject | None = None if text is None else {NAME: {"source": "text"}}
    return FilePart(url, media_type, name, provider_metadata=noted)


def write_document(part: AnyFile) -> Wire | None:
    media_type, source = media_type_of(part), _write_source(part.url)
    format_ = FORMATS.name(media_type)
    if format_ is None and (media_type.startswith("text/") or media_type.endswith(("json", "xml"))):
        format_ = "txt"  # as `langchain-aws` does
    inline = parse_data_url(part.url)
    text = None if inline is None else inline.text()
    if text is not None and notes(part.provider_metadata, NAME).get("source") == "text":
        source = {"text": text}
    is_taken = media_kind(media_type) == "document" and (format_ is not None or media_type == OCTETS)
    if source is None or not is_taken:
        return None
    name = document_name(file_name(part) or "document")
    return wire.DocumentBlock(wire.Document(name, source, format_ or UNSET))


def document_name(filename: str) -> str:
    """Return a name that the API accepts: up to 200 letters, digits, single spaces, `-`, `()` and `[]`.

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
    """Return bytes, or a location in S3. The API reads no other URL."""
    inline = parse_data_url(url)
    if inline is not None:
        return {"bytes": inline.in_base64()}
    return {"s3Location": {"uri": url}} if url.startswith("s3://") else None


# Tables of codecs


_GUARD: Final = PartCodec(wire.GuardBlock, (TextPart, ImagePart), read_guard, write_guard, note=GUARD)
_TEXT: Final = text_codec(wire.Text)
_MEDIA: Final = PartCodec((wire.ImageBlock, wire.VideoBlock, wire.AudioBlock), FILES, read_media, write_media)
_DOCUMENT: Final = PartCodec(wire.DocumentBlock, FILES, read_document, write_document)

USER_BLOCKS: Final[PartCodecs[str]] = PartCodecs(NAME, _GUARD, _TEXT, _MEDIA, _DOCUMENT, member=FIELDS)
RESULT_BLOCKS: Final[PartCodecs[str]] = PartCodecs(NAME, _TEXT, _MEDIA, _DOCUMENT, member=FIELDS)
ASSISTANT_BLOCKS: Final[PartCodecs[str]] = PartCodecs(
    NAME,
    PartCodec(
        wire.CitationsBlock,
        TextPart,
        read_citations,
        write_citations,
        note="citations",
    ),
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
"""A block, and the AI SDK's note on the part before it."""


class _Blocks(MessageBlocks):
    """The blocks of messages. A cache point follows its part."""

    def write_with_notes(self, part: Any, role: str) -> Sequence[Json]:
        blocks = super().write_with_notes(part, role)
        point = None if isinstance(part, CustomPart) else part_notes(part, NAME).get(CACHE)
        return to_json([*blocks, {CACHE: point}] if blocks and is_object(point) else blocks)

    def write_server_results(self, call: ToolCallPart) -> Sequence[tuple[Json, JsonObject]]:
        return [(to_json(RESULTS.write(result_of(call))), notes(call.result_provider_metadata, NAME))]


BLOCKS: Final = _Blocks(USER_BLOCKS, ASSISTANT_BLOCKS, RESULTS, lambda text: {"text": text})


def read_blocks(raws: Sequence[JsonObject], role: str, calls: Mapping[str, str]) -> list[ReadPart]:
    """Return the parts of a message. `calls` are the names of open calls by id."""
    found: list[ReadPart] = []
    server_calls: dict[str, int] = {}
    for number, raw in enumerate(raws):
        last = found[-1] if found else None
        point = raw.get(CACHE) if len(raw) == 1 else None
        if is_object(point) and last is not None and last.position == number - 1:
            found[-1] = last._replace(part=with_part_notes(last.part, NAME, {CACHE: point}))
            continue
        part = read_block(raw, role, calls)
        if isinstance(part, ToolCallPart) and part.provider_executed:
            server_calls.setdefault(part.id, len(found))
        if role == "assistant" and isinstance(part, ToolResultPart):
            if part.id in server_calls:
                call, position = found[at := server_calls.pop(part.id)]
                metadata = add_notes(part.provider_metadata, NAME, behind_note(number - position - 1))
                found[at] = ReadPart(with_result(call, part.output, metadata), position)
                continue
            part = ASSISTANT_BLOCKS.keep(raw)
        found.append(ReadPart(part, number))
    return found


def read_block(raw: JsonObject, role: str, calls: Mapping[str, str]) -> Any:
    """Return the part of a block."""
    return BLOCKS.read(wire.BLOCKS.read(raw), role, calls, role)
