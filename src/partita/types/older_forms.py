"""Older JSON forms of parts and messages, rewritten in the current form before they are read.

Nothing is dropped: members without a current name are kept in `extra`. A value in the current form or in an
unknown form is returned unchanged.

Older forms are: flat and nested `tool-invocation` and `source` parts, `data` without a name,
`reasoning.reasoning` with its `details`, `thinking`, `file` and `image` parts with `data` and `mimeType`,
`tool-call` parts without a state; messages with a `timestamp`, a `usage`, or one part as their content.
"""

import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from .json import Json, JsonObject, is_array, is_object
from .messages import ToolCallPart
from .parts import FilePart, ImagePart, SourceDocumentPart, SourceUrlPart, ToolResultPart, ToolState
from .times import Timestamp
from .usage import Usage
from .value import Value, keep_fields, wire_names

TOOL_STATES: Mapping[str, ToolState] = {
    "partial-call": "input-streaming",
    "call": "input-available",
    "result": "output-available",
}
"""States of a `tool-invocation`, and the current ones."""

UNKNOWN_MEDIA_TYPE = "application/octet-stream"
UNNAMED_DATA = "data"
"""The name of a data part without a name."""

SIGNATURE_PROVIDER = "anthropic"
"""The provider whose signatures are in the `details` of older reasoning."""

USAGE_FIELDS: Mapping[str, str] = {
    "input": "inputTokens",
    "inputTokens": "inputTokens",
    "promptTokens": "inputTokens",
    "output": "outputTokens",
    "outputTokens": "outputTokens",
    "completionTokens": "outputTokens",
    "total": "totalTokens",
    "totalTokens": "totalTokens",
    "reasoning": "reasoningTokens",
    "reasoningTokens": "reasoningTokens",
    "cacheRead": "cachedInputTokens",
    "cachedInputTokens": "cachedInputTokens",
    "cacheWrite": "cacheWriteTokens",
    "cacheWriteTokens": "cacheWriteTokens",
}
"""Older names of token counts, and the current ones. If two names mean the same count, the first is used."""

BASE64 = re.compile(r"[A-Za-z0-9+/_\-\s]*(?:=\s*){0,2}")
"""Base64 in either alphabet. A URL contains a colon or a dot, base64 does not."""

FILE_IDS: Mapping[str, str] = {"-": "openai", "_": "anthropic"}
"""The character after `file` in the id of a file that was uploaded to a provider, and the provider."""

_FILE_ID = re.compile(r"file([-_])[\w-]+")
_DATA_URL_TYPE = re.compile(r"data:([^;,]+)")


def data_url(data: str, media_type: str) -> str:
    """The URL of a file that was stored as a URL or as base64."""
    return f"data:{media_type};base64,{data}" if BASE64.fullmatch(data) else data


def file_reference(data: str) -> dict[str, str] | None:
    """The provider and the id of an uploaded file, if `data` is such an id."""
    found = _FILE_ID.fullmatch(data)
    return {FILE_IDS[found[1]]: data} if found else None


def current_part(part: JsonObject, tags: Iterable[str]) -> JsonObject:
    """A part in the current form. `tags` are the types that are allowed in its place."""
    rewrite = _PARTS.get(part.get("type", ""))
    return part if rewrite is None else rewrite(part, frozenset(tags)) or part


def current_parts(part: Json) -> Sequence[Json]:
    """A part as a list of current parts: one, except for reasoning with several details."""
    pieces = _pieces(part) if is_object(part) and part.get("type") == "reasoning" else ()
    return [{"type": "reasoning", **piece} for piece in pieces] if len(pieces) > 1 else (part,)


def current_message(message: JsonObject) -> JsonObject:
    """A message in the current form, whose content is an object with `parts`."""
    content: Json = message.get("content")
    if is_object(content) and "parts" not in content and isinstance(content.get("type"), str):
        content = [content]
    elif not isinstance(content, (str, list)):
        return message
    today: JsonObject = {**message, "content": content}
    if "createdAt" not in today and _is_moment(today.get("timestamp")):
        today["createdAt"] = today.pop("timestamp")
    if today.get("role") == "assistant" and is_object(today.get("usage")):
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        today["content"] = {"format": 2, "parts": parts, "usage": current_usage(today.pop("usage"))}
    return today


def current_usage(counts: JsonObject) -> JsonObject:
    """Token counts under their current names. Other members keep their names, in `extra`."""
    known: JsonObject = {}
    rest: JsonObject = {}
    for key, count in counts.items():
        name = USAGE_FIELDS.get(key)
        is_count = isinstance(count, int) and not isinstance(count, bool)
        if name is None or name in known or not is_count:
            rest[key] = count
        else:
            known[name] = count
    return _with_rest(known, rest, Usage)


def _is_moment(value: Json) -> bool:
    try:
        msgspec.convert(value, Timestamp)
    except msgspec.ValidationError:
        return False
    return isinstance(value, str)


def _with_rest(known: JsonObject, rest: JsonObject, type_: type[Value]) -> JsonObject:
    """A value's JSON with members that have no field, renamed if their name has another meaning now."""
    return {**known, **(keep_fields(rest, type_) or {})}


def _without(part: JsonObject, *names: str) -> JsonObject:
    return {key: item for key, item in part.items() if key not in names}


def _thinking(part: JsonObject, _: frozenset[str]) -> JsonObject:
    name = next((name for name in ("text", "reasoning", "thinking") if name in part), "text")
    renamed = {"text": part[name]} if name in part else {}
    return {**_without(part, name), "type": "reasoning", **renamed}


def _reasoning(part: JsonObject, _: frozenset[str]) -> JsonObject | None:
    """The text of version 4, and the signature or the redacted data of its only detail."""
    if "text" in part or not isinstance(part.get("reasoning"), str):
        return None
    pieces = _pieces(part)
    if len(pieces) == 1:
        return {"type": "reasoning", **pieces[0]}
    return {**_without(part, "reasoning"), "text": part["reasoning"]}


def _pieces(part: JsonObject) -> Sequence[JsonObject]:
    """A reasoning part for each detail; none if the details do not make up the text."""
    text: Json = part.get("reasoning")
    details: Json = part.get("details")
    if "text" in part or not isinstance(text, str) or not is_array(details):
        return ()
    pieces = [piece for detail in details if (piece := _piece(detail)) is not None]
    if len(pieces) < len(details) or (pieces and "".join(piece["text"] for piece in pieces) != text):
        return ()
    first, *rest = pieces or [{"text": text}]
    around = _without(part, "type", "reasoning", "details")
    given: Json = around.get("providerMetadata")
    own: JsonObject = first.get("providerMetadata", {})
    if is_object(given):
        signed = {
            **own.get(SIGNATURE_PROVIDER, {}),
            **(given[SIGNATURE_PROVIDER] if is_object(given.get(SIGNATURE_PROVIDER)) else {}),
        }
        around["providerMetadata"] = {**given, **({SIGNATURE_PROVIDER: signed} if signed else {})}
    return ({**first, **around}, *rest)


def _piece(detail: Json) -> JsonObject | None:
    match detail:
        case {"type": "text", "text": str(text), "signature": str(signature), **rest} if not rest:
            return {"text": text, "providerMetadata": {SIGNATURE_PROVIDER: {"signature": signature}}}
        case {"type": "text", "text": str(text), **rest} if not rest:
            return {"text": text}
        case {"type": "redacted", "data": str(data), **rest} if not rest:
            return {"text": "", "providerMetadata": {SIGNATURE_PROVIDER: {"redactedData": data}}}
        case _:
            return None


def _invocation(part: JsonObject, tags: frozenset[str]) -> JsonObject | None:
    """A tool call with its members in the part or in `toolInvocation`."""
    inner: Json = part.get("toolInvocation")
    raw = {**_without(part, "toolInvocation"), **inner} if is_object(inner) else part
    match raw:
        case {"toolCallId": str(id_), "toolName": str(name), "state": str(state)} if state in TOOL_STATES:
            pass
        case _:
            return None
    rest = _without(raw, "type", "toolCallId", "toolName", "state")
    output = _output(rest) if state == "result" else None
    if "tool-call" not in tags:
        if "tool-result" not in tags or output is None:
            return None
        metadata = _take_objects(rest, providerMetadata="providerMetadata")
        result = {"type": "tool-result", "id": id_, "name": name, "output": output, **metadata}
        return _with_rest(result, rest, ToolResultPart)
    call: JsonObject = {"type": "tool-call", "id": id_, "name": name, "state": TOOL_STATES[state]}
    if "args" in rest:
        is_text = state == "partial-call" and isinstance(rest["args"], str)
        call["rawInput" if is_text else "input"] = rest.pop("args")
    if output is not None:
        call["output"] = output
        if output["type"].startswith("error"):
            call["state"] = "output-error"
    call |= _take_objects(
        rest, providerMetadata="callProviderMetadata", resultProviderMetadata="resultProviderMetadata"
    )
    if isinstance(rest.get("providerExecuted"), bool):
        call["providerExecuted"] = rest.pop("providerExecuted")
    return _with_rest(call, rest, ToolCallPart)


def _output(rest: JsonObject) -> JsonObject:
    """The output of a call, which is removed from its members. An undefined result is absent in JSON."""
    value: Json = rest.pop("result", None)
    kind = "text" if isinstance(value, str) else "json"
    if rest.get("isError") is True:
        del rest["isError"]
        kind = f"error-{kind}"
    return {"type": kind, "value": value}


def _take_objects(rest: JsonObject, **names: str) -> JsonObject:
    return {today: rest.pop(name) for name, today in names.items() if is_object(rest.get(name))}


def _source(part: JsonObject, tags: frozenset[str]) -> JsonObject | None:
    """A source with its members in the part or in `source`."""
    inner: Json = part.get("source")
    raw = {**_without(part, "source"), **inner} if is_object(inner) else part
    url, title, id_ = raw.get("url"), raw.get("title"), raw.get("id")
    if "source-url" not in tags or not isinstance(id_, str | None) or not isinstance(title, str | None):
        return None
    rest = _without(raw, "type", "sourceType", "url", "title", "id")
    metadata = _take_objects(rest, providerMetadata="providerMetadata")
    named = {} if title is None else {"title": title}
    if isinstance(url, str):
        today = {"type": "source-url", "sourceId": id_ or url, "url": url, **named, **metadata}
        return _with_rest(today, rest, SourceUrlPart)
    if title is None:
        return None
    media_type = rest.pop("mediaType", None)
    if not isinstance(media_type, str):
        media_type = UNKNOWN_MEDIA_TYPE
    if isinstance(filename := rest.get("filename"), str):
        named["filename"] = filename
        del rest["filename"]
    today = {
        "type": "source-document",
        "sourceId": id_ or title,
        "mediaType": media_type,
        **named,
        **metadata,
    }
    return _with_rest(today, rest, SourceDocumentPart)


def _data(part: JsonObject, _: frozenset[str]) -> JsonObject | None:
    return None if "name" in part else {"type": "data", "name": UNNAMED_DATA, **_without(part, "type")}


def _file(part: JsonObject, _: frozenset[str]) -> JsonObject | None:
    return _media(part, FilePart, ("data",), UNKNOWN_MEDIA_TYPE)


def _image(part: JsonObject, _: frozenset[str]) -> JsonObject | None:
    if isinstance(part.get("url"), str) and "mimeType" not in part:
        return None  # the media type of an image is optional
    return _media(part, ImagePart, ("data", "image"), None)


def _media(
    part: JsonObject, type_: type[Value], names: tuple[str, ...], default: str | None
) -> JsonObject | None:
    """A file or an image with its data or URL under another name."""
    name = "url" if "url" in part else next((name for name in names if name in part), None)
    if name is None:
        return None
    data = base64_of(part[name])
    if data is None:
        return None
    rest = _without(part, name)
    if "mediaType" not in rest and isinstance(rest.get("mimeType"), str):
        rest["mediaType"] = rest.pop("mimeType")
    media_type: Json = rest.get("mediaType")
    if not isinstance(media_type, str):
        found = _DATA_URL_TYPE.match(data)
        media_type = found[1] if found else default
        if media_type is not None:
            rest["mediaType"] = media_type
    known = {key: rest.pop(key) for key in wire_names(type_) if key in rest}
    if name != "url" and type_ is FilePart and (reference := file_reference(data)) is not None:
        return _with_rest({"providerReference": reference, **known, "url": ""}, rest, type_)
    url = data if name == "url" else data_url(data, media_type or "image/*")
    return _with_rest({**known, "url": url}, rest, type_)


def base64_of(data: Json) -> str | None:
    """A string unchanged; bytes, also in the form that JavaScript writes as JSON, as base64."""
    match data:
        case str():
            return data
        case bytes() | bytearray():
            return b64encode(data).decode()
        case {"type": "Buffer", "data": list(numbers)}:
            pass
        case dict() if data and all(str(index) in data for index in range(len(data))):
            numbers = [data[str(index)] for index in range(len(data))]
        case list():
            numbers = data
        case _:
            return None
    try:
        return b64encode(bytes(numbers)).decode()
    except (TypeError, ValueError):
        return None


def _call(part: JsonObject, tags: frozenset[str]) -> JsonObject | None:
    return {**part, "state": "input-available"} if "state" not in part and "tool-call" in tags else None


_PARTS: Mapping[str, Callable[[JsonObject, frozenset[str]], JsonObject | None]] = {
    "thinking": _thinking,
    "reasoning": _reasoning,
    "tool-invocation": _invocation,
    "source": _source,
    "data": _data,
    "file": _file,
    "image": _image,
    "tool-call": _call,
}
"""By part type: the function that returns the current form, or `None` if the part is not in an older form."""
