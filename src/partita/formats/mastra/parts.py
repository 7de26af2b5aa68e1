"""Parts of V2 → canonical parts. Parts that are as in AI SDK 5 and later are read by its own reader.

A part that fits nowhere is kept whole as a `ForeignPart`; members without a name here go to `extra`.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from msgspec.structs import replace

from partita.errors import DecodeError
from partita.formats.ai_sdk.ui.load import load_bare
from partita.formats.ai_sdk.ui.load import load_part as load_ui_part
from partita.formats.ai_sdk.ui.tools import FORMAT as UI
from partita.formats.ai_sdk.ui.v4_load import file_url, guessed_type
from partita.formats.ai_sdk.ui.v4_shape import BESIDE
from partita.formats.losses import Loss
from partita.types.codec import Codec
from partita.types.json import Json, JsonObject, is_object, same
from partita.types.messages import AssistantPart, SystemPart, ToolCallPart, UserPart
from partita.types.older_forms import file_reference
from partita.types.parts import FilePart, ForeignPart, SourceUrlPart, UnknownPart

from .calls import read_invocation
from .notes import FORMAT, extra_of
from .reasoning import read_reasoning

Reader: TypeAlias = Callable[[JsonObject], Sequence[Any]]
"""Gives the parts that a part becomes; none when it is not as Mastra alone writes it."""

FLAT: Mapping[str, str] = {"tool-invocation": "toolInvocation", "source": "source", "data": "name"}
"""Types that the AI SDK of today does not have, and the member that flat parts of that type lack."""

MEDIA_NAMES = ("mimeType", "mediaType")
ADDRESS_NAMES = ("data", "url")

OWN = frozenset({FORMAT, UI})
"""Formats whose foreign parts are written as what they were."""

_FOREIGN: Codec[ForeignPart] = Codec(ForeignPart)
_FLAT_PARTS: Mapping[str, Codec[Any]] = {
    "system": Codec(SystemPart),
    "user": Codec(UserPart),
    "assistant": Codec(AssistantPart),
}
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


def load_part(raw: Json, role: str, path: str, losses: list[Loss]) -> Sequence[Any]:
    """The parts that one part becomes: one, but for reasoning in several pieces."""
    type_ = raw.get("type") if is_object(raw) else None
    reader = _READERS[role].get(type_) if isinstance(type_, str) else None
    loaded = reader(raw) if reader else ()
    if loaded:
        return loaded
    if isinstance(type_, str) and type_ in FLAT:
        return (_read_flat(raw, role, FLAT[type_]) or ForeignPart(FORMAT, raw),)
    if type_ == "foreign" and (foreign := _read_foreign(raw)) is not None:
        return (foreign,)
    part = load_bare(raw, role) or load_ui_part(raw, role, path, losses)
    return (replace(part, format=FORMAT) if isinstance(part, ForeignPart) else part,)


def _read_foreign(raw: JsonObject) -> ForeignPart | None:
    """A part that fits nowhere, as we write it; `None` if it is one of Mastra's own."""
    try:
        part = _FOREIGN.read(raw)
    except DecodeError:
        return None
    return None if part.format in OWN else part


def _read_flat(raw: JsonObject, role: str, nested: str) -> Any:
    """A part that has its members in itself, as canonical messages once had; `None` if it is not one."""
    if nested in raw or role not in _FLAT_PARTS:
        return None
    try:
        part = _FLAT_PARTS[role].read(raw)
    except DecodeError:
        return None
    return None if isinstance(part, UnknownPart) else part


def taken(rest: JsonObject, key: str, kind: type[Any]) -> Any:
    """A member, taken out of `rest` if it is of that kind; else `None`."""
    return rest.pop(key) if isinstance(rest.get(key), kind) else None


def _read_call(raw: JsonObject) -> Sequence[ToolCallPart]:
    call = read_invocation(raw)
    return () if call is None else (call,)


def _read_file(raw: JsonObject) -> Sequence[FilePart]:
    """A file in the words of version 4, or in a mix of both."""
    media_name = next((name for name in MEDIA_NAMES if isinstance(raw.get(name), str)), None)
    name = next((name for name in ADDRESS_NAMES if isinstance(raw.get(name), str)), None)
    if name is None or (name == "url" and media_name == "mediaType" and _SCHEME.match(raw["url"])):
        return ()
    rest = {key: item for key, item in raw.items() if key not in ("type", name, media_name)}
    filename = taken(rest, "filename", str)
    metadata = taken(rest, "providerMetadata", dict)
    media_type = raw[media_name] if media_name else guessed_type(raw[name], filename)
    note: JsonObject = {}
    if (media_name, name) != (MEDIA_NAMES[0], ADDRESS_NAMES[0]):
        note["names"] = [media_name, name]
    if raw[name].startswith("data:"):
        note["data"] = "url"  # and not bare base64
    url, reference = address(raw[name], media_type)
    extra = extra_of(rest, note, FilePart)
    return (FilePart(url, media_type, filename, reference, provider_metadata=metadata, extra=extra),)


def address(data: str, media_type: str) -> tuple[str, dict[str, str] | None]:
    """The url of a file, or its id if only a provider has it."""
    reference = file_reference(data)
    if reference is not None:
        return "", reference
    return file_url(data, media_type), None


def _read_source(raw: JsonObject) -> Sequence[SourceUrlPart]:
    """A web page. What the part says of the provider it often says twice."""
    source = raw.get("source")
    if not is_object(source):
        return ()
    match source:
        case {"sourceType": "url", "id": str(id_), "url": str(url), **rest}:
            beside = {key: item for key, item in raw.items() if key not in ("type", "source")}
            note: JsonObject = {}
            title = taken(rest, "title", str)
            metadata = taken(rest, "providerMetadata", dict)
            outer = beside.get("providerMetadata")
            if is_object(outer) and (metadata is None or same(metadata, outer)):
                note["providerMetadata"] = "part" if metadata is None else "both"
                metadata = beside.pop("providerMetadata")
            rest |= {BESIDE + key: item for key, item in beside.items()}
            extra = extra_of(rest, note, SourceUrlPart)
            return (SourceUrlPart(id_, url, title, provider_metadata=metadata, extra=extra),)
        case _:
            return ()


_READERS: Mapping[str, Mapping[str, Reader]] = {
    "system": {},
    "user": {"file": _read_file},
    "assistant": {
        "file": _read_file,
        "source": _read_source,
        "reasoning": read_reasoning,
        "tool-invocation": _read_call,
    },
}
