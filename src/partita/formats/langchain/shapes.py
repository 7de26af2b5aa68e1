"""Blocks as providers shape them, from before there were standard ones ↔ standard blocks.

A standard block that was another before says so under `shape`, so that it can be shaped back. A block that
is not exactly one of these shapes stays as it is.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from partita.errors import DecodeError
from partita.formats.framework.members import present
from partita.types.data_url import data_url, inline_of, kind_of_media
from partita.types.json import Json, JsonObject, dumps, is_array, is_object, loads

from .sources import from_source, from_source_type, to_source, to_source_type

SHAPE: Final = "shape"
OF_ANTHROPIC: Final = frozenset({"thinking", "redacted_thinking", "tool_use", "server_tool_use"})
OF_OPENAI: Final = frozenset({"summary", "function_call"})


def standard(block: Json) -> list[Json]:
    """The standard blocks that a block amounts to, with its shape."""
    if not is_object(block) or not isinstance(block.get("type"), str) or SHAPE in block:
        return [block]
    shape = _shape_of(block)
    found = None if shape is None else _TO[shape](block)
    if found is None:
        return [block]
    return [{**one, SHAPE: shape} for one in found]


def reshaped(block: JsonObject) -> JsonObject | str:
    """The block that a standard one with a shape was."""
    shape = block.get(SHAPE)
    rest = {key: value for key, value in block.items() if key != SHAPE}
    if shape == "string":
        return str(rest.get("text", ""))
    back = _BACK.get(shape) if isinstance(shape, str) else None
    try:
        return rest if back is None else back(rest)
    except (KeyError, TypeError, AttributeError, DecodeError):
        return rest  # the block is no longer what its shape says


def joined(blocks: list[JsonObject]) -> list[JsonObject]:
    """Summaries of one item of reasoning in one block again."""
    found: list[JsonObject] = []
    for block in blocks:
        last = found[-1] if found else {}
        is_more = block.get(SHAPE) == "summary" and last.get(SHAPE) == "summary"
        if is_more and last.get("id") == block.get("id") and set(block) <= {"type", "id", "reasoning", SHAPE}:
            found[-1] = {**last, "more": [*last.get("more", []), block.get("reasoning", "")]}
        else:
            found.append(block)
    return found


def namespace_for(block: JsonObject, namespace: str | None) -> str | None:
    """The namespace of a block's metadata: that of the message, else of the one whose shape it has."""
    shape = block.get(SHAPE)
    if namespace is not None:
        return namespace
    if not isinstance(shape, str):
        return None
    return "anthropic" if shape in OF_ANTHROPIC else "openai" if shape in OF_OPENAI else None


def _shape_of(block: JsonObject) -> str | None:
    type_: str = block["type"]
    if type_ in {"image", "document"} and is_object(block.get("source")):
        return "source"
    if isinstance(block.get("source_type"), str):
        return "source_type"
    if type_ == "reasoning":
        return "summary" if is_array(block.get("summary")) else None
    if type_ == "file":
        return "file" if is_object(block.get("file")) else None
    if type_.endswith("_tool_result") and isinstance(block.get("tool_use_id"), str):
        return "tool_result"
    return type_ if type_ in _TO else None


def _beyond(block: JsonObject, *names: str) -> JsonObject:
    return {key: value for key, value in block.items() if key != "type" and key not in names}


def _thinking(block: JsonObject) -> list[JsonObject] | None:
    rest = _beyond(block, "thinking", "signature")
    signature = block.get("signature")
    is_right = isinstance(block.get("thinking"), str) and (
        isinstance(signature, str) or "signature" not in block
    )
    if not is_right or {"extras", "reasoning", "id"} & set(rest):
        return None
    extras = {} if signature is None else {"extras": {"signature": signature}}
    return [{"type": "reasoning", "reasoning": block["thinking"], **extras, **rest}]


def _unthinking(block: JsonObject) -> JsonObject:
    rest = _beyond(block, "reasoning", "extras")
    extras = block.get("extras")
    return {
        "type": "thinking",
        "thinking": block.get("reasoning", ""),
        **(extras if is_object(extras) else {}),
        **rest,
    }


def _redacted(block: JsonObject) -> list[JsonObject] | None:
    is_right = set(block) == {"type", "data"} and isinstance(block["data"], str)
    return [{"type": "non_standard", "value": block}] if is_right else None


def _unredacted(block: JsonObject) -> JsonObject:
    value: JsonObject = block["value"]
    return value


def _summary(block: JsonObject) -> list[JsonObject] | None:
    texts = [one.get("text") for one in block["summary"] if is_object(one) and set(one) == {"type", "text"}]
    are_summaries = all(one.get("type") == "summary_text" for one in block["summary"] if is_object(one))
    if len(texts) != len(block["summary"]) or not are_summaries or {"reasoning", "more"} & set(block):
        return None
    if not all(isinstance(text, str) for text in texts):
        return None
    rest = _beyond(block, "summary")
    if not texts:
        return [{"type": "reasoning", **rest, "reasoning": "", "summary": []}]
    first = {"type": "reasoning", **rest, "reasoning": texts[0]}
    id_ = {"id": block["id"]} if "id" in block else {}
    return [first, *({"type": "reasoning", **id_, "reasoning": text} for text in texts[1:])]


def _unsummary(block: JsonObject) -> JsonObject:
    rest = _beyond(block, "reasoning", "more", "summary")
    if block.get("summary") == [] and not block.get("reasoning"):
        return {"type": "reasoning", **rest, "summary": []}
    texts = [block.get("reasoning", ""), *block.get("more", ())]
    return {"type": "reasoning", **rest, "summary": [{"type": "summary_text", "text": one} for one in texts]}


def _image_url(block: JsonObject) -> list[JsonObject] | None:
    image = block.get("image_url")
    about: JsonObject = image if is_object(image) else {"url": image}
    url, rest = about.get("url"), _beyond(block, "image_url")
    if not isinstance(url, str) or {"extras", "url", "base64", "mime_type", "plain"} & set(rest):
        return None
    inline = inline_of(url)
    source = (
        {"url": url} if inline is None else {"base64": inline.data, **present(mime_type=inline.media_type)}
    )
    extras = {key: value for key, value in about.items() if key != "url"}
    plain = {} if is_object(image) else {"plain": True}
    return [{"type": "image", **source, **({"extras": extras} if extras else {}), **plain, **rest}]


def _un_image_url(block: JsonObject) -> JsonObject:
    rest = _beyond(block, "url", "base64", "mime_type", "extras", "plain")
    data = block.get("base64")
    url = data_url(data, block.get("mime_type")) if isinstance(data, str) else block.get("url", "")
    extras = block.get("extras")
    about = {"url": url, **(extras if is_object(extras) else {})}
    return {"type": "image_url", "image_url": url if block.get("plain") else about, **rest}


def _file(block: JsonObject) -> list[JsonObject] | None:
    file, rest = block["file"], _beyond(block, "file")
    inline = inline_of(file["file_data"]) if isinstance(file.get("file_data"), str) else None
    if (
        rest
        or set(file) - {"file_data", "file_id", "filename"}
        or (inline is None) == ("file_id" not in file)
    ):
        return None
    if inline is not None and "file_id" in file:
        return None
    source = {"file_id": file["file_id"]} if inline is None else _inline(inline.data, inline.media_type)
    extras = {"extras": {"filename": file["filename"]}} if "filename" in file else {}
    return [{"type": "file", **source, **extras}]


def _unfile(block: JsonObject) -> JsonObject:
    data, extras = block.get("base64"), block.get("extras")
    source = (
        {"file_data": data_url(data, block.get("mime_type"))}
        if isinstance(data, str)
        else {"file_id": block.get("file_id", "")}
    )
    return {"type": "file", "file": {**source, **(extras if is_object(extras) else {})}}


def _inline(data: str, media_type: str | None) -> JsonObject:
    return {"base64": data, **present(mime_type=media_type)}


def _input_audio(block: JsonObject) -> list[JsonObject] | None:
    audio = block.get("input_audio")
    if not is_object(audio) or set(audio) != {"data", "format"} or _beyond(block, "input_audio"):
        return None
    if not all(isinstance(value, str) for value in audio.values()):
        return None
    return [{"type": "audio", "base64": audio["data"], "mime_type": f"audio/{audio['format']}"}]


def _un_input_audio(block: JsonObject) -> JsonObject:
    media_type = str(block.get("mime_type", ""))
    audio = {"data": block.get("base64", ""), "format": media_type.removeprefix("audio/")}
    return {"type": "input_audio", "input_audio": audio}


def _media(block: JsonObject) -> list[JsonObject] | None:
    media_type, rest = block.get("mime_type"), _beyond(block, "data", "file_uri")
    has_data = isinstance(block.get("data"), str)
    if not isinstance(media_type, str) or has_data == isinstance(block.get("file_uri"), str):
        return None
    source = {"base64": block["data"]} if has_data else {"url": block["file_uri"]}
    kind = kind_of_media(media_type)
    return [{"type": "file" if kind == "document" else kind, **source, **rest}]


def _unmedia(block: JsonObject) -> JsonObject:
    rest = _beyond(block, "base64", "url")
    source = {"data": block["base64"]} if "base64" in block else {"file_uri": block.get("url", "")}
    return {"type": "media", **source, **rest}


def _tool_use(block: JsonObject) -> list[JsonObject] | None:
    return _called(block, "tool_call")


def _server_tool_use(block: JsonObject) -> list[JsonObject] | None:
    return _called(block, "server_tool_call")


def _called(block: JsonObject, type_: str) -> list[JsonObject] | None:
    rest = _beyond(block, "input")
    if not is_object(block.get("input")) or "args" in rest:
        return None
    return [{"type": type_, "args": block["input"], **rest}]


def _uncalled(type_: str) -> Callable[[JsonObject], JsonObject]:
    return lambda block: {"type": type_, "input": block.get("args"), **_beyond(block, "args")}


def _tool_result(block: JsonObject) -> list[JsonObject] | None:
    rest = _beyond(block, "tool_use_id", "content")
    if {"extras", "output", "status", "tool_call_id"} & set(rest) or "content" not in block:
        return None
    content = block["content"]
    is_error = is_object(content) and str(content.get("type", "")).endswith("_error")
    result = {"status": "error" if is_error else "success", "output": content}
    return [
        {
            "type": "server_tool_result",
            "tool_call_id": block["tool_use_id"],
            **result,
            "extras": {"block_type": block["type"]},
            **rest,
        }
    ]


def _un_tool_result(block: JsonObject) -> JsonObject:
    rest = _beyond(block, "tool_call_id", "output", "status", "extras")
    extras = block.get("extras")
    type_ = extras.get("block_type", "") if is_object(extras) else ""
    return {"type": type_, "tool_use_id": block["tool_call_id"], "content": block.get("output"), **rest}


def _function_call(block: JsonObject) -> list[JsonObject] | None:
    arguments, rest = block.get("arguments"), _beyond(block, "arguments", "call_id", "id", "status", "name")
    try:
        args = loads(arguments) if isinstance(arguments, str) else None
    except DecodeError:
        args = None
    if not is_object(args) or {"args", "extras"} & set(rest):
        return None
    extras = {name: block[key] for name, key in (("item_id", "id"), ("status", "status")) if key in block}
    spelt = {} if dumps(args).decode() == arguments else {"arguments": arguments}
    about: JsonObject = {"id": block.get("call_id"), "name": block.get("name"), "args": args}
    return [{"type": "tool_call", **about, **({"extras": extras} if extras else {}), **spelt, **rest}]


def _un_function_call(block: JsonObject) -> JsonObject:
    extras, arguments = block.get("extras"), block.get("arguments")
    known = extras if is_object(extras) else {}
    if not isinstance(arguments, str) or loads(arguments) != block.get("args"):
        arguments = dumps(block.get("args")).decode()
    return {
        "type": "function_call",
        "call_id": block.get("id"),
        "name": block.get("name"),
        "arguments": arguments,
        **present(id=known.get("item_id"), status=known.get("status")),
        **_beyond(block, "id", "name", "args", "arguments", "extras"),
    }


_TO: Final[Mapping[str, Callable[[JsonObject], list[JsonObject] | None]]] = {
    "thinking": _thinking,
    "redacted_thinking": _redacted,
    "summary": _summary,
    "image_url": _image_url,
    "source": from_source,
    "source_type": from_source_type,
    "file": _file,
    "input_audio": _input_audio,
    "media": _media,
    "tool_use": _tool_use,
    "server_tool_use": _server_tool_use,
    "tool_result": _tool_result,
    "function_call": _function_call,
}
_BACK: Final[Mapping[str, Callable[[JsonObject], Any]]] = {
    "thinking": _unthinking,
    "redacted_thinking": _unredacted,
    "summary": _unsummary,
    "image_url": _un_image_url,
    "source": to_source,
    "source_type": to_source_type,
    "file": _unfile,
    "input_audio": _un_input_audio,
    "media": _unmedia,
    "tool_use": _uncalled("tool_use"),
    "server_tool_use": _uncalled("server_tool_use"),
    "tool_result": _un_tool_result,
    "function_call": _un_function_call,
}
