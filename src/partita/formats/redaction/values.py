"""Removes secrets from values: from every text of a message, a thread, a run or a chunk, at any depth.

Only fields with a fixed set of values (the type of a part, the state of a call) are not searched. Everything
else may contain a secret: names of members, ids, metadata, unknown fields. In the chunks of a run a secret
may come in pieces, so the deltas of a text are searched as one text.
"""

import re
import types
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from itertools import groupby
from typing import (
    Any,
    Final,
    Generic,
    Literal,
    NamedTuple,
    TypeAlias,
    TypeGuard,
    TypeVar,
    Union,
    get_args,
    get_origin,
)

import msgspec
from msgspec.structs import replace

from partita.errors import DecodeError
from partita.types.chunks import (
    DATA_PREFIX,
    ChildChunk,
    Chunk,
    DataChunk,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolInputDelta,
)
from partita.types.json import TOO_DEEP, TOO_DEEP_HINT, Json, JsonObject, is_array, is_object
from partita.types.parts import ReasoningPart, TextPart
from partita.types.value import Extra, Value

from .redactor import Finding, Redactor, Rules

T = TypeVar("T")

SHORTEST_DATA: Final = 32
BASE64: Final = re.compile(r"[A-Za-z0-9+/_-]*+={0,2}")
ENCODED: Final = frozenset({"data", "b64_json", "base64", "bytes", "image"})
MEDIA_TYPES: Final = ("mediaType", "media_type", "mimeType", "mime_type")
SIGNATURES: Final = frozenset(
    {"signature", "thoughtSignature", "thought_signature", "encrypted_content", "encryptedContent"}
)
KEY_MEMBERS: Final = frozenset({"d", "p", "q", "dp", "dq", "qi", "k"})
"""The secret members of a JSON web key, which has a `kty`."""

CLOSED: Final = (int, float, bool, type(None), datetime)
"""Types of fields that can contain neither a mark nor text."""


def redacted(value: T, redactor: Redactor, path: str = "$") -> T:
    """Return a value without secrets; the same object if it has none."""
    try:
        result: T = _walk(value, redactor, path)
    except RecursionError:
        raise DecodeError(TOO_DEEP, hint=TOO_DEEP_HINT) from None
    return result


class Redacted(NamedTuple, Generic[T]):
    """A value without secrets, and the secrets that were found."""

    value: T
    findings: list[Finding]


def redact(value: T, rules: Rules | None = None) -> Redacted[T]:
    """Remove the secrets from a canonical value, JSON or a text, in both passes.

    Its arguments and its result can be pickled, so it can be called in another process.
    """
    redactor = Redactor(rules or Rules())
    redacted(value, redactor)
    redactor.start_replacing()
    return Redacted(redacted(value, redactor), redactor.findings)


def _is_tuple(value: object) -> TypeGuard[tuple[Any, ...]]:
    return isinstance(value, tuple)


def _walk(value: Any, redactor: Redactor, path: str) -> Any:
    if _is_tuple(value):
        return _items(value, redactor, path)
    if is_array(value) and any(isinstance(item, Value) for item in value):  # other lists are JSON
        return list(_items(value, redactor, path))
    match value:
        case str():
            return redactor.text(value, path)
        case Value():
            return _value(value, redactor, path)
        case Extra():
            return _extra(value, redactor, path)
        case dict() | list():
            return redacted_json(value, redactor, path)
        case int() | float() if redactor.has_custom and not isinstance(value, bool):
            return _number(value, redactor, path)
        case _:
            return value


def _value(value: Value, redactor: Redactor, path: str) -> Value:
    changed: dict[str, Any] = {}
    for name, wire_name in _open_fields(type(value)):
        was = getattr(value, name)
        if was is None:
            continue
        now = _walk(was, redactor, path if name == "extra" else f"{path}.{wire_name}")
        if now is not was and now != was:
            changed[name] = now
    if isinstance(value, DataChunk) and not changed.get("type", DATA_PREFIX).startswith(DATA_PREFIX):
        changed["type"] = f"{DATA_PREFIX}{changed['type']}"  # its type is a name after that
    return replace(value, **changed) if changed else value


def _items(items: Sequence[Any], redactor: Redactor, path: str) -> Sequence[Any]:
    texts = _adjacent_texts(items, redactor, path)
    now = tuple(
        _with_text(item, texts[index], redactor, f"{path}[{index}]")
        if index in texts
        else _walk(item, redactor, f"{path}[{index}]")
        for index, item in enumerate(items)
    )
    return items if all(a is b for a, b in zip(now, items, strict=True)) else now


def _adjacent_texts(items: Sequence[Any], redactor: Redactor, path: str) -> dict[int, str]:
    """Texts of parts that follow each other, by index: a secret may begin in one and end in the next."""
    texts: dict[int, str] = {}
    for _, group in groupby(enumerate(items), lambda numbered: _text_type(numbered[1])):
        run = list(group)
        if len(run) > 1 and _text_type(run[0][1]) is not None:
            indices = [index for index, _ in run]
            parts: list[str] = [item["text"] if is_object(item) else item.text for _, item in run]
            plain = redactor.joined(parts, f"{path}[{indices[0]}].text", range(len(parts)))
            texts.update(zip(indices, plain, strict=True))
    return texts


def _text_type(item: object) -> str | None:
    """The type of a part if it is a text."""
    if isinstance(item, TextPart | ReasoningPart):
        return item.type
    if is_object(item) and isinstance(item.get("text"), str):
        type_ = item.get("type")
        return type_ if isinstance(type_, str) else ""
    return None


def _with_text(item: Any, text: str, redactor: Redactor, path: str) -> Any:
    """A part without secrets whose text is known."""
    if is_object(item):
        rest = _members({name: value for name, value in item.items() if name != "text"}, redactor, path)
        return {name: text if name == "text" else rest.pop(next(iter(rest))) for name in item}
    rest = _walk(replace(item, text=""), redactor, path)
    return item if text == item.text and rest == replace(item, text="") else replace(rest, text=text)


def _extra(extra: Extra, redactor: Redactor, path: str) -> Extra:
    was: JsonObject = dict(extra)
    now = _members(was, redactor, path)
    return extra if now == was else Extra(now)


def redacted_json(value: Json, redactor: Redactor, path: str) -> Json:
    """Plain JSON without secrets, in names of members too."""
    if isinstance(value, str):
        return redactor.text(value, path)
    if is_object(value):
        return _members(value, redactor, path)
    if is_array(value):
        return _elements(value, redactor, path)
    if redactor.has_custom and isinstance(value, int | float) and not isinstance(value, bool):
        return _number(value, redactor, path)
    return value


def _elements(items: Sequence[Json], redactor: Redactor, path: str, name: str = "") -> list[Json]:
    """The elements of an array. Its name, or an option such as `--token` before it, may announce a secret."""
    texts = _adjacent_texts(items, redactor, path)
    now: list[Json] = []
    for index, item in enumerate(items):
        inside = f"{path}[{index}]"
        if index in texts:
            now.append(_with_text(item, texts[index], redactor, inside))
        elif isinstance(item, str):
            option = items[index - 1] if index else ""
            is_option = isinstance(option, str) and option.startswith("--") and "=" not in option
            now.append(redactor.member(option if is_option else name, item, inside))
        else:
            now.append(redacted_json(item, redactor, inside))
    return now


def _members(members: Mapping[str, Json], redactor: Redactor, path: str) -> JsonObject:
    now: JsonObject = {}
    named = members.get("name", members.get("key"))
    for name, value in members.items():
        new_name = redactor.text(name, path)
        while new_name in now:
            new_name += "′"
        now[new_name] = _member(
            named if name == "value" and isinstance(named, str) else name,
            value,
            members,
            redactor,
            f"{path}.{name}",
        )
    return now


def _member(name: str, value: Json, members: Mapping[str, Json], redactor: Redactor, path: str) -> Json:
    if isinstance(value, str):
        if _is_opaque(name, value, members):
            return value
        if name in KEY_MEMBERS and "kty" in members:
            name = "private_key"
        return redactor.member(name, value, path)
    if is_array(value):
        return _elements(value, redactor, path, name)
    return redacted_json(value, redactor, path)


def _is_opaque(name: str, value: str, members: Mapping[str, Json]) -> bool:
    """Whether a text is encoded data that must stay as it is: a picture, a signature of a model."""
    if len(value) < SHORTEST_DATA or BASE64.fullmatch(value) is None:
        return False
    if name in SIGNATURES:
        return True
    media_type = next((members[one] for one in MEDIA_TYPES if one in members), None)
    return name in ENCODED and (isinstance(media_type, str) or "format" in members or name == "b64_json")


def _number(value: float, redactor: Redactor, path: str) -> Json:
    """A number, or a mark if its digits are a custom text that is to be replaced."""
    text = msgspec.json.encode(value).decode()
    plain = redactor.text(text, path)
    return value if plain == text else plain


@cache
def _open_fields(type_: type[Value]) -> tuple[tuple[str, str], ...]:
    """Return the fields that may contain anything."""
    return tuple(
        (one.name, one.encode_name) for one in msgspec.structs.fields(type_) if not _is_closed(one.type)
    )


def _is_closed(type_: Any) -> bool:
    """Whether a field only accepts certain strings, or only numbers."""
    if get_origin(type_) in (Union, types.UnionType):
        return all(_is_closed(one) for one in get_args(type_))
    return get_origin(type_) is Literal or type_ in CLOSED


# Chunks

Block: TypeAlias = tuple[str, ...]
"""The key that the deltas of one text have in common."""

ENDS: Final = (TextEnd, ReasoningEnd)
BETWEEN: Final = (*ENDS, TextStart, ReasoningStart)
"""Chunks that may be between two texts that follow each other immediately."""


class RedactedChunks(NamedTuple):
    """Chunks without secrets, and the indices of those whose text contained a secret or a part of one."""

    chunks: list[Chunk]
    torn: frozenset[int]


def redacted_chunks(chunks: Sequence[Chunk], redactor: Redactor, path: str) -> RedactedChunks:
    """The same chunks without secrets."""
    now = [redacted(_with_delta(chunk, ""), redactor, f"{path}[{at}]") for at, chunk in enumerate(chunks)]
    torn: set[int] = set()
    for places, seams in _texts(chunks):
        texts = [_delta(chunks[place]) for place in places]
        plain = redactor.joined(texts, f"{path}[{places[0]}]", seams)
        for place, was, text in zip(places, texts, plain, strict=True):
            now[place] = _with_delta(now[place], text)
            if was != text:
                torn.add(place)
    return RedactedChunks(now, frozenset(torn))


class _Text(NamedTuple):
    """Deltas of one text, and which of them begin another part that follows immediately."""

    places: list[int]
    seams: list[int]


def _texts(chunks: Sequence[Chunk]) -> list[_Text]:
    """The texts that come in deltas. A secret may begin in one part and end in the next of the same type."""
    texts: list[_Text] = []
    by_block: dict[Block, _Text] = {}
    last: Block | None = None
    has_ended = False
    for index, chunk in enumerate(chunks):
        block = _block(chunk)
        if block is None:
            has_ended = has_ended or isinstance(chunk, ENDS)
            last = last if isinstance(chunk, BETWEEN) else None
            continue
        text = by_block.get(block)
        if text is None:
            if has_ended and last is not None and last[:-1] == block[:-1]:
                text = by_block[last]
                text.seams.extend([len(text.places)] if text.seams else [0, len(text.places)])
            else:
                text = _Text([], [])
                texts.append(text)
            by_block[block] = text
        text.places.append(index)
        last, has_ended = block, False
    return texts


def _block(chunk: Chunk) -> Block | None:
    match chunk:
        case TextDelta(id=id_):
            return ("text", id_)
        case ReasoningDelta(id=id_):
            return ("reasoning", id_)
        case ToolInputDelta(tool_call_id=id_):
            return ("input", id_)
        case ChildChunk(path=path, chunk=inner):
            block = _block(inner)
            return None if block is None else (*path, *block)
        case _:
            return None


def _delta(chunk: Chunk) -> str:
    match chunk:
        case TextDelta(delta=text) | ReasoningDelta(delta=text) | ToolInputDelta(input_text_delta=text):
            return text
        case ChildChunk(chunk=inner):
            return _delta(inner)
        case _:
            return ""


def _with_delta(chunk: Chunk, text: str) -> Chunk:
    match chunk:
        case TextDelta() | ReasoningDelta():
            return replace(chunk, delta=text)
        case ToolInputDelta():
            return replace(chunk, input_text_delta=text)
        case ChildChunk(chunk=inner):
            return replace(chunk, chunk=_with_delta(inner, text))
        case _:
            return chunk
