"""The rules of APIs for the order of messages, calls and results."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final

from partita.types.json import Json, JsonObject, is_array, is_object

MAX_BREAKPOINTS: Final = 4
"""How many cache breakpoints Anthropic and Bedrock allow."""


def objects(value: Json) -> list[JsonObject]:
    """The objects of a list."""
    return [item for item in value if is_object(item)] if is_array(value) else []


# Messages with a role for results


def messages(
    body: JsonObject, *, before_system: Sequence[str] | None = None, user_after_tool: bool = True
) -> Iterator[str]:
    """Results are directly after their calls, each in a separate message.

    `before_system`: the roles that may be before a system message; `None` allows all.
    """
    waiting: list[str] = []
    before = ""
    for index, message in enumerate(body["messages"]):
        where, role = f"messages[{index}]", message["role"]
        if before_system is not None and role == "system" and before not in ("", *before_system):
            yield f"{where}: instructions after other messages"
        if not user_after_tool and (before, role) == ("tool", "user"):
            yield f"{where}: a user message directly after a tool message"
        before = role
        if role == "tool":
            if message["tool_call_id"] not in waiting:
                yield f"{where}: a result without a call: {message['tool_call_id']!r}"
            else:
                waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            yield f"{where}: calls without results: {waiting}"
        waiting = [call["id"] for call in objects(message.get("tool_calls"))]
        if len(set(waiting)) != len(waiting):
            yield f"{where}: two calls of one id"
    if waiting:
        yield f"the end: calls without results: {waiting}"


# Turns with blocks for results


def turns(turns: Sequence[Sequence[JsonObject]], roles: Sequence[str]) -> Iterator[str]:
    """User and assistant alternate, and results are first. Blocks have the form of Anthropic."""
    before: Sequence[JsonObject] = ()
    for index, (blocks, role) in enumerate(zip(turns, roles, strict=True)):
        where = f"messages[{index}]"
        if role != ("user", "assistant")[index % 2]:
            yield f"{where}: user and assistant do not alternate"
        asked = [block["id"] for block in before if block["type"] == "tool_use"]
        served = {block["id"] for block in blocks if block["type"] == "tool_use"}
        results = [block for block in blocks if block["type"] == "tool_result"]
        given = [block["tool_use_id"] for block in results if block["tool_use_id"] not in served]
        if sorted(asked) != sorted(given):
            yield f"{where}: results {given} for calls {asked}"
        if any(block["type"] != "tool_result" for block in blocks[: len(given)]):
            yield f"{where}: results are not first"
        before = blocks
    if roles[-1] == "assistant":
        last = before[-1]
        if last["type"] == "text" and last["text"] != last["text"].rstrip():
            yield "the end: white space after the last text"
    if any(block["type"] == "tool_use" for block in before):
        yield "the end: calls without results"


def anthropic(body: JsonObject) -> Iterator[str]:
    """Turns, and cache breakpoints."""
    contents = [turn["content"] for turn in body["messages"]]
    blocks = [[{"type": "text", "text": one}] if isinstance(one, str) else one for one in contents]
    yield from turns(blocks, [turn["role"] for turn in body["messages"]])
    every = [*objects(body.get("system")), *(block for some in blocks for block in some)]
    marked = [block for block in every if "cache_control" in block]
    if len(marked) > MAX_BREAKPOINTS:
        yield f"{len(marked)} cache breakpoints"
    if any(block["type"].endswith("thinking") for block in marked):
        yield "a cache breakpoint on thinking"


def bedrock(body: JsonObject) -> Iterator[str]:
    """Turns, documents, called tools, and cache points."""
    contents = [turn["content"] for turn in body["messages"]]
    blocks = [list(map(_like_anthropic, content)) for content in contents]
    yield from turns(blocks, [turn["role"] for turn in body["messages"]])
    names: set[str] = set()
    for index, content in enumerate(contents):
        kinds = {kind for block in content for kind in block}
        results = [block["toolResult"] for block in content if "toolResult" in block]
        if results and index % 2 == 0 and kinds & {"document", "video"}:
            yield f"messages[{index}]: a document beside results"
        if "document" in kinds and "text" not in kinds:
            yield f"messages[{index}]: a document without a text beside it"
        inner = [block for result in results for block in result["content"]]
        for name in (one["document"]["name"].lower() for one in (*content, *inner) if "document" in one):
            if name in names:
                yield f"messages[{index}]: another document {name!r}"
            names.add(name)
    tools = body.get("toolConfig", {}).get("tools")
    if not tools and any("toolUse" in block for content in contents for block in content):
        yield "toolConfig: no tools, but calls"
    points = [
        at
        for blocks_ in (objects(tools), objects(body.get("system")), *contents)
        for at, block in enumerate(blocks_)
        if "cachePoint" in block
    ]
    if len(points) > MAX_BREAKPOINTS:
        yield f"{len(points)} cache points"
    if 0 in points:
        yield "a cache point with nothing before it"


def _like_anthropic(block: JsonObject) -> JsonObject:
    """A block with the members that `turns` looks at."""
    match block:
        case {"toolUse": call}:
            kind = "served" if call.get("type") == "server_tool_use" else "tool_use"
            return {"type": kind, "id": call["toolUseId"]}
        case {"toolResult": result}:
            return {"type": "tool_result", "tool_use_id": result["toolUseId"]}
        case {"text": text}:
            return {"type": "text", "text": text}
        case _:
            return {"type": next(iter(block))}


# Other APIs


def gemini(body: JsonObject) -> Iterator[str]:
    """The content after calls has as many responses, in their order; there are none elsewhere."""
    contents = body["contents"]
    before: JsonObject = {}
    for index, content in enumerate(contents):
        asked, given = _named(before, "functionCall"), _named(content, "functionResponse")
        if asked != given:
            yield f"contents[{index}]: responses {given} for calls {asked}"
        if _named(content, "functionCall") and before.get("role") != "user":
            yield f"contents[{index}]: calls that do not follow a user"
        before = content
    if contents[0]["role"] != "user":
        yield "contents[0]: the user is not the first"
    if contents[-1]["role"] == "model":
        yield "the end: the model is the last"


def _named(content: JsonObject, kind: str) -> list[Json]:
    return [part[kind].get("name") for part in objects(content.get("parts")) if kind in part]


OUTPUTS: Final[Mapping[str, str]] = {
    f"{kind}_call": f"{kind}_call_output"
    for kind in ("function", "custom_tool", "computer", "local_shell", "shell", "apply_patch")
}


def responses(body: JsonObject) -> Iterator[str]:
    """Every call of the client has one output after it; reasoning is directly before its output."""
    items = objects(body["input"])
    given = {(item.get("type"), item.get("call_id")) for item in items}
    waiting: dict[str, str] = {}
    for index, item in enumerate(items):
        type_: str = item.get("type", "message")
        # A shell call without an output was run by the provider.
        is_served = type_ == "shell_call" and (OUTPUTS[type_], item["call_id"]) not in given
        if type_ in OUTPUTS and not is_served:
            waiting[item["call_id"]] = OUTPUTS[type_]
        elif type_ in OUTPUTS.values() and waiting.pop(item["call_id"], None) != type_:
            yield f"input[{index}]: an output without a call: {item['call_id']!r}"
        if type_ == "reasoning":
            after = items[index + 1] if index + 1 < len(items) else {}
            is_other = after.get("type") in (None, "message", *OUTPUTS.values())
            if is_other and after.get("role") != "assistant":
                yield f"input[{index}]: reasoning that is not followed by output of the model"
    if waiting:
        yield f"the end: calls without outputs: {list(waiting)}"


ORDER: Final[Mapping[str, Callable[[JsonObject], Iterator[str]]]] = {
    "anthropic": anthropic,
    "bedrock-converse": bedrock,
    "cohere": partial(messages, before_system=["system"]),
    "gemini": gemini,
    "openai-chat": messages,
    "openai-chat-mistral": partial(messages, before_system=[], user_after_tool=False),
    "openai-responses": responses,
}
