"""Codecs for the blocks, calls and results of Cohere's chat API."""

import re
from collections.abc import Mapping
from typing import Any, Final

from partita.errors import DecodeError
from partita.formats.core.codec import PartCodec, PartCodecs
from partita.formats.core.files import FILES, AnyFile, is_image
from partita.formats.core.metadata import FIELDS, notes
from partita.formats.core.rules import Alphabet
from partita.formats.core.tool_text import as_text, object_input, read_arguments, tool_text
from partita.formats.core.wire import Wire
from partita.types.data_url import parse_data_url
from partita.types.json import Json, JsonObject, dumps, is_object, loads
from partita.types.messages import ToolCallPart
from partita.types.parts import (
    Citation,
    DocumentCitationSource,
    ImagePart,
    ReasoningPart,
    TextPart,
)
from partita.types.tools import ContentOutput, JsonOutput, TextOutput, ToolOutput, ToolResultPart

from . import wire
from .wire import NAME

# The API does not document an alphabet of names. Its examples have these characters; other APIs take them.
TOOL_NAME: Final = Alphabet(re.compile(r"[^A-Za-z0-9_-]"), 64)


PLAN: Final = "toolPlan"
"""The note of reasoning that is a tool plan."""

THINKING: Final = "thinking"
CITATIONS: Final = "citations"
NOTHING: Final = "{}"
"""The content of a result without content: the API refuses an empty message."""


# Text, reasoning and images


def read_text(block: wire.Text, context: Any) -> TextPart:
    return TextPart(block.text)


def write_text(part: TextPart) -> Wire:
    return wire.Text(text=part.text)


def read_thinking(block: wire.Thinking, context: Any) -> ReasoningPart:
    return ReasoningPart(block.thinking, provider_metadata={NAME: {"type": THINKING}})


def write_thinking(part: ReasoningPart) -> Wire | None:
    """Thinking has no signature: only a note says that it is from here."""
    is_own = notes(part.provider_metadata, NAME).get("type") == THINKING
    return wire.Thinking(thinking=part.text) if is_own else None


def read_image(block: wire.Image, context: Any) -> ImagePart | None:
    url = block.image_url.get("url")
    if not isinstance(url, str):
        return None
    inline = parse_data_url(url)
    return ImagePart(url, inline.media_type if inline else None)


def write_image(part: AnyFile) -> Wire | None:
    """An address or data: https://docs.cohere.com/docs/image-inputs"""
    is_sent = is_image(part) and part.url.startswith(("https://", "data:image/"))
    return wire.Image(image_url={"url": part.url}) if is_sent else None


# Calls and results


def read_call(block: wire.Call, context: Any) -> ToolCallPart:
    value, text = read_arguments(block.function.arguments or "{}")
    # Tools without parameters may be called with `null`: `@ai-sdk/cohere` replaces it too.
    given = {} if value is None else value
    return ToolCallPart(block.id, block.function.name, "input-available", given, raw_input=text)


def write_call(part: ToolCallPart) -> Wire | None:
    if part.provider_executed:
        return None  # a server tool of another provider
    arguments = dumps(object_input(part)).decode()
    function = wire.Function(name=TOOL_NAME.fit(part.name), arguments=arguments)
    return wire.Call(id=part.id, function=function)


def read_result(message: wire.Tool, names: Mapping[str, str]) -> ToolResultPart:
    output: ToolOutput
    match message.content:
        case str(text):
            output = TextOutput(text)
        case (wire.Document(document={"data": data}),) if is_object(value := _parsed(data)):
            output = JsonOutput(value)
        case blocks:
            output = ContentOutput(tuple(RESULT_BLOCKS.read(block, None) for block in blocks))
    return ToolResultPart(message.tool_call_id, names.get(message.tool_call_id, ""), output)


def write_result(part: ToolResultPart) -> Wire:
    _, value, items = tool_text(part.output)
    if items is not None:
        found = (RESULT_BLOCKS.write(item) for item in items)
        content: Any = tuple(block for block in found if block is not None)
    else:
        text = "" if value is None else as_text(value)
        content = (wire.Document(document={"data": value}),) if is_object(value) else text
    given: Any = content or NOTHING
    return wire.Tool(tool_call_id=part.id, content=given)


def read_document(block: wire.Document, context: Any) -> TextPart | None:
    """A document as a text, so that other models can read it."""
    if "data" not in block.document:
        return None
    about = {key: item for key, item in block.document.items() if key != "data"}
    text = as_text(block.document["data"])
    return TextPart(text, provider_metadata={NAME: {"document": about}})


def write_document(part: TextPart) -> Wire:
    about = notes(notes(part.provider_metadata, NAME), "document")
    return wire.Document(document={"data": _parsed(part.text), **about})


def is_document(part: TextPart) -> bool:
    return is_object(notes(part.provider_metadata, NAME).get("document"))


def _parsed(data: Json) -> Json:
    """The data of a document. Guides give an object as JSON text: https://docs.cohere.com/v2/docs/tool-use-overview"""
    try:
        return loads(data) if isinstance(data, str) else data
    except DecodeError:
        return data


# Citations


def read_citation(raw: JsonObject) -> list[Citation]:
    """A citation for each source. Offsets are those of the text: https://docs.cohere.com/docs/rag-citations"""
    start, end, text = raw.get("start"), raw.get("end"), raw.get("text")
    found: list[Citation] = []
    for source in raw.get("sources") or () if isinstance(raw.get("sources"), list) else ():
        if not is_object(source) or not isinstance(source.get("id"), str):
            continue
        document = source.get("document")
        title = document.get("title") if is_object(document) else None
        found.append(
            Citation(
                DocumentCitationSource(
                    source["id"],
                    "text/plain",
                    title if isinstance(title, str) else source["id"],
                    provider_metadata={NAME: source},
                    type="source",
                ),
                start_index=start if type(start) is int else None,
                end_index=end if type(end) is int else None,
                cited_text=text if isinstance(text, str) else None,
            )
        )
    return found


# The tables

_TEXT: Final = PartCodec(wire.Text, TextPart, read_text, write_text)
USER_BLOCKS: Final[PartCodecs[Any]] = PartCodecs(
    NAME,
    _TEXT,
    PartCodec(wire.Image, FILES, read_image, write_image),
    member=FIELDS,
)
RESULT_BLOCKS: Final[PartCodecs[Any]] = PartCodecs(
    NAME,
    PartCodec(wire.Document, TextPart, read_document, write_document, suits=is_document),
    _TEXT,
    member=FIELDS,
)
ASSISTANT_BLOCKS: Final[PartCodecs[Any]] = PartCodecs(
    NAME, _TEXT, PartCodec(wire.Thinking, ReasoningPart, read_thinking, write_thinking), member=FIELDS
)
CALLS: Final[PartCodecs[Any]] = PartCodecs(
    NAME,
    PartCodec(wire.Call, ToolCallPart, read_call, write_call, metadata="call_provider_metadata"),
    member=FIELDS,
)
RESULTS: Final[PartCodecs[Mapping[str, str]]] = PartCodecs(
    NAME, PartCodec(wire.Tool, ToolResultPart, read_result, write_result), member=FIELDS
)
