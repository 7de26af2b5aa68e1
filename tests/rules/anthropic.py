"""What the Messages API insists on."""

import re
from collections.abc import Iterator, Sequence

from partita.types.json import Json, JsonObject, is_array, is_object

from .looking import IMAGES, NAME_128, not_objects, objects

ID = re.compile(r"[A-Za-z0-9_-]+")
CACHED = 4
"""So many marks for the cache are allowed."""


def problems(body: JsonObject) -> list[str]:
    """What the API would refuse in a request."""
    return [*_turns(body["messages"]), *_system(body.get("system")), *_marks(body)]


def _turns(turns: Json) -> Iterator[str]:
    yield from not_objects(turns, "messages")
    before: JsonObject = {}
    for index, turn in enumerate(objects(turns)):
        where = f"messages[{index}]"
        if turn["role"] != ("user" if index % 2 == 0 else "assistant"):
            yield f"{where}: user and assistant do not alternate"
        if isinstance(turn["content"], str):
            yield from [] if turn["content"].strip() else [f"{where}: no words"]
        else:
            yield from not_objects(turn["content"], where)
        blocks = _blocks(turn)
        for place, block in enumerate(blocks):
            yield from _block(block, turn["role"], f"{where}.content[{place}]")
        yield from _answers(_blocks(before), blocks, where)
        before = turn
    if before and before["role"] == "assistant":
        yield from _ending(_blocks(before))


def _blocks(turn: JsonObject) -> list[JsonObject]:
    content = turn.get("content")
    return [{"type": "text", "text": content}] if isinstance(content, str) else objects(content)


def _answers(before: Sequence[JsonObject], blocks: Sequence[JsonObject], where: str) -> Iterator[str]:
    """Every call has its result in the very next turn, in front of everything else, and nothing more."""
    asked = [block["id"] for block in before if block["type"] == "tool_use"]
    given = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
    if sorted(asked) != sorted(given):
        yield f"{where}: results {given} for calls {asked}"
    if any(block["type"] != "tool_result" for block in blocks[: len(given)]):
        yield f"{where}: results do not come first"


def _ending(blocks: Sequence[JsonObject]) -> Iterator[str]:
    last = blocks[-1]
    if last["type"] == "text" and last["text"] != last["text"].rstrip():
        yield "the last answer ends in white space"
    if any(block["type"] == "tool_use" for block in blocks):
        yield "calls of the last answer have no results"


def _block(block: JsonObject, role: str, where: str) -> Iterator[str]:
    type_ = block["type"]
    if role == "user" and (type_.endswith(("tool_use", "thinking")) or type_ == "compaction"):
        yield f"{where}: a {type_} of a user"
    if role == "assistant" and type_ in ("tool_result", "image", "document"):
        yield f"{where}: a {type_} of an assistant"
    match block:
        case {"type": "text", "text": str(text)}:
            yield from [] if text.strip() else [f"{where}: empty text"]
        case {"type": "thinking"}:
            yield from [] if block.get("signature") else [f"{where}: thinking without a signature"]
        case {"type": "redacted_thinking"}:
            yield from [] if block.get("data") else [f"{where}: redacted thinking without data"]
        case {"type": "tool_use"}:
            yield from _call(block, where)
        case {"type": "tool_result"}:
            yield from _result(block, where)
        case {"type": "image" | "document"}:
            yield from _media(block, where)
        case _:
            pass


def _call(block: JsonObject, where: str) -> Iterator[str]:
    if not NAME_128.fullmatch(block["name"]):
        yield f"{where}: the name {block['name']!r}"
    if not ID.fullmatch(block["id"]):
        yield f"{where}: the id {block['id']!r}"
    if not is_object(block["input"]):
        yield f"{where}: an input that is no object"


def _result(block: JsonObject, where: str) -> Iterator[str]:
    content = block.get("content", "nothing")
    if is_array(content):
        yield from not_objects(content, where)
        for place, inner in enumerate(objects(content)):
            yield from _block(inner, "result", f"{where}.content[{place}]")


def _media(block: JsonObject, where: str) -> Iterator[str]:
    source = block["source"]
    if source["type"] == "base64" and block["type"] == "image" and source["media_type"] not in IMAGES:
        yield f"{where}: an image of type {source['media_type']}"
    if (
        source["type"] == "base64"
        and block["type"] == "document"
        and source["media_type"] != "application/pdf"
    ):
        yield f"{where}: a document of type {source['media_type']}"
    if source["type"] == "url" and not source["url"].startswith(("https://", "http://")):
        yield f"{where}: the address {source['url'][:40]!r}"


def _system(system: Json) -> Iterator[str]:
    if is_array(system) and not all(block.get("text", "").strip() for block in objects(system)):
        yield "system: empty text"


def _marks(body: JsonObject) -> Iterator[str]:
    blocks = [
        *objects(body.get("system")),
        *(block for turn in objects(body["messages"]) for block in _blocks(turn)),
    ]
    marked = [block for block in blocks if "cache_control" in block]
    if len(marked) > CACHED:
        yield f"{len(marked)} marks for the cache"
    if any(block["type"].endswith("thinking") for block in marked):
        yield "a mark for the cache on thinking"
