"""Core messages of AI SDK 4 ↔ canonical messages, by way of the shapes of version 5.

Lost on load: the old name `experimental_providerMetadata`, an `isError` that is false, and what stands
beside its own new form. Lost on dump: what version 5 loses, who ran a tool, where its result stood, and the
difference between an error or a result that is text and one that is JSON and happens to be a string.
"""

from collections.abc import Callable, Mapping, Sequence

from partita.formats.format import Dumped, Loaded
from partita.formats.losses import Loss
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import Message

from .dump import write_messages
from .load import read_messages
from .losses import lost
from .marks import conversion, options_of, with_options
from .parts import Pieces

OLD_OPTIONS = "experimental_providerMetadata"
WHY = "it is written as version 4 would write it today"
ANY_IMAGE = "image/*"
"""The media type of an image that comes without one."""

KINDS: Mapping[bool, tuple[str, str]] = {False: ("text", "json"), True: ("error-text", "error-json")}
"""The types of outputs, by whether they are errors: for strings, and for other JSON."""


def load(payload: Json) -> Loaded:
    """Core messages, one or a list of them, as canonical messages."""
    losses: list[Loss] = []
    with conversion():
        if is_array(payload):
            newer = [_load_message(raw, f"$[{index}]", losses) for index, raw in enumerate(payload)]
        else:
            newer = _load_message(payload, "$", losses)
    loaded = read_messages(newer, 4)
    return Loaded(loaded.messages, (*losses, *loaded.losses))


def dump(messages: Sequence[Message]) -> Dumped:
    """Messages as the list that `generateText` of version 4 takes."""
    return write_messages(messages, 4, _down, _up)


def _load_message(raw: Json, path: str, losses: list[Loss]) -> Json:
    if not is_object(raw):
        return raw
    newer = _with_new_options(raw)
    if newer is not raw:
        losses.extend(lost(raw, newer, path, WHY))
    content = raw.get("content")
    if not is_array(content):
        return newer
    pieces: list[Json] = []
    for index, piece in enumerate(content):
        pieces.append(_newer(piece))
        again = _older(pieces[-1])
        if again is not piece and again != piece:
            losses.extend(lost(piece, again, f"{path}.content[{index}]", WHY))
    return {**newer, "content": pieces}


def _down(pieces: Pieces) -> Pieces:
    """Pieces of version 5 as those of version 4, which has no results in assistant messages."""
    said, answered = pieces.said or [], pieces.answered or []
    if not answered and len(said) == 1 and is_object(said[0]) and said[0].get("type") == "text":
        return Pieces(said)  # which is the same in both
    own = [piece for piece in said if is_object(piece) and piece.get("type") == "tool-result"]
    older = [_older(piece) for piece in said if piece not in own]
    return Pieces(older or None, [_older(piece) for piece in (*own, *answered)] or None)


def _up(pieces: Pieces) -> Pieces:
    """Pieces of version 4 as those of version 5."""
    return Pieces(
        None if pieces.said is None else [_newer(piece) for piece in pieces.said],
        None if pieces.answered is None else [_newer(piece) for piece in pieces.answered],
    )


def _newer(piece: Json) -> Json:
    """A part of version 4 in the shape of version 5."""
    if not is_object(piece):
        return piece
    type_ = piece.get("type")
    newer = _with_new_options(piece)
    return _NEWER[type_](newer) if isinstance(type_, str) and type_ in _NEWER else newer


def _older(piece: Json) -> Json:
    """A part of version 5 in the shape of version 4."""
    type_ = piece.get("type") if is_object(piece) else None
    return _OLDER[type_](piece) if isinstance(type_, str) and type_ in _OLDER else piece


def _with_new_options(raw: JsonObject) -> JsonObject:
    if OLD_OPTIONS not in raw or "providerOptions" in raw:
        return raw
    return {"providerOptions" if key == OLD_OPTIONS else key: item for key, item in raw.items()}


def _renamed(old: str, new: str) -> Callable[[JsonObject], JsonObject]:
    """Gives an object with one member renamed, unless it has one of that name."""

    def rename(raw: JsonObject) -> JsonObject:
        if new in raw:
            return raw
        return {new if key == old else key: item for key, item in raw.items()}

    return rename


# Reasoning: version 4 knows of one provider that signs it, and says nothing of which.


def _newer_reasoning(piece: JsonObject) -> JsonObject:
    return _moved(piece, "signature", "signature") or piece


def _newer_redacted(piece: JsonObject) -> JsonObject:
    moved = None if "text" in piece else _moved(piece, "data", "redactedData")
    return {**moved, "type": "reasoning", "text": ""} if moved else piece


def _moved(piece: JsonObject, member: str, option: str) -> JsonObject | None:
    """The piece with a member put into the provider's options; `None` if there is no room for it."""
    value = piece.get(member)
    options = options_of(piece) or {}
    own = options.get("anthropic", {})
    if not isinstance(value, str) or not is_object(own) or option in own:
        return None
    bare = {key: item for key, item in piece.items() if key != member}
    return with_options(bare, {**options, "anthropic": {**own, option: value}})


def _older_reasoning(piece: JsonObject) -> JsonObject:
    options = options_of(piece) or {}
    own = options.get("anthropic")
    if not is_object(own):
        return piece
    if isinstance(own.get("redactedData"), str) and piece.get("text") == "":
        bare = {key: item for key, item in piece.items() if key != "text"}
        return {**_taken(bare, own, "redactedData", "data"), "type": "redacted-reasoning"}
    return _taken(piece, own, "signature", "signature") if isinstance(own.get("signature"), str) else piece


def _taken(piece: JsonObject, own: JsonObject, option: str, member: str) -> JsonObject:
    """The piece with one of the provider's options made a member."""
    rest = {key: item for key, item in own.items() if key != option}
    options = {**piece["providerOptions"], "anthropic": rest}
    if not rest:
        del options["anthropic"]
    return {**with_options(piece, options or None), member: own[option]}


# Calls: no one but the client ran tools.


def _older_call(piece: JsonObject) -> JsonObject:
    known = {key: item for key, item in piece.items() if key != "providerExecuted"}
    return _renamed("input", "args")(known)


# Results: a bare value, and what the model sees of it beside it.


def _newer_result(piece: JsonObject) -> JsonObject:
    if "output" in piece:
        return piece
    content, value = piece.get("experimental_content"), piece.get("result")
    if is_array(content):
        gone = ("experimental_content", *(["result"] if value == content else []))
        output: JsonObject = {"type": "content", "value": [_newer_item(item) for item in content]}
    else:
        gone = ("result", "isError")
        kind = KINDS[piece.get("isError") is True][0 if isinstance(value, str) else 1]
        output = {"type": kind, "value": value}
    return {**{key: item for key, item in piece.items() if key not in gone}, "output": output}


def _older_result(piece: JsonObject) -> JsonObject:
    output = piece.get("output")
    if not is_object(output):
        return piece
    type_, value = output.get("type"), output.get("value")
    bare = {key: item for key, item in piece.items() if key not in ("output", "result")}
    if type_ == "content" and is_array(value):
        content = [_older_item(item) for item in value]
        return {**bare, "result": piece.get("result", content), "experimental_content": content}
    for is_error, kinds in KINDS.items():
        if type_ in kinds:
            return {**bare, "result": value, **({"isError": True} if is_error else {})}
    return piece


def _newer_item(item: Json) -> Json:
    if not is_object(item) or item.get("type") != "image" or "mediaType" in item:
        return item
    return {"mediaType": ANY_IMAGE, **_renamed("mimeType", "mediaType")(item), "type": "media"}


def _older_item(item: Json) -> Json:
    if not is_object(item) or item.get("type") != "media" or "mimeType" in item:
        return item
    known = {key: value for key, value in item.items() if value != ANY_IMAGE}
    return {**_renamed("mediaType", "mimeType")(known), "type": "image"}


_NEWER: Mapping[str, Callable[[JsonObject], JsonObject]] = {
    "image": _renamed("mimeType", "mediaType"),
    "file": _renamed("mimeType", "mediaType"),
    "reasoning": _newer_reasoning,
    "redacted-reasoning": _newer_redacted,
    "tool-call": _renamed("args", "input"),
    "tool-result": _newer_result,
}
_OLDER: Mapping[str, Callable[[JsonObject], JsonObject]] = {
    "image": _renamed("mediaType", "mimeType"),
    "file": _renamed("mediaType", "mimeType"),
    "reasoning": _older_reasoning,
    "tool-call": _older_call,
    "tool-result": _older_result,
}
