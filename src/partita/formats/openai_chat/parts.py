"""Codecs for items, calls and results of Chat Completions, for each server.

`exact` codecs write parts as they were read. Others write what the server accepts.
"""

import base64
import binascii
import re
from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final, TypeAlias

from msgspec import UNSET

from partita.errors import DecodeError
from partita.formats.core.codec import PartCodec, PartCodecs
from partita.formats.core.files import is_image, read_sound, write_sound
from partita.formats.core.members import count_in, is_empty, text_in
from partita.formats.core.metadata import FIELDS, RAW_INPUT, notes
from partita.formats.core.rules import Alphabet
from partita.formats.core.tool_text import as_text, parse_input, read_tool_text, write_tool_text
from partita.formats.core.wire import Wire
from partita.types.codec import encode
from partita.types.data_url import OCTETS, PLAIN, data_url, parse_data_url
from partita.types.json import Json, JsonObject, dumps, is_object
from partita.types.messages import ToolCallPart
from partita.types.parts import (
    Citation,
    ContentOutput,
    FilePart,
    ImagePart,
    ReasoningFilePart,
    ReasoningPart,
    SourceUrlPart,
    TextPart,
    ToolOutput,
    ToolResultPart,
    UrlCitationSource,
)

from . import wire
from .dialects import Dialect

# Notes under the server's namespace
CONTENT: Final = "content"  # `list`, or `empty` for a message without parts
LIST: Final = "list"
EMPTY: Final = "empty"
FIELD: Final = "field"  # the member that reasoning is from
SAME_IN: Final = "said"  # other members with the same reasoning
ITEM: Final = "item"  # a refusal is an item of the content
TYPE: Final = "type"  # of a call: `custom`, or `function_call`
LEGACY: Final = "function_call"

# "a-z, A-Z, 0-9, or contain underscores and dashes, with a maximum length of 64":
# https://platform.openai.com/docs/api-reference/chat/create#chat_create-tools
TOOL_NAME: Final = Alphabet(re.compile(r"[^A-Za-z0-9_-]"), 64)
NO_ID: Final = TOOL_NAME.fit("")
"""The id that replaces an empty one."""
NINE_LETTERS: Final = re.compile(r"[A-Za-z0-9]{9}")

PDF: Final = "application/pdf"
WRAPPED: Final = "input"
"""The member of an object that holds arguments which are not JSON. Servers accept only JSON."""

MOVED: Final = "The content of this result is in the message after the results."

Media: TypeAlias = ImagePart | FilePart | ReasoningFilePart
MEDIA: Final = (ImagePart, FilePart, ReasoningFilePart)


def media_type_of(url: str) -> str:
    """The media type that a data URL names; an empty text for any other URL."""
    inline = parse_data_url(url)
    return "" if inline is None else inline.media_type or ""


class Codecs:
    """The codecs of one server."""

    def __init__(self, dialect: Dialect, is_exact: bool) -> None:
        self.dialect, self.is_exact = dialect, is_exact
        self.namespace = own = dialect.namespace
        text = PartCodec[Any](wire.Text, TextPart, _read_text, _write_text)
        media = PartCodec[Any](
            (wire.Image, wire.Audio, wire.File), MEDIA, self._read_media, self._write_media
        )
        refusal = PartCodec[Any](
            wire.Refusal, TextPart, self._read_refusal, _write_refusal, suits=self._is_refusal
        )
        thinking = PartCodec[Any](wire.Thinking, ReasoningPart, self._read_thinking, self._write_thinking)
        call = PartCodec[str](
            wire.Call, ToolCallPart, self._read_call, self._write_call, metadata="call_provider_metadata"
        )
        result = PartCodec[Any](wire.Tool, ToolResultPart, self._read_result, self._write_result)
        legacy = PartCodec[Any](
            wire.FunctionResult, ToolResultPart, self._read_result, self._write_function_result
        )
        named = {"member": FIELDS, "format_name": dialect.format_name}
        self.texts: PartCodecs[Any] = PartCodecs(own, text, **named)
        self.items: PartCodecs[Any] = PartCodecs(own, text, media, **named)
        self.answer_items: PartCodecs[Any] = PartCodecs(own, refusal, text, thinking, **named)
        self.calls: PartCodecs[str] = PartCodecs(own, call, **named)
        self.results: PartCodecs[Any] = PartCodecs(own, result, **named)
        self.function_results: PartCodecs[Any] = PartCodecs(own, legacy, **named)

    def noted(self, own: JsonObject) -> JsonObject | None:
        """Provider metadata with notes of the server."""
        return {self.namespace: own} if own else None

    # Items of an assistant message

    def _is_refusal(self, part: TextPart) -> bool:
        own = notes(part.provider_metadata, self.namespace)
        return own.get("refusal") is True and own.get(ITEM) is True

    def _read_refusal(self, item: wire.Refusal, context: Any) -> TextPart:
        return TextPart(item.refusal, provider_metadata={self.namespace: {"refusal": True, ITEM: True}})

    def _read_thinking(self, item: wire.Thinking, context: Any) -> ReasoningPart | None:
        if self.dialect.reasoning != "thinking":
            return None  # the server may require it back
        pieces = [item.thinking] if isinstance(item.thinking, str) else item.thinking
        texts = [piece if isinstance(piece, str) else text_in(piece, "text") for piece in pieces]
        own: JsonObject = {FIELD: "thinking"}
        if item.signature:
            own["signature"] = item.signature
        return ReasoningPart("".join(texts), provider_metadata={self.namespace: own}) if any(texts) else None

    def _write_thinking(self, part: ReasoningPart) -> Wire | None:
        own = notes(part.provider_metadata, self.namespace)
        signature = own.get("signature")
        pieces = [{"type": "text", "text": part.text}]
        return wire.Thinking(
            thinking=pieces, signature=signature if isinstance(signature, str) and signature else UNSET
        )

    # Images, sounds and files

    def _read_media(self, item: Any, context: Any) -> Media | None:
        match item:
            case wire.Image(image_url=image):
                url, detail = (
                    image if isinstance(image, str) else text_in(image, "url"),
                    text_in(image, "detail"),
                )
                own = self.noted({"imageDetail": detail} if detail else {})
                return ImagePart(url, media_type_of(url) or None, provider_metadata=own)
            case wire.Audio(input_audio=sound):
                return read_sound(sound)
            case wire.File(file=file):
                if file_id := text_in(file, "file_id"):
                    return FilePart("", OCTETS, provider_reference={self.namespace: file_id})
                url = text_in(file, "file_data")
                return FilePart(url, media_type_of(url) or PDF, text_in(file, "filename") or None)
            case _:
                return None

    def _write_media(self, part: Media) -> Wire | None:
        reference = part.provider_reference if isinstance(part, FilePart) else None
        if reference is not None and self.namespace in reference:
            return wire.File(file={"file_id": reference[self.namespace]})
        name = None if isinstance(part, ImagePart) else part.filename
        if part.url.partition(":")[0].lower() in ("http", "https"):
            if is_image(part):
                return self._image(part, part.url)
            if not self.dialect.fetches_files:
                return None
            named = name or part.url.partition("?")[0].rstrip("/").rpartition("/")[2]
            return wire.File(file={"filename": named, "file_data": part.url})
        inline = parse_data_url(part.url)
        data = None if inline is None else inline.base64()
        if inline is None or data is None:
            return None
        media_type = inline.media_type or part.media_type or PLAIN
        url = data_url(data, media_type)
        if isinstance(part, ImagePart) or media_type.startswith("image/"):
            return self._image(part, url)
        if (sound := write_sound(media_type, data)) is not None:
            return wire.Audio(input_audio=sound)
        if media_type == PDF:
            return wire.File(file={"filename": name or "document.pdf", "file_data": url})
        text = inline.text() if media_type.startswith("text/") else None
        return None if text is None else wire.Text(text=f"{name}:\n{text}" if name else text)

    def _image(self, part: Media, url: str) -> Wire:
        # The AI SDK has the same note
        detail = text_in(notes(part.provider_metadata, self.namespace), "imageDetail")
        return wire.Image(image_url={"url": url, "detail": detail} if detail else {"url": url})

    # Calls

    def _read_call(self, call: wire.Call, made_id: str) -> ToolCallPart | None:
        id_ = call.id if isinstance(call.id, str) else made_id
        custom, function = call.custom, call.function
        if custom is not UNSET and call.type == "custom":
            return ToolCallPart(
                id_,
                custom.name,
                "input-available",
                custom.input,
                input_encoding="text",
                call_provider_metadata={self.namespace: {TYPE: "custom"}},
            )
        if function is UNSET or call.type not in (UNSET, "function"):
            return None
        return self.read_function(id_, function, {})

    def read_function(self, id_: str, function: wire.Function, own: JsonObject) -> ToolCallPart:
        """A call of a function, with notes."""
        arguments = function.arguments
        if not isinstance(arguments, str):
            # Without any it is an empty object. Some servers give the value instead of its text.
            given: Json = {} if arguments is UNSET or arguments is None else arguments
            return ToolCallPart(
                id_, function.name, "input-available", given, call_provider_metadata=self.noted(own)
            )
        try:
            value: Json = parse_input(arguments)
        except DecodeError:
            metadata = self.noted({**own, RAW_INPUT: arguments})
            return ToolCallPart(
                id_, function.name, "input-available", raw_input=arguments, call_provider_metadata=metadata
            )
        if isinstance(value, str) or dumps(value).decode() != arguments:
            own = {**own, RAW_INPUT: arguments}
        return ToolCallPart(
            id_, function.name, "input-available", value, call_provider_metadata=self.noted(own)
        )

    def _write_call(self, part: ToolCallPart) -> Wire | None:
        if part.provider_executed:
            return None
        id_ = part.id if self.is_exact else self.call_id(part.id)
        if isinstance(part.input, str):
            own = notes(part.call_provider_metadata, self.namespace)
            if own.get(TYPE) == "custom":
                return wire.Call(id=id_, type="custom", custom=wire.Custom(self.tool_name(part), part.input))
        return wire.Call(id=id_, type="function", function=self.write_function(part))

    def write_function(self, part: ToolCallPart) -> wire.Function:
        """The function that a call calls, with its arguments."""
        return wire.Function(self.tool_name(part), self._arguments(part))

    def call_id(self, id_: str) -> str:
        """Return the id of a call in the form that the server accepts."""
        if not self.dialect.nine_letter_ids or NINE_LETTERS.fullmatch(id_):
            return id_ or NO_ID
        return sha256(id_.encode("utf-8", "surrogatepass")).hexdigest()[:9]

    def tool_name(self, part: ToolCallPart) -> str:
        """Return the name of a tool in the form that servers accept."""
        return part.name if self.is_exact else TOOL_NAME.fit(part.name)

    def _arguments(self, part: ToolCallPart) -> str:
        own = notes(part.call_provider_metadata, self.namespace)
        raw = own.get(RAW_INPUT)
        if isinstance(raw, str) and (raw or self.is_exact) and _is_input(raw, part):
            return raw
        value = part.raw_input if part.input is UNSET else part.input
        if value is UNSET:
            return "{}"
        if not isinstance(value, str):
            return encode(value).decode()
        # A text is an input that is not JSON.
        is_raw = self.is_exact and part.input is UNSET
        return value if is_raw else dumps({WRAPPED: value}).decode()

    # Results

    def _read_result(self, message: wire.Message, name: str) -> ToolResultPart:
        content = message.content
        id_ = message.tool_call_id if isinstance(message, wire.Tool) else ""
        if not isinstance(content, tuple):
            return ToolResultPart(id_ or "", name, read_tool_text("success", content or ""))
        output = ContentOutput(tuple(self.items.read(item, None) for item in content))
        return ToolResultPart(id_ or "", name, output, {self.namespace: {CONTENT: LIST}})

    def _write_result(self, part: ToolResultPart) -> Wire:
        id_ = part.id if self.is_exact else self.call_id(part.id)
        return wire.Tool(tool_call_id=id_, content=self._result_content(part))

    def _write_function_result(self, part: ToolResultPart) -> Wire:
        name = part.name if self.is_exact else TOOL_NAME.fit(part.name)
        return wire.FunctionResult(name=name, content=self._result_content(part))

    def _result_content(self, part: ToolResultPart) -> wire.Content:
        _, value, items = write_tool_text(part.output)
        if items is None:
            return as_text(value)
        is_list = notes(part.provider_metadata, self.namespace).get(CONTENT) == LIST
        codecs = self.items if self.is_exact else self.texts
        found = [codecs.write(item) for item in items if is_list or not is_empty_text(item)]
        written = [one for one in found if one is not None]
        if not written and not self.is_exact and media_in(part.output):
            return MOVED
        return self.joined(written, is_list=is_list)

    def joined(self, items: Sequence[Any], *, is_list: bool, separator: str = "\n") -> Any:
        """Return items as a content: a list, or one text if all items are text."""
        if is_list or not all(map(is_plain, items)):
            return tuple(items)
        if len(items) == 1 or not self.dialect.lists_of_text:
            return separator.join(item.text for item in items)
        return tuple(items) or ""


@lru_cache
def codecs_of(dialect: Dialect, *, is_exact: bool = False) -> Codecs:
    """The codecs of a server."""
    return Codecs(dialect, is_exact)


def is_plain(item: Any) -> bool:
    """Whether an item is only text."""
    return type(item) is wire.Text and item.cache_control is UNSET and item.extra is None


def is_empty_text(part: Any) -> bool:
    """Whether a part is a text without characters, which is not sent."""
    return type(part) is TextPart and not part.text


def media_in(output: ToolOutput) -> list[Media]:
    """Images and files in the output of a tool. Servers accept only text in results."""
    items = output.value if type(output) is ContentOutput else ()
    return [item for item in items if isinstance(item, MEDIA)]


def _is_input(raw: str, part: ToolCallPart) -> bool:
    """Whether the noted text of an input is still that of the call."""
    if part.input is UNSET:
        return part.raw_input is UNSET or part.raw_input == raw
    try:
        return bool(parse_input(raw) == part.input)
    except DecodeError:
        return False


def _read_text(item: wire.Text, context: Any) -> TextPart:
    return TextPart(item.text)


def _write_text(part: TextPart) -> Wire:
    return wire.Text(text=part.text)


def _write_refusal(part: TextPart) -> Wire:
    return wire.Refusal(refusal=part.text)


# Parts of responses: sources, images and sounds

AUDIO_TYPE: Final = "audio"
"""The media type of a sound. Only the request names its format."""

IMAGE_TYPE: Final = "image/*"
"""The media type of an image without one."""


class Sources:
    """The sources of a response, each once, though servers repeat them in every record."""

    def __init__(self, namespace: str) -> None:
        self._namespace = namespace
        self._cited: set[tuple[str, int | None, int | None]] = set()
        self._urls: set[str] = set()
        self._count = 0

    def cite(self, cited: JsonObject) -> tuple[SourceUrlPart, Citation] | None:
        """A page that the text cites; `None` if it is known."""
        url = text_in(cited, "url")
        start, end = count_in(cited, "start_index"), count_in(cited, "end_index")
        if (url, start, end) in self._cited:
            return None
        self._cited.add((url, start, end))
        part = self._part(url, cited)
        return part, Citation(UrlCitationSource(part.source_id, url, part.title), start, end)

    def mention(self, item: Json) -> SourceUrlPart | None:
        """A page of the list `citations`: a URL, or an object with one. `None` if it is known."""
        page: JsonObject = item if is_object(item) else {"url": item}
        url = text_in(page, "url")
        return self._part(url, page) if url and url not in self._urls else None

    def _part(self, url: str, page: JsonObject) -> SourceUrlPart:
        self._urls.add(url)
        self._count += 1
        facts = {key: item for key, item in page.items() if key not in ("url", "title")}
        metadata = {self._namespace: facts} if facts else None
        title = text_in(page, "title") or None
        return SourceUrlPart(f"source-{self._count - 1}", url, title, provider_metadata=metadata)


def cited_in(annotation: Json) -> JsonObject | None:
    """The page that an annotation cites, if it cites one."""
    cited = annotation.get("url_citation") if is_object(annotation) else None
    return cited if is_object(cited) and text_in(cited, "url") else None


def read_image(item: Json, namespace: str) -> FilePart | None:
    """The part of an image that the model made, if it is one."""
    image = item.get("image_url") if is_object(item) else None
    url = image if isinstance(image, str) else text_in(image, "url")
    if not url or not is_object(item):
        return None
    handled = ("type", "image_url")
    rest = {key: value for key, value in item.items() if key not in handled and not is_empty(value)}
    metadata = {namespace: rest} if rest else None
    return FilePart(url, media_type_of(url) or IMAGE_TYPE, provider_metadata=metadata)


def read_audio(data: Sequence[str], facts: JsonObject, namespace: str) -> FilePart:
    """Return the part of a sound, given its chunks of base64 and its other members."""
    metadata = {namespace: {"audio": facts}} if facts else None
    return FilePart(data_url(_joined(data), AUDIO_TYPE), AUDIO_TYPE, provider_metadata=metadata)


def _joined(pieces: Sequence[str]) -> str:
    """Join chunks of base64. A chunk with padding was encoded separately."""
    if not any(piece.endswith("=") for piece in pieces[:-1]):
        return "".join(pieces)
    try:
        return base64.b64encode(b"".join(base64.b64decode(piece, validate=True) for piece in pieces)).decode()
    except (binascii.Error, ValueError):
        return "".join(pieces)
