"""What a V2 content says twice: calls, reasoning and attachments beside the parts, as version 4 had them.

The parts have the word. A mirror fills in what its part lacks, and is kept when it says anything else than
the parts do; where it says the same, a note tells that it was there.
"""

from collections.abc import Mapping, Sequence

from partita.formats.ai_sdk.ui.v4_load import raw_parts
from partita.formats.ai_sdk.ui.v4_shape import MIRRORS, of_type, type_of
from partita.types.json import Json, JsonObject, is_array, is_object, same

from .calls import OPEN_STATES

ATTACHED = "mastra:attached"
"""The member of a file part with what an attachment says of the same file."""

ATTACHMENT = "mastra:attachment"
"""The member of a file part that was an attachment and no part, with what has no name in a part."""

ATTACHMENT_NAMES: Mapping[str, str] = {"contentType": "mediaType", "name": "filename"}


def whole_parts(parts: Sequence[Json], content: JsonObject, role: str, note: JsonObject) -> list[Json]:
    """The parts of a content, each as whole as the mirrors can make it; made of them if there are none."""
    if parts and MIRRORS.isdisjoint(content):
        return list(parts)
    if parts:
        return [_filled(part, parts, content) for part in parts]
    words = content.get("content")
    told = content if isinstance(words, str) else {**content, "content": None}
    made = raw_parts({key: item for key, item in told.items() if key != "parts"}, role)
    if made:
        note["parts"] = "made"
    return made


def drop_mirrors(content: JsonObject, parts: Sequence[Json], note: JsonObject) -> None:
    """Take out of a content what repeats its parts, with a note."""
    if MIRRORS.isdisjoint(content):
        return
    for name, ways in repetitions(parts).items():
        for way, repeated in ways.items():
            if name in content and same(_in_order(content[name]), _in_order(repeated)):
                del content[name]
                note[name] = way


def _in_order(value: Json) -> Json:
    """The same with the members of objects in one order: writers differ in it."""
    if is_object(value):
        return {key: _in_order(value[key]) for key in sorted(value)}
    return [_in_order(item) for item in value] if is_array(value) else value


def take_attachments(content: JsonObject, parts: list[Json]) -> list[Json]:
    """The parts with the attachments, which are taken out of the content. A file that is both stays one."""
    attachments = content.get("experimental_attachments")
    if not is_array(attachments) or not attachments:
        return parts
    left: list[Json] = []
    found = list(parts)
    for raw in attachments:
        if not is_object(raw) or not isinstance(raw.get("url"), str):
            left.append(raw)
            continue
        rest = {key: item for key, item in raw.items() if key != "url"}
        place = next((place for place, part in enumerate(found) if _is_file(part, raw["url"])), None)
        if place is None:
            found.append(_attachment(raw["url"], rest))
        else:
            found[place] = {**found[place], ATTACHED: rest}
    if left:
        content["experimental_attachments"] = left
    else:
        del content["experimental_attachments"]
    return found


def _filled(part: Json, parts: Sequence[Json], content: JsonObject) -> Json:
    match part:
        case {"type": "tool-invocation", "toolInvocation": call} if is_object(call):
            return {**part, "toolInvocation": _filled_call(call, content.get("toolInvocations"))}
        case {"type": "reasoning"}:
            words = content.get("reasoning")
            is_only = sum(1 for _ in of_type(parts, "reasoning")) == 1
            if is_only and isinstance(words, str) and not _speaks(part):
                return {**part, "reasoning": words}
            return part
        case _:
            return part


def _filled_call(call: JsonObject, mirror: Json) -> JsonObject:
    """A call with the arguments and the result that only its mirror has."""
    mirrors = mirror if is_array(mirror) else []
    for other in mirrors:
        if is_object(other) and other.get("toolCallId") == call.get("toolCallId"):
            filled = dict(call)
            if not call.get("args") and other.get("args"):
                filled["args"] = other["args"]
            if call.get("state") in OPEN_STATES and "result" in other and "result" not in call:
                filled |= {"state": "result", "result": other["result"]}
            return filled
    return call


def _speaks(part: JsonObject) -> bool:
    """Whether a reasoning has words of its own, or data that stand for them."""
    details: Json = part.get("details")
    pieces = details if is_array(details) else []
    return bool(part.get("reasoning") or part.get("text")) or any(
        is_object(piece) and (piece.get("text") or piece.get("data")) for piece in pieces
    )


def repetitions(parts: Sequence[Json]) -> dict[str, dict[str, Json]]:
    """What mirrors of these parts say, by their name, in all the ways they have been written."""
    calls = [part["toolInvocation"] for part in of_type(parts, "tool-invocation") if "toolInvocation" in part]
    results = [call for call in calls if is_object(call) and call.get("state") == "result"]
    words = [str(part.get("reasoning", "")) for part in of_type(parts, "reasoning")]
    return {
        "toolInvocations": {"results": results, "calls": calls},
        "reasoning": {"lines": "\n".join(words), "joined": "".join(words)} if words else {},
    }


def _is_file(part: Json, url: str) -> bool:
    if type_of(part) != "file" or ATTACHED in part or ATTACHMENT in part:
        return False
    return url in (part.get("data"), part.get("url"))


def _attachment(url: str, rest: JsonObject) -> JsonObject:
    """An attachment as a part."""
    known = {name: rest[key] for key, name in ATTACHMENT_NAMES.items() if isinstance(rest.get(key), str)}
    aside = {key: item for key, item in rest.items() if ATTACHMENT_NAMES.get(key) not in known}
    return {"type": "file", "url": url, **known, ATTACHMENT: aside}
