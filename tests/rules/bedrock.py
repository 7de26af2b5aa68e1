"""What Amazon Bedrock Converse insists on."""

import re
from collections.abc import Iterator, Sequence

from partita.types.json import Json, JsonObject, is_object

from .looking import NAME_64, not_objects, objects

ID = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
DOCUMENT = re.compile(r"[A-Za-z0-9()\[\]-]+( [A-Za-z0-9()\[\]-]+)*")
IMAGES = ("png", "jpeg", "gif", "webp")
CACHED = 4
"""So many cache points are allowed."""


def problems(body: JsonObject) -> list[str]:
    """What the API would refuse in a request."""
    return [
        *_turns(body["messages"]),
        *(f"system: {one}" for block in objects(body.get("system")) for one in _text(block)),
        *_documents(body["messages"]),
        *_tools(body),
        *_cache_points(body),
    ]


def _turns(turns: Json) -> Iterator[str]:
    yield from not_objects(turns, "messages")
    before: JsonObject = {"content": []}
    for index, turn in enumerate(objects(turns)):
        where = f"messages[{index}]"
        if turn["role"] != ("user" if index % 2 == 0 else "assistant"):
            yield f"{where}: user and assistant do not alternate"
        yield from not_objects(turn["content"], where)
        for place, block in enumerate(objects(turn["content"])):
            if len(block) != 1:
                yield f"{where}: a block with {len(block)} members"
            yield from (f"{where}[{place}]: {one}" for one in _block(block, turn["role"]))
        yield from (f"{where}: {one}" for one in _answers(before["content"], turn["content"]))
        before = turn
    last = before["content"][-1:] if before.get("role") == "assistant" else []
    if any(block.get("text", "") != block.get("text", "").rstrip() for block in last):
        yield "the last answer ends in white space"
    if any("toolUse" in block for block in before["content"]):
        yield "calls of the last answer have no results"


def _answers(before: Sequence[JsonObject], blocks: Sequence[JsonObject]) -> Iterator[str]:
    """Every call has its result in the next turn, in front of everything else, and no documents beside it."""
    calls = [block["toolUse"] for block in before if "toolUse" in block]
    asked = [call["toolUseId"] for call in calls if call.get("type") != "server_tool_use"]
    answers = [block["toolResult"]["toolUseId"] for block in blocks if "toolResult" in block]
    served = {block["toolUse"]["toolUseId"] for block in blocks if "toolUse" in block}
    given = [one for one in answers if one not in served]
    if sorted(asked) != sorted(given):
        yield f"results {given} for calls {asked}"
    if given and any("toolResult" not in block for block in blocks[: len(given)]):
        yield "results do not come first"
    if given and any("document" in block or "video" in block for block in blocks):
        yield "a document beside results"


def _block(block: JsonObject, role: str) -> Iterator[str]:
    kind, value = next(iter(block.items()))
    allowed = {
        "user": ("text", "image", "document", "video", "audio", "toolResult", "guardContent", "cachePoint"),
        "assistant": ("text", "toolUse", "toolResult", "reasoningContent", "citationsContent", "cachePoint"),
        "result": ("text", "json", "image", "document", "video", "searchResult"),
    }
    if kind not in allowed[role]:
        yield f"a {kind} of {role}"
    yield from _text(block)
    match kind:
        case "toolUse":
            yield from [] if NAME_64.fullmatch(value["name"]) else [f"the name {value['name']!r}"]
            yield from [] if ID.fullmatch(value["toolUseId"]) else [f"the id {value['toolUseId']!r}"]
            yield from [] if is_object(value["input"]) else ["an input that is no object"]
        case "toolResult":
            yield from not_objects(value["content"], "content")
            yield from (one for inner in objects(value["content"]) for one in _block(inner, "result"))
        case "json":
            yield from [] if is_object(value) else ["json that is no object"]
        case "image":
            yield from [] if value["format"] in IMAGES else [f"an image of format {value['format']}"]
        case "reasoningContent":
            text = value.get("reasoningText", {})
            is_signed = bool(text.get("signature")) or "redactedContent" in value
            yield from [] if is_signed else ["reasoning without a signature"]
        case _:
            pass


def _text(block: JsonObject) -> Iterator[str]:
    if "text" in block and not block["text"].strip():
        yield "blank text"


def _documents(turns: Json) -> Iterator[str]:
    names: set[str] = set()
    for turn in objects(turns):
        content = objects(turn["content"])
        inner = [one for block in content for one in objects(block.get("toolResult", {}).get("content"))]
        for block in (block for block in [*content, *inner] if "document" in block):
            name = block["document"]["name"]
            if not DOCUMENT.fullmatch(name) or len(name) > 200:
                yield f"the document {name!r}"
            if name.lower() in names:
                yield f"another document {name!r}"
            names.add(name.lower())
        if any("document" in block for block in content) and not any("text" in block for block in content):
            yield "a document without a text beside it"


def _tools(body: JsonObject) -> Iterator[str]:
    has_calls = any("toolUse" in block for turn in objects(body["messages"]) for block in turn["content"])
    tools = objects(body.get("toolConfig", {}).get("tools"))
    if not tools and (has_calls or "toolConfig" in body):
        yield "no tools in toolConfig"
    for spec in (tool["toolSpec"] for tool in tools if "toolSpec" in tool):
        yield from [] if NAME_64.fullmatch(spec["name"]) else [f"the tool {spec['name']!r}"]
        yield from [] if spec.get("description", "x") else ["an empty description"]


def _cache_points(body: JsonObject) -> Iterator[str]:
    lists = [body.get("toolConfig", {}).get("tools"), body.get("system")]
    lists += [turn["content"] for turn in objects(body["messages"])]
    points = [
        (place, block) for one in lists for place, block in enumerate(objects(one)) if "cachePoint" in block
    ]
    if len(points) > CACHED:
        yield f"{len(points)} cache points"
    if any(place == 0 for place, _ in points):
        yield "a cache point with nothing before it"
