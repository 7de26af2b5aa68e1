"""UI messages of AI SDK 4 → canonical messages.

Lost: `revisionId`, and what says nothing: `null` for "absent", an empty `contentType`, empty `details`.

Version 4 says many things twice. The parts have the word, and where there are none they are made of
`toolInvocations`, `reasoning` and `content`, in this order, as version 4 makes them. A mirror that says
what the parts say is read once; another is kept aside. `content` is always kept.

- `annotations` go to the metadata, under that name; attachments become files behind the other parts.
- A message of role `data` becomes an assistant message that ends with a `data` part.
- Each detail of a reasoning becomes a reasoning part, its signature or redacted data under `anthropic` in
  the provider metadata: version 4 does not name the provider, and no other had them.
- Where no `step-start` is stored, one is put where version 4 would begin a new model call.

A part that fits nowhere is kept whole as a `ForeignPart`; members without a name here go to `extra`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from partita.errors import ConversionError
from partita.formats.format import Loaded
from partita.formats.losses import Loss
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of, same
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    Message,
    SystemContent,
    SystemMessage,
    ToolCallPart,
    UserContent,
    UserMessage,
)
from partita.types.parts import (
    DataPart,
    FilePart,
    ForeignPart,
    ReasoningPart,
    SourceUrlPart,
    StepStartPart,
    TextPart,
    UnknownPart,
)
from partita.types.reading import closed_tags
from partita.types.tools import JsonOutput, TextOutput, ToolOutput, ToolState
from partita.types.value import Extra, kept, unkept

from . import v4_shape
from .v4_shape import (
    ATTACHMENT,
    BESIDE,
    DATA,
    FORMAT,
    MIRRORS,
    PROVIDER,
    REDACTED,
    SIGNATURE,
    WHOLE,
    belongs_in_parts,
    mirrors,
    read_time,
    type_of,
    written_time,
)

STATES: Mapping[str, ToolState] = {name: state for state, name in v4_shape.STATES.items()}

ROLES: Mapping[str, tuple[type[Message], type[Any], frozenset[str]]] = {
    "system": (SystemMessage, SystemContent, frozenset({"text"})),
    "user": (UserMessage, UserContent, frozenset({"text", "file"})),
    **dict.fromkeys(
        ("assistant", DATA),
        (
            AssistantMessage,
            AssistantContent,
            frozenset({"text", "reasoning", "tool-invocation", "source", "file", "step-start"}),
        ),
    ),
}
"""By role: the message, its content, and the types of part that have a canonical form there."""

NULL_IS_ABSENT = frozenset(
    {
        *("id", "content", "createdAt", "reasoning", "toolInvocations", "annotations"),
        *("experimental_attachments", "parts"),
    }
)
SOURCE_OPTIONS = frozenset({"title", "providerMetadata"})
KINDS: tuple[tuple[str, type, str], ...] = (
    ("id", str, "make it a string"),
    ("content", str, "messages whose content is a list are model messages, another format"),
    ("parts", list, "make it a list, or leave it out"),
)
"""What members must be, and what to do if they are not."""

BARE_REASONING = frozenset({"type", "reasoning", "details"})
BARE_CALL = frozenset({"state", "step", "toolCallId", "toolName", "args", "result"})
NULL = "an absent member means the same and is written instead"

EXTENSIONS: Mapping[str, str] = {
    **{name: f"image/{name}" for name in ("png", "jpeg", "gif", "webp", "avif", "bmp", "heic")},
    **{name: f"text/{name}" for name in ("csv", "html", "css", "xml")},
    **{name: f"application/{name}" for name in ("pdf", "json", "zip")},
    "jpg": "image/jpeg",
    "svg": "image/svg+xml",
    "txt": "text/plain",
    "md": "text/markdown",
    "mp3": "audio/mpeg",
    "wav": "audio/wav",
    "mp4": "video/mp4",
    "webm": "video/webm",
}
"""Media types by extension: those that chats see. The system's own table differs from machine to machine."""

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


def load(payload: Json) -> Loaded:
    """UI messages of version 4, one or a list of them, as canonical messages."""
    losses: list[Loss] = []
    if is_array(payload):
        messages = [load_message(raw, f"$[{i}]", losses, i) for i, raw in enumerate(payload)]
    else:
        messages = [load_message(payload, "$", losses)]
    return Loaded(tuple(messages), tuple(losses))


def load_message(raw: Json, path: str, losses: list[Loss], index: int = 0) -> Message:
    """One UI message as a canonical one; without an id it gets the one of its place."""
    told = _told(raw, path, losses)
    role: str = told["role"]
    message_type, content_type, _ = ROLES[role]
    parts = raw_parts(told, role)
    aside = {key: value for key, value in told.items() if key not in ("id", "content", "parts")}
    content: JsonObject = {
        "parts": (*_load_parts(parts, role, path, losses), *_load_behind(aside, role, path, losses)),
        "content": told.get("content"),
    }
    if is_array(aside.get("annotations")):
        content["metadata"] = {"annotations": aside.pop("annotations")}
    created_at = read_time(aside.get("createdAt"))
    if created_at is not None and written_time(created_at) == aside["createdAt"]:
        del aside["createdAt"]
    if not MIRRORS.isdisjoint(aside):
        for name, mirror in mirrors(parts).items():
            if name in aside and same(aside[name], mirror):
                del aside[name]
    if role != DATA:
        del aside["role"]
    return message_type(
        id=told.get("id", f"message-{index + 1}"),
        content=content_type(**content),
        created_at=created_at,
        extra=kept(aside, message_type),
    )


def _told(raw: Json, path: str, losses: list[Loss]) -> JsonObject:
    """What a message says: checked, without `null` for "absent" and without what helped to draw it."""
    if not is_object(raw):
        raise ConversionError(
            f"a UI message is an object, found {kind_of(raw)}", where=path, hint="give {id, role, content}"
        )
    role = raw.get("role")
    if not isinstance(role, str) or role not in ROLES:
        raise ConversionError(
            f"unknown role {role!r}", where=f"{path}.role", hint="use system, user, assistant or data"
        )
    told = _without_nulls(raw, NULL_IS_ABSENT, path, losses)
    if "revisionId" in told:
        losses.append(Loss.of(f"{path}.revisionId", told.pop("revisionId"), "it only helps to draw"))
    for name, type_, hint in KINDS:
        if name in told and not isinstance(told[name], type_):
            raise ConversionError(f"{name} is {kind_of(told[name])}", where=f"{path}.{name}", hint=hint)
    return told


def raw_parts(told: JsonObject, role: str) -> list[Json]:
    """The parts of a message, made of its other members if it has none."""
    if "parts" in told:
        return list(told["parts"])
    parts: list[Json] = []
    calls, reasoning, text = told.get("toolInvocations"), told.get("reasoning"), told.get("content")
    acts = role in ("assistant", DATA)
    if acts and is_array(calls):
        parts += [{"type": "tool-invocation", "toolInvocation": call} for call in calls]
    if acts and isinstance(reasoning, str) and reasoning:
        details = [{"type": "text", "text": reasoning}]
        parts.append({"type": "reasoning", "reasoning": reasoning, "details": details})
    if text:
        parts.append({"type": "text", "text": text})
    return parts


def _without_nulls(raw: JsonObject, members: frozenset[str], path: str, losses: list[Loss]) -> JsonObject:
    if None not in raw.values():
        return dict(raw)
    gone = [key for key, value in raw.items() if value is None and key in members]
    losses.extend(Loss(f"{path}.{key}", "null", NULL) for key in gone)
    return {key: value for key, value in raw.items() if key not in gone}


# Parts


def _load_parts(parts: Sequence[Json], role: str, path: str, losses: list[Loss]) -> Iterator[Any]:
    """The canonical parts, with the boundaries of steps."""
    known = ROLES[role][2]
    marked = "step-start" not in known or "step-start" in map(type_of, parts)
    unmarked = set[int]() if marked else set(_unmarked_steps(parts))
    step = 0
    before: Any = None
    for place, raw in enumerate(parts):
        if place in unmarked:
            before = StepStartPart()
            yield before
        type_ = type_of(raw)
        step += place in unmarked or (place > 0 and type_ == "step-start")
        follows = isinstance(before, ReasoningPart)
        if type_ not in known:
            before = _keep(raw)
            yield before
            continue
        bare = _load_bare(raw, step=step, follows=follows)
        if bare is not None:
            before = bare
            yield bare
            continue
        loaded = _load_part(raw, role, f"{path}.parts[{place}]", losses, step=step, follows=follows)
        for before in loaded or (_keep(raw),):
            yield before


def _keep(raw: Json) -> ForeignPart | UnknownPart:
    """A part that fits nowhere, whole: as unknown if its type means nothing to anyone here."""
    types = set[str]().union(*(known for *_, known in ROLES.values()), closed_tags(UnknownPart))
    if is_object(raw) and isinstance(raw.get("type"), str) and raw["type"] not in types:
        return UnknownPart(Extra(raw))
    return ForeignPart(FORMAT, raw)


def _unmarked_steps(parts: Sequence[Json]) -> Iterator[int]:
    """Where version 4 would begin a new model call: at words after a call, and at a call of another step."""
    step = 0
    called = False  # in this step
    for place, part in enumerate(parts):
        type_ = type_of(part)
        if type_ in ("text", "reasoning") and called:
            yield place
            step, called = step + 1, False
        elif type_ == "tool-invocation":
            call: Json = part.get("toolInvocation")
            number = call.get("step") if is_object(call) else None
            if type(number) is int and number != step:
                step = number
                if place > 0:
                    yield place
            called = True


def _load_bare(raw: JsonObject, *, step: int, follows: bool) -> Any:
    """A part that says no more than its words, or a call and its result; `None` when it is anything else."""
    match raw["type"]:
        case "text" if len(raw) == 2 and isinstance(raw.get("text"), str):
            return TextPart(raw["text"])
        case "step-start" if len(raw) == 1:
            return StepStartPart()
        case "reasoning" if raw.keys() == BARE_REASONING and not follows:
            text = raw["reasoning"]
            is_whole = isinstance(text, str) and raw["details"] == [{"type": "text", "text": text}]
            return ReasoningPart(text) if is_whole else None
        case "tool-invocation" if len(raw) == 2 and is_object(raw.get("toolInvocation")):
            return _load_bare_call(raw["toolInvocation"], step)
        case _:
            return None


def _load_bare_call(call: JsonObject, step: int) -> ToolCallPart | None:
    if (
        call.keys() != BARE_CALL
        or call["state"] != "result"
        or type(call["step"]) is not int
        or call["step"] != step
    ):
        return None
    id_, name = call["toolCallId"], call["toolName"]
    if not (isinstance(id_, str) and isinstance(name, str)):
        return None
    return ToolCallPart(id_, name, "output-available", call["args"], output=_output(call["result"]))


def _load_part(
    raw: JsonObject, role: str, path: str, losses: list[Loss], *, step: int, follows: bool
) -> Sequence[Any]:
    """The part, or the parts of a reasoning; none when it is not what its type says."""
    match raw:
        case {"type": "text", "text": str(text), **rest}:
            return (TextPart(text, extra=kept(rest, TextPart)),)
        case {"type": "step-start", **rest}:
            return (StepStartPart(extra=kept(rest, StepStartPart)),)
        case {"type": "file", "mimeType": str(media_type), "data": str(data), **rest}:
            url = file_url(data, media_type)
            mark = {} if belongs_in_parts(role, url, media_type) else {FORMAT: "parts"}
            return (FilePart(url, media_type, extra=kept(rest | mark, FilePart)),)
        case {"type": "reasoning", "reasoning": str(text), **rest}:
            return _load_reasoning(text, rest, path, losses, follows)
        case {"type": "source", "source": source, **rest} if is_object(source):
            return _load_source(source, rest, path, losses)
        case {"type": "tool-invocation", "toolInvocation": call, **rest} if is_object(call):
            return _load_call(call, rest, step)
        case _:
            return ()


def _beside(members: Mapping[str, Json]) -> JsonObject:
    return {BESIDE + key: value for key, value in members.items()}


def _load_call(call: JsonObject, beside: JsonObject, step: int) -> Sequence[ToolCallPart]:
    match call:
        case {"toolCallId": str(id_), "toolName": str(name), **rest}:
            state = rest.pop("state", "result" if "result" in rest else "call")
            if not isinstance(state, str) or state not in STATES:
                return ()
            input_ = rest.pop("args", UNSET)
            output = _output(rest.pop("result")) if "result" in rest else None
            if type(rest.get("step")) is int and rest["step"] == step:
                del rest["step"]
            extra = kept(rest | _beside(beside), ToolCallPart)
            return (ToolCallPart(id_, name, STATES[state], input_, output=output, extra=extra),)
        case _:
            return ()


def _output(result: Json) -> ToolOutput:
    return TextOutput(result) if isinstance(result, str) else JsonOutput(result)


def _load_source(
    raw: JsonObject, beside: JsonObject, path: str, losses: list[Loss]
) -> Sequence[SourceUrlPart]:
    title, metadata = raw.get("title"), raw.get("providerMetadata")
    if not isinstance(title, str | None) or not (metadata is None or is_object(metadata)):
        return ()
    match raw:
        case {"sourceType": "url", "id": str(id_), "url": str(url), **rest}:
            told = _without_nulls(rest, SOURCE_OPTIONS, f"{path}.source", losses)
            aside = {key: value for key, value in told.items() if key not in SOURCE_OPTIONS}
            extra = kept(aside | _beside(beside), SourceUrlPart)
            return (SourceUrlPart(id_, url, title, provider_metadata=metadata, extra=extra),)
        case _:
            return ()


def _load_reasoning(
    text: str, rest: JsonObject, path: str, losses: list[Loss], follows: bool
) -> Sequence[ReasoningPart]:
    details = rest.pop("details", UNSET)
    found: list[Loss] = []
    if details is None or details == []:
        found.append(Loss.of(f"{path}.details", details, "the text is written as the one detail"))
        details = UNSET
    if details is UNSET:
        details = [{"type": "text", "text": text}]
    if not is_array(details):
        return ()
    loaded = [_load_detail(each, f"{path}.details[{i}]", found) for i, each in enumerate(details)]
    parts = [part for part in loaded if part is not None]
    if len(parts) < len(loaded):
        return ()
    losses.extend(found)
    aside = _beside(rest)
    if follows or text != "".join(part.text for part in parts):
        aside[WHOLE] = text
    return (replace(parts[0], extra=kept(unkept(parts[0].extra) | aside, ReasoningPart)), *parts[1:])


def _load_detail(raw: Json, path: str, losses: list[Loss]) -> ReasoningPart | None:
    if not is_object(raw):
        return None
    match _without_nulls(raw, frozenset({SIGNATURE}), path, losses):
        case {"type": "redacted", "data": str(data), **rest}:
            return _opaque("", REDACTED, data, rest)
        case {"type": "text", "text": str(text), "signature": str(signature), **rest}:
            return _opaque(text, SIGNATURE, signature, rest)
        case {"type": "text", "text": str(text), **rest} if SIGNATURE not in rest:
            return ReasoningPart(text, extra=kept(rest, ReasoningPart))
        case _:
            return None


def _opaque(text: str, name: str, value: str, rest: JsonObject) -> ReasoningPart:
    metadata = {PROVIDER: {name: value}}
    return ReasoningPart(text, provider_metadata=metadata, extra=kept(rest, ReasoningPart))


# Files


def file_url(data: str, media_type: str) -> str:
    """The address of a file: version 4 keeps bare base64, and lets an address pass."""
    return data if _SCHEME.match(data) else f"data:{media_type};base64,{data}"


def guessed_type(url: str, name: str | None) -> str:
    """The media type that an address or a name speaks of."""
    scheme, _, rest = url.partition(":")
    if scheme.lower() == "data":
        said = re.split("[;,]", rest, maxsplit=1)[0]
        names = [name or ""]
    else:
        said = ""
        names = [re.split("[?#]", url, maxsplit=1)[0], name or ""]
    guesses = (EXTENSIONS.get(each.rpartition(".")[2].lower()) for each in names)
    return said or next(filter(None, guesses), "application/octet-stream")


def _load_behind(aside: JsonObject, role: str, path: str, losses: list[Loss]) -> Iterator[Any]:
    """Parts made of members, which are taken out of `aside`: attachments, and the data of a data message."""
    attachments = aside.get("experimental_attachments")
    if role != "system" and is_array(attachments) and attachments:
        del aside["experimental_attachments"]
        for place, raw in enumerate(attachments):
            yield _load_attachment(raw, role, f"{path}.experimental_attachments[{place}]", losses)
    if role == DATA and DATA in aside:
        yield DataPart(DATA, aside.pop(DATA))


def _load_attachment(raw: Json, role: str, path: str, losses: list[Loss]) -> FilePart | ForeignPart:
    if not is_object(raw):
        return ForeignPart(ATTACHMENT, raw)
    url, name, said = raw.get("url"), raw.get("name"), raw.get("contentType")
    if not (isinstance(url, str) and isinstance(name, str | None) and isinstance(said, str | None)):
        return ForeignPart(ATTACHMENT, raw)
    media_type = said or guessed_type(url, name)
    if said == "":
        losses.append(Loss(f"{path}.contentType", '""', "browsers say so when they do not know: guessed"))
    told = _without_nulls(raw, frozenset({"name", "contentType"}), path, losses)
    aside = {key: value for key, value in told.items() if key not in ("url", "name", "contentType")}
    if belongs_in_parts(role, url, media_type):
        aside[FORMAT] = "attachments"
    return FilePart(url, media_type, name, extra=kept(aside, FilePart))
