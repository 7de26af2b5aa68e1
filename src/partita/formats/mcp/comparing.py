"""What of canonical messages the messages of the protocol do not say."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import UNSET

from partita.formats.bare import is_bare, is_bare_message
from partita.formats.losses import Loss
from partita.formats.missing import lost
from partita.types.codec import to_json
from partita.types.fold import state_after
from partita.types.json import JsonObject
from partita.types.messages import Message, Part, ToolCallPart, derive_type
from partita.types.parts import FilePart, ForeignPart, ImagePart, ReasoningFilePart, TextPart

from .blocks import OWN, block_of, has_own_uri, part_of
from .words import FIELDS, FORM, KEPT, MCP, own_of

_MADE: Final = re.compile(r"message-\d+#\d+:results")
"""Ids that are made of places, and are made again."""

NO_PLACE: Final = "the protocol has no place for it"
NAMED: Final = "the protocol wants a name or an address: one was made"

WHY: Final[Mapping[str, str]] = {
    "id": "messages of the protocol have no id",
    "createdAt": "messages of the protocol have no time",
    "usage": "messages of the protocol do not tell what they cost",
    "children": "the other side does not see what a sub-agent said",
    "approval": "the other side sees only what came of it",
}


def is_held(part: Part) -> bool:
    """Whether a part is all in its block: most are, and need no closer look."""
    match part:
        case TextPart():
            return is_bare(part)
        case ToolCallPart(output=output, state=state) if part.input is not None:
            is_usual = state == "input-available" or (output is not None and state == state_after(output))
            return is_usual and is_bare(part)
        case _:
            return False


def part_losses(part: Part, path: str) -> Iterator[Loss]:
    """What of a part is not in its block."""
    match part:
        case TextPart():
            if part.provider_metadata or part.citations or part.extra or part.state == "streaming":
                held: JsonObject = {"type": "text", "text": part.text, "state": "done"}
                yield from _lost(to_json(part), held | _metadata(part, OWN), path)
        case ImagePart() | FilePart() | ReasoningFilePart():
            yield from _file_losses(part, path)
        case ToolCallPart():
            yield from _call_losses(part, path)
        case ForeignPart():
            held = {"type": "foreign", "format": MCP, "value": part.value}
            yield from _lost(to_json(part), held, path)
        case _:
            pass


def shell_losses(message: Message, path: str, id_: str) -> Iterator[Loss]:
    """What of a message around its parts is not written; it is read with that id."""
    if is_bare_message(message):
        if message.id != id_:
            yield Loss.of(f"{path}.id", message.id, WHY["id"])
        return
    plain: JsonObject = to_json(message)
    plain["content"] = {key: item for key, item in plain["content"].items() if key != "parts"}
    content: JsonObject = {"format": 2}
    own = own_of(message.content.provider_metadata)
    if own:
        content["providerMetadata"] = {MCP: {key: own[key] for key in (FIELDS, FORM) if key in own}}
    held = {"role": plain["role"], "id": id_, "type": derive_type(message.parts), "content": content}
    yield from _lost(plain, held, path)


def _file_losses(part: ImagePart | FilePart | ReasoningFilePart, path: str) -> Iterator[Loss]:
    block = block_of(part)
    again = part_of(block)
    if again == part:
        return
    if block["type"] == "resource" and not has_own_uri(part):
        yield Loss(f"{path}.url", str(block["resource"]["uri"]), NAMED, "repaired")
    if block["type"] == "resource_link" and not (part.name if isinstance(part, ImagePart) else part.filename):
        yield Loss(f"{path}.filename", str(block["name"]), NAMED, "repaired")
    plain: JsonObject = dict(to_json(part))
    held: JsonObject = dict(to_json(again)) | _metadata(part, OWN)
    if plain["type"] != held["type"]:
        yield Loss.of(f"{path}.type", plain["type"], NO_PLACE, "changed")
    if plain.get("name") is not None and plain["name"] == held.get("filename"):
        held["name"] = plain["name"]
    if plain.get("url") != held.get("url"):
        yield Loss.of(f"{path}.url", plain.get("url"), "it is written anew, in base64", "changed")
    yield from _lost({**plain, "type": "", "url": ""}, {**held, "type": "", "url": ""}, path)


def _call_losses(part: ToolCallPart, path: str) -> Iterator[Loss]:
    plain: JsonObject = {
        key: item for key, item in to_json(part).items() if key not in ("output", "state", "resultMessage")
    }
    held: JsonObject = {"type": "tool-call", "id": part.id, "name": part.name}
    held |= {"input": plain.get("input")} if part.raw_input is UNSET else {"rawInput": part.raw_input}
    call, result = own_of(part.call_provider_metadata), own_of(part.result_provider_metadata)
    held["callProviderMetadata"] = {MCP: {key: call[key] for key in (FIELDS,) if key in call}}
    held["resultProviderMetadata"] = {MCP: {key: result[key] for key in (FIELDS, KEPT) if key in result}}
    yield from _lost(plain, held, path)
    states = {"input-available", None if part.output is None else state_after(part.output)}
    if part.state not in states and part.approval is None:
        yield Loss.of(f"{path}.state", part.state, NO_PLACE, "changed")
    if part.result_message is not None:
        origin: JsonObject = to_json(part.result_message)
        own = own_of(part.result_message.content.provider_metadata)
        kept = {MCP: {key: own[key] for key in (FIELDS, FORM) if key in own}}
        content: JsonObject = {"format": 2, "parts": [], "providerMetadata": kept}
        held = {"role": "tool", "type": origin["type"], "content": content}
        if _MADE.fullmatch(part.result_message.id):
            held["id"] = part.result_message.id
        yield from _lost(origin, held, f"{path}.resultMessage")


def _metadata(
    part: TextPart | ImagePart | FilePart | ReasoningFilePart, names: tuple[str, ...]
) -> JsonObject:
    own = own_of(part.provider_metadata)
    return {"providerMetadata": {MCP: {key: own[key] for key in names if key in own}}} if own else {}


def _lost(before: JsonObject, after: JsonObject, path: str) -> Iterator[Loss]:
    return lost(before, after, path, NO_PLACE, reasons=WHY)
