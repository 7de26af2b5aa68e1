"""Codecs for the blocks, calls and results of Cohere's chat API, and messages of the assistant."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import UNSET
from msgspec.structs import replace

from partita.formats.core.codec import MessageBlocks, PartCodec, PartCodecs, text_codec
from partita.formats.core.files import FILES, AnyFile, is_image
from partita.formats.core.members import count_in, objects_in, parsed, text_in
from partita.formats.core.metadata import FIELDS, notes, part_notes, with_part_notes
from partita.formats.core.role_messages import FORM, STRING
from partita.formats.core.rules import Alphabet
from partita.formats.core.sources import citation
from partita.formats.core.tool_text import as_text, object_input, read_arguments, write_tool_text
from partita.formats.core.turns import LocatedPart, Position, ReadPart
from partita.formats.core.wire import Wire, residue
from partita.types.data_url import parse_data_url
from partita.types.json import JsonObject, dumps, is_array, is_object
from partita.types.messages import AssistantPart, ToolCallPart
from partita.types.parts import (
    Citation,
    ContentOutput,
    CustomPart,
    ForeignPart,
    ImagePart,
    JsonOutput,
    ReasoningPart,
    TextOutput,
    TextPart,
    ToolOutput,
    ToolResultPart,
)

from . import wire
from .wire import NAME

# The API does not document the characters of names. Its examples use these, which other APIs accept too.
TOOL_NAME: Final = Alphabet(re.compile(r"[^A-Za-z0-9_-]"), 64)


PLAN: Final = "toolPlan"
"""The note of reasoning that is a tool plan."""

THINKING: Final = "thinking"
CITATIONS: Final = "citations"
NOTHING: Final = "{}"
"""The content of a result without content: the API refuses an empty message."""


# Text, reasoning and images


def read_thinking(block: wire.Thinking, context: Any) -> ReasoningPart:
    return ReasoningPart(block.thinking, provider_metadata={NAME: {"type": THINKING}})


def write_thinking(part: ReasoningPart) -> Wire | None:
    """Thinking has no signature: only a note shows that it is from this API."""
    is_own = notes(part.provider_metadata, NAME).get("type") == THINKING
    return wire.Thinking(thinking=part.text) if is_own else None


def read_image(block: wire.Image, context: Any) -> ImagePart | None:
    url = block.image_url.get("url")
    if not isinstance(url, str):
        return None
    inline = parse_data_url(url)
    return ImagePart(url, inline.media_type if inline else None)


def write_image(part: AnyFile) -> Wire | None:
    """Write an image by its URL or with its data: https://docs.cohere.com/docs/image-inputs"""
    is_sent = is_image(part) and part.url.startswith(("https://", "data:image/"))
    return wire.Image(image_url={"url": part.url}) if is_sent else None


# Calls and results


def read_function(block: wire.Call, context: Any) -> ToolCallPart:
    value, text = read_arguments(block.function.arguments or "{}")
    # Tools without parameters may be called with `null`: `@ai-sdk/cohere` replaces it too.
    given = {} if value is None else value
    return ToolCallPart(block.id, block.function.name, "input-available", given, raw_input=text)


def write_function(part: ToolCallPart) -> Wire | None:
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
        # Guides give an object as JSON text: https://docs.cohere.com/v2/docs/tool-use-overview
        case (wire.Document(document={"data": data}),) if is_object(value := parsed(data)):
            output = JsonOutput(value)
        case blocks:
            output = ContentOutput(tuple(RESULT_BLOCKS.read(block, None) for block in blocks))
    return ToolResultPart(message.tool_call_id, names.get(message.tool_call_id, ""), output)


def write_result(part: ToolResultPart) -> Wire:
    _, value, items = write_tool_text(part.output)
    if items is not None:
        content: Any = tuple(RESULT_BLOCKS.write_all(items))
    else:
        text = "" if value is None else as_text(value)
        content = (wire.Document(document={"data": value}),) if is_object(value) else text
    return wire.Tool(tool_call_id=part.id, content=content or NOTHING)


def read_document(block: wire.Document, context: Any) -> TextPart | None:
    """Return a document as a text, so that other models can read it."""
    if "data" not in block.document:
        return None
    about = {key: item for key, item in block.document.items() if key != "data"}
    text = as_text(block.document["data"])
    return TextPart(text, provider_metadata={NAME: {"document": about}})


def write_document(part: TextPart) -> Wire:
    about = notes(notes(part.provider_metadata, NAME), "document")
    return wire.Document(document={"data": parsed(part.text), **about})


# Citations


def read_citation(raw: JsonObject) -> list[Citation]:
    """Return a citation for each source. Offsets are in the text: https://docs.cohere.com/docs/rag-citations"""
    return [
        citation(
            NAME,
            source,
            id_=id_,
            title=text_in(source.get("document"), "title") or id_,
            cited_text=text_in(raw, "text"),
            start_index=count_in(raw, "start"),
            end_index=count_in(raw, "end"),
        )
        for source in objects_in(raw.get("sources"))
        if (id_ := text_in(source, "id"))
    ]


# Tables of codecs

_TEXT: Final = text_codec(wire.Text)
USER_BLOCKS: Final[PartCodecs[Any]] = PartCodecs(
    NAME,
    _TEXT,
    PartCodec(wire.Image, FILES, read_image, write_image),
    member=FIELDS,
)
RESULT_BLOCKS: Final[PartCodecs[Any]] = PartCodecs(
    NAME,
    PartCodec(wire.Document, TextPart, read_document, write_document, note="document"),
    _TEXT,
    member=FIELDS,
)
ASSISTANT_BLOCKS: Final[PartCodecs[Any]] = PartCodecs(
    NAME, _TEXT, PartCodec(wire.Thinking, ReasoningPart, read_thinking, write_thinking), member=FIELDS
)
CALLS: Final[PartCodecs[Any]] = PartCodecs(
    NAME,
    PartCodec(wire.Call, ToolCallPart, read_function, write_function, metadata="call_provider_metadata"),
    member=FIELDS,
)
RESULTS: Final[PartCodecs[Mapping[str, str]]] = PartCodecs(
    NAME, PartCodec(wire.Tool, ToolResultPart, read_result, write_result), member=FIELDS
)


class _Blocks(MessageBlocks):
    """The blocks of messages. Calls and tool plans are not among the blocks of the assistant."""

    def is_written(self, part: AssistantPart) -> bool:
        own = part_notes(part, NAME)
        return own.get(PLAN) is True or _write_block(part, own)[1] is not None

    def write_response(
        self, parts: Sequence[LocatedPart], text: str | None
    ) -> tuple[wire.Assistant, list[Position | None]]:
        return write_assistant(parts, text, is_request=False)


BLOCKS: Final = _Blocks(USER_BLOCKS, ASSISTANT_BLOCKS, RESULTS, lambda text: wire.Text(text=text))


# Messages of the assistant. What a step contains is in four members of its message: the tool plan, the
# content, the calls, and the citations of all of these. A tool plan is reasoning with a note: it is what the
# model wrote for itself before its calls, and readers of a response do not expect it in the text.

SEPARATOR: Final = "\n"
"""Between texts that become one tool plan."""


_CITED: Final[Mapping[str, type[TextPart | ReasoningPart]]] = {
    "TEXT_CONTENT": TextPart,
    "THINKING_CONTENT": ReasoningPart,
    "PLAN": ReasoningPart,
}


def read_assistant(message: wire.Assistant) -> tuple[list[ReadPart], JsonObject]:
    """Return the parts of a message, and notes about it. A position is `plan`, or a member and a number."""
    found: list[ReadPart] = []
    if message.tool_plan:
        found.append(ReadPart(ReasoningPart(message.tool_plan, provider_metadata={NAME: {PLAN: True}}), PLAN))
    content = message.content or ()
    blocks = (wire.Text(text=content),) if isinstance(content, str) else content
    found += [ReadPart(read_block(block), ("content", number)) for number, block in enumerate(blocks)]
    for number, call in enumerate(message.tool_calls or ()):
        found.append(ReadPart(read_call(call), ("tool_calls", number)))
    for raw in message.citations or ():
        at = _cited(found, raw) if is_object(raw) else None
        if at is not None:
            found[at] = found[at]._replace(part=add_citation(found[at].part, raw))
    noted: JsonObject = {FORM: STRING} if isinstance(content, str) and content else {}
    written, _ = write_assistant([LocatedPart(part, "") for part, _ in found], is_request=False)
    kept = residue(as_string(written) if noted else written, message)
    return found, {**noted, **({FIELDS: kept} if kept else {})}


def read_block(block: Any) -> Any:
    """Return the part of a block of the content."""
    part = ASSISTANT_BLOCKS.read(block, None)
    return custom("content", part.value) if isinstance(part, ForeignPart) else part


def read_call(call: Any) -> Any:
    """Return the part of a call."""
    part = CALLS.read(call, None)
    return custom("tool_calls", part.value) if isinstance(part, ForeignPart) else part


def custom(member: str, raw: JsonObject) -> CustomPart:
    """Return the part of a block that no other part can express."""
    return CustomPart(f"{NAME}.{raw.get('type')}", provider_metadata={NAME: {"member": member, "block": raw}})


def _cited(parts: Sequence[ReadPart], raw: JsonObject) -> int | None:
    """Return the number of the part that a citation is about.

    `type` is TEXT_CONTENT, THINKING_CONTENT or PLAN; `content_index` may be absent.
    """
    kind, index = str(raw.get("type", "TEXT_CONTENT")), raw.get("content_index")
    type_ = _CITED.get(kind)
    for at, (part, position) in enumerate(parts):
        is_plan = position == PLAN
        is_kind = type_ is not None and isinstance(part, type_) and is_plan == (kind == "PLAN")
        if is_kind and (index is None or is_plan or position == ("content", index)):
            return at
    return None


def add_citation(part: Any, raw: JsonObject) -> Any:
    """Return a text or reasoning with a further citation."""
    before = notes(part.provider_metadata, NAME).get(CITATIONS, [])
    part = with_part_notes(part, NAME, {CITATIONS: [*before, raw]})
    if isinstance(part, TextPart):
        citations = (*(part.citations or ()), *read_citation(raw))
        part = replace(part, citations=citations or None)
    return part


def write_assistant(
    parts: Sequence[LocatedPart], text: str | None = None, *, is_request: bool
) -> tuple[wire.Assistant, list[Position | None]]:
    """Return the message of a step, and the position of each part.

    In a request, text together with calls becomes the tool plan: "text content is not allowed when tool_calls
    are provided" (https://github.com/vercel/ai/issues/5794).
    """
    plan: list[str] = []
    content: list[Any] = []
    calls: list[Any] = []
    citations: list[Any] = []
    positions: list[Position | None] = []
    has_calls = any(isinstance(part, ToolCallPart) and CALLS.can_write(part) for part, _ in parts)
    for part, _ in parts:
        own = part_notes(part, NAME)
        if isinstance(part, ReasoningPart) and own.get(PLAN) is True:
            plan.append(part.text)
            positions.append(PLAN)
        elif isinstance(part, TextPart) and has_calls and is_request:
            plan.append(part.text)
            positions.append(PLAN)
            continue
        else:
            member, block = _write_block(part, own)
            target = calls if member == "tool_calls" else content
            positions.append(None if block is None else (member, len(target)))
            if block is None:
                continue
            target.append(block)
        if is_array(cited := own.get(CITATIONS)):
            citations += cited
    if text is not None and has_calls and is_request:
        plan.append(text)
    elif text is not None:
        content.append(wire.Text(text=text))
    message = wire.Assistant(
        content=tuple(content) or UNSET,
        tool_plan=SEPARATOR.join(plan) or UNSET,
        tool_calls=tuple(calls) or UNSET,
        citations=citations or UNSET,
    )
    return message, positions


def _write_block(part: Any, own: JsonObject) -> tuple[str, Any]:
    match part:
        case CustomPart(kind=str(kind)) if kind.startswith(f"{NAME}.") and is_object(own.get("block")):
            return str(own.get("member")), own["block"]
        case ToolCallPart():
            return "tool_calls", CALLS.write(part)
        case _:
            return "content", ASSISTANT_BLOCKS.write(part)


def as_string(message: Any) -> Any:
    """Return a message with its content, which is one text, as a string."""
    return replace(message, content=BLOCKS.as_string(message.content or ())) if message.content else message
