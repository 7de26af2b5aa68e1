"""Mirrors: members of a V2 content that repeat its parts, as UI messages of AI SDK 4 did.

The parts are read. A mirror supplies values that its part lacks, and parts that are missing. A mirror that
repeats the parts exactly is noted and written from the parts, so that an edited part does not remain in it;
any other mirror is kept as it is.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from partita.formats.ai_sdk.ui_v4.format import raw_parts
from partita.formats.core.files import file_url, guess_media_type
from partita.formats.core.metadata import FIELDS, INDEX, notes
from partita.formats.core.wire import residue, restore
from partita.types.json import Json, JsonObject, is_array, is_object, same_json
from partita.types.older_forms import file_reference
from partita.types.parts import FilePart
from partita.types.value import keep_fields

from .notes import members_of, part_notes, with_part_notes
from .parts import DATA_URL, file_address
from .rows import in_order
from .wire import OPEN_STATES

MIRRORS: Final = frozenset({"toolInvocations", "reasoning"})
ATTACHMENTS: Final = "experimental_attachments"

# Notes about files
ATTACHMENT: Final = "attachment"  # the file is an attachment and not a part, at this position
ATTACHED: Final = "attached"  # the file is also an attachment, at this position and with these members


def complete_parts(parts: Sequence[Json], content: JsonObject) -> list[Json]:
    """Return the parts of a content, with missing values from the mirrors."""
    if MIRRORS.isdisjoint(content):
        return list(parts)
    return [_complete(part, parts, content) for part in parts]


def parts_of_mirrors(content: JsonObject, role: str) -> list[Json]:
    """Return the parts of a message without parts, from its calls, reasoning and text, as AI SDK 4 does."""
    text = content.get("content")
    members = {name: item for name, item in content.items() if name in MIRRORS}
    return raw_parts({**members, "content": text if isinstance(text, str) else None}, role)


def take_mirrors(content: JsonObject, parts: Sequence[Json]) -> JsonObject:
    """Remove the mirrors that repeat the parts, and return a note about them."""
    note: JsonObject = {}
    if not MIRRORS.isdisjoint(content):
        for name, forms in _repetitions(parts).items():
            for form, repeated in forms.items():
                if name in content and same_json(in_order(content[name]), in_order(repeated)):
                    del content[name]
                    note[name] = form
    return note


def write_mirrors(parts: Sequence[Json], note: JsonObject) -> JsonObject:
    """Return the mirrors that a note describes."""
    if not note:
        return {}
    return {
        name: forms[form]
        for name, forms in _repetitions(parts).items()
        if isinstance(form := note.get(name), str) and form in forms
    }


def _repetitions(parts: Sequence[Json]) -> Mapping[str, Mapping[str, Json]]:
    """Return the mirrors of these parts by name, in all forms that were seen in recordings."""
    calls = [
        part["toolInvocation"] for part in _of_type(parts, "tool-invocation") if "toolInvocation" in part
    ]
    results = [call for call in calls if is_object(call) and call.get("state") == "result"]
    texts = [str(part.get("reasoning", "")) for part in _of_type(parts, "reasoning")]
    return {
        "toolInvocations": {"results": results, "calls": calls},
        "reasoning": {"lines": "\n".join(texts), "joined": "".join(texts)} if texts else {},
    }


def _of_type(parts: Sequence[Json], type_: str) -> Iterator[JsonObject]:
    return (part for part in parts if is_object(part) and part.get("type") == type_)


def _complete(part: Json, parts: Sequence[Json], content: JsonObject) -> Json:
    match part:
        case {"type": "tool-invocation", "toolInvocation": call} if is_object(call):
            return {**part, "toolInvocation": _complete_call(call, content.get("toolInvocations"))}
        case {"type": "reasoning"}:
            text = content.get("reasoning")
            is_only = len(list(_of_type(parts, "reasoning"))) == 1
            is_missing = is_only and isinstance(text, str) and not _has_reasoning(part)
            return {**part, "reasoning": text} if is_missing else part
        case _:
            return part


def _complete_call(call: JsonObject, mirror: Json) -> JsonObject:
    """Return a call with the arguments and the result that only its mirror has."""
    for other in mirror if is_array(mirror) else []:
        if is_object(other) and other.get("toolCallId") == call.get("toolCallId"):
            whole = dict(call)
            if not call.get("args") and other.get("args"):
                whole["args"] = other["args"]
            if call.get("state") in OPEN_STATES and "result" in other and "result" not in call:
                whole |= {"state": "result", "result": other["result"]}
            return whole
    return call


def _has_reasoning(part: JsonObject) -> bool:
    """Whether reasoning has a text or redacted data."""
    details: Json = part.get("details")
    pieces = details if is_array(details) else []
    has_details = any(is_object(piece) and (piece.get("text") or piece.get("data")) for piece in pieces)
    return bool(part.get("reasoning") or part.get("text")) or has_details


# Attachments: files of a message of AI SDK 4, which may also be parts


class Attachments(NamedTuple):
    """Attachments that were removed from a content."""

    of_parts: Mapping[int, JsonObject]
    """By the index of a part with the same file: the note about its attachment."""
    others: Sequence[FilePart]
    """Files that are not parts."""


def take_attachments(content: JsonObject, parts: Sequence[Json]) -> Attachments:
    """Remove the attachments from a content. Other values of that member remain."""
    raws = content.get(ATTACHMENTS)
    of_parts: dict[int, JsonObject] = {}
    others: list[FilePart] = []
    left: list[Json] = []
    for position, raw in enumerate(raws if is_array(raws) else []):
        if not is_object(raw) or not isinstance(raw.get("url"), str):
            left.append(raw)
            continue
        rest = {name: value for name, value in raw.items() if name != "url"}
        files = (at for at, part in enumerate(parts) if at not in of_parts and _is_file(part, raw["url"]))
        at = next(files, None)
        if at is None:
            others.append(_read_attachment(raw, position))
        else:
            of_parts[at] = {ATTACHED: {INDEX: position, FIELDS: rest}}
    if left:
        content[ATTACHMENTS] = left
    elif is_array(raws) and raws:
        del content[ATTACHMENTS]
    return Attachments(of_parts, others)


def _is_file(part: Json, url: str) -> bool:
    is_file = is_object(part) and part.get("type") == "file"
    return is_file and url in (part.get("data"), part.get("url"))


def _read_attachment(raw: JsonObject, position: int) -> FilePart:
    url, named, filename = raw["url"], raw.get("contentType"), raw.get("name")
    filename = filename if isinstance(filename, str) else None
    media_type = named if isinstance(named, str) else guess_media_type(url, filename)
    rest = {name: value for name, value in raw.items() if name not in ("url", "contentType", "name")}
    reference = file_reference(url)
    address = file_url(url, media_type) if reference is None else ""
    note: JsonObject = {ATTACHMENT: position, **({DATA_URL: True} if url.startswith("data:") else {})}
    part = FilePart(address, media_type, filename, reference, extra=keep_fields(rest, FilePart))
    part = with_part_notes(part, note)
    left = residue(_write_attachment(part), raw)
    found: FilePart = with_part_notes(part, {FIELDS: left} if left else {})
    return found


def _write_attachment(part: FilePart) -> JsonObject:
    named = {} if part.filename is None else {"name": part.filename}
    return {**members_of(part), "url": file_address(part), "contentType": part.media_type, **named}


def write_attachments(parts: Sequence[Any], left: Json) -> Json:
    """Return the attachments of a content: those of its parts, and values that are not attachments."""
    written: list[Json] = list(left) if is_array(left) else []
    for part in parts:
        noted = part_notes(part) if isinstance(part, FilePart) else {}
        attached: JsonObject = notes(noted, ATTACHED)
        if ATTACHMENT in noted:
            found = restore(_write_attachment(part), notes(noted, FIELDS))
            written.insert(position_of(noted.get(ATTACHMENT)), found)
        elif attached:
            found = {"url": file_address(part), **notes(attached, FIELDS)}
            written.insert(position_of(attached.get(INDEX)), found)
    return written or left


def position_of(noted: Json) -> int:
    """Return a noted position, or a position at the end if it is invalid."""
    return noted if type(noted) is int and noted >= 0 else sys.maxsize


def is_attachment(part: Any) -> bool:
    """Whether a file is an attachment and not a part."""
    return isinstance(part, FilePart) and ATTACHMENT in part_notes(part)
