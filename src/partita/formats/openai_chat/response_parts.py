"""What only responses have: usage, sources, images, sounds, tools that the server ran, and how they ended.

Bodies and streams read them with the same functions.
"""

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import UNSET
from msgspec.structs import replace

from partita.errors import DecodeError
from partita.formats.core.members import count_in, is_empty, text_in
from partita.formats.core.tool_text import as_text
from partita.types.codec import Codec, to_json
from partita.types.data_url import data_url
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.parts import Citation, FilePart, SourceUrlPart, UrlCitationSource
from partita.types.usage import Usage, UsageNames

from .parts import media_type_of

AUDIO_TYPE: Final = "audio"
"""The media type of a sound: only the request names its format."""

IMAGE_TYPE: Final = "image/*"
"""The media type of an image that does not name its own."""

# OpenAI, and servers that pass on the reasons of Anthropic and Mistral (seen in recordings)
FINISHES: Final[Mapping[str, str]] = {
    "stop": "stop",
    "eos": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_calls": "tool-calls",
    "function_call": "tool-calls",
    "tool_use": "tool-calls",
    "length": "length",
    "model_length": "length",
    "max_tokens": "length",
    "content_filter": "content-filter",
    "error": "error",
    "insufficient_system_resource": "error",
}
"""Finish reasons by those of servers; any other is `other`."""

CUT: Final = frozenset({"length", "content-filter", "error"})
"""Finish reasons after which an input that is not JSON was cut, and is not an error."""


def finish_reason(raw: str | None, *, has_calls: bool, has_refused: bool) -> str:
    """The finish reason. Both a refusal and a call that was forced by name end with `stop`."""
    reason = FINISHES.get((raw or "").lower(), "other")
    if reason == "stop" and has_refused:
        return "content-filter"
    return "tool-calls" if reason == "stop" and has_calls else reason


def errors_in(record: JsonObject) -> list[Json]:
    """The errors in a record. In a response only `error` is one; gateways send a `message` alone."""
    if record.get("object") == "error":
        return [record]
    names = ("error",) if "choices" in record else ("error", "message")
    return [record[name] for name in names if record.get(name) and (name == "error" or text_in(record, name))]


def error_text(error: Json) -> str:
    """The text of an error, or of several, whatever their shape."""
    return "; ".join(_error_text(item) for item in (error if is_array(error) else [error]))


def _error_text(error: Json) -> str:
    names = ("message", "msg", "detail", "error", "code")
    found = [text_in(error, name) for name in names] if is_object(error) else [error]
    text = next((one for one in found if isinstance(one, str) and one), None)
    try:
        return as_text(error) if text is None else text
    except DecodeError:
        return "an error that is nested too deeply to show"


# Usage: https://platform.openai.com/docs/api-reference/chat/object#chat/object-usage

USAGE: Final = UsageNames(
    input=("prompt_tokens",),
    output=("completion_tokens",),
    total=("total_tokens",),
    reasoning=("completion_tokens_details.reasoning_tokens", "reasoning_tokens"),
    cached=(
        "prompt_tokens_details.cached_tokens",
        "prompt_cache_hit_tokens",  # DeepSeek: https://api-docs.deepseek.com/guides/kv_cache
        "num_cached_tokens",  # vLLM (seen in a recording)
        "cached_tokens",  # Moonshot (seen in a recording)
    ),
    cache_write=("prompt_tokens_details.cache_write_tokens",),
)
_USAGE: Final[Codec[Usage]] = Codec(Usage)


def usage_in(record: JsonObject) -> JsonObject | None:
    """The usage in a record, if any. Groq also has it in a member of its own (seen in a recording)."""
    own: Json = record.get("x_groq")
    for found in (record.get("usage"), own.get("usage") if is_object(own) else None):
        if is_object(found) and found:
            return found
    return None


def read_usage(raw: JsonObject) -> Usage:
    """Canonical counts. Input includes cached tokens, output includes reasoning.

    xAI does not include reasoning in the output, as its total shows (seen in a recording).
    """
    usage = replace(USAGE.read(raw), raw=raw)
    given, made, total = usage.input_tokens, usage.output_tokens, usage.total_tokens
    reasoning = usage.reasoning_tokens
    if made is None or not reasoning:
        return usage
    is_unknown = given is None or total is None
    is_apart = reasoning > made if is_unknown else total == (given or 0) + made + reasoning
    return replace(usage, output_tokens=made + reasoning) if is_apart else usage


def write_usage(usage: Usage | Json) -> JsonObject | None:
    """The counts of the API: `raw` if it is from there. `None` if it is not a usage."""
    plain = to_json(usage)
    if not is_object(plain):
        return None
    raw = plain.get("raw")
    if is_object(raw) and "prompt_tokens" in raw and "completion_tokens" in raw:
        return raw
    try:
        return USAGE.write(replace(_USAGE.read(plain), raw=UNSET))
    except DecodeError:
        return USAGE.write(Usage())


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
        """A page of a list beside the response: a URL, or an object with one. `None` if it is known."""
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
    """The part of a sound that the model made, given its pieces in base64 and what else is known of it."""
    metadata = {namespace: {"audio": facts}} if facts else None
    return FilePart(data_url(_joined(data), AUDIO_TYPE), AUDIO_TYPE, provider_metadata=metadata)


def _joined(pieces: Sequence[str]) -> str:
    """Base64 of all pieces. A piece with padding was encoded by itself."""
    if not any(piece.endswith("=") for piece in pieces[:-1]):
        return "".join(pieces)
    try:
        return base64.b64encode(b"".join(base64.b64decode(piece, validate=True) for piece in pieces)).decode()
    except (binascii.Error, ValueError):
        return "".join(pieces)


TOOL_MEMBERS: Final = frozenset({"index", "type", "name", "arguments"})
"""Members of a tool that the server ran which describe the call; the others are its result."""
