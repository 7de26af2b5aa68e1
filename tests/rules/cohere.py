"""What Cohere's chat API insists on."""

from collections.abc import Iterator, Sequence

from partita.types.json import Json, JsonObject, is_array, is_object

from .looking import NAME_64, not_arguments, not_objects, objects

MEMBERS = {
    "system": {"role", "content"},
    "user": {"role", "content"},
    "assistant": {"role", "content", "tool_calls", "tool_plan", "citations"},
    "tool": {"role", "tool_call_id", "content"},
}
"""The members that a message may have: any other is refused."""

BLOCKS = {
    "system": ("text",),
    "user": ("text", "image_url"),
    "assistant": ("text", "thinking"),
    "tool": ("text", "document"),
}


def problems(body: JsonObject) -> list[str]:
    """What the API would refuse in a request."""
    messages = objects(body["messages"])
    return [
        *not_objects(body["messages"], "messages"),
        *(f"messages[{at}]: {one}" for at, message in enumerate(messages) for one in _message(message)),
        *_order(messages),
        *(one for tool in objects(body.get("tools")) for one in _tool(tool)),
    ]


def _message(message: JsonObject) -> Iterator[str]:
    role = message["role"]
    if not message.keys() <= MEMBERS[role]:
        yield f"members {sorted(message.keys() - MEMBERS[role])}"
    content = message.get("content")
    if isinstance(content, str):
        yield from [] if content.strip() else ["an empty text"]
    elif content is not None:
        yield from not_objects(content, "content")
    elif role != "assistant" or not message.get("tool_calls"):
        yield "no content"
    for block in objects(content):
        yield from [] if block["type"] in BLOCKS[role] else [f"a {block['type']} of {role}"]
        if block["type"] == "text" and not block["text"].strip():
            yield "an empty text"
        if block["type"] == "document" and not is_object(block["document"].get("data")):
            yield "a document without data"
        if block["type"] == "image_url" and not block["image_url"]["url"].startswith(
            ("https://", "data:image/")
        ):
            yield f"the image {block['image_url']['url'][:40]}"
    for call in objects(message.get("tool_calls")):
        yield from (
            [] if NAME_64.fullmatch(call["function"]["name"]) else [f"the name {call['function']['name']}"]
        )
        yield from not_arguments(call["function"]["arguments"], "call")
    if message.get("tool_calls") and (isinstance(content, str) or _has_text(content)):
        yield "text beside calls"


def _has_text(content: Json) -> bool:
    return is_array(content) and any(block.get("type") == "text" for block in objects(content))


def _order(messages: Sequence[JsonObject]) -> Iterator[str]:
    """Instructions come first, and results right behind their calls, one message for each."""
    roles = [message["role"] for message in messages]
    others = [at for at, role in enumerate(roles) if role != "system"]
    if others and "system" in roles[others[0] :]:
        yield "a system message behind others"
    waiting: list[str] = []
    for at, message in enumerate(messages):
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                yield f"messages[{at}]: the result has no call right before it"
            waiting = [one for one in waiting if one != message["tool_call_id"]]
            continue
        if waiting:
            yield f"messages[{at}]: no results for {waiting}"
        waiting = [call["id"] for call in objects(message.get("tool_calls"))]
    if waiting:
        yield f"no results for {waiting}"


def _tool(tool: JsonObject) -> Iterator[str]:
    function = tool.get("function", {})
    yield from [] if NAME_64.fullmatch(str(function.get("name"))) else ["a tool without a name"]
    yield from [] if is_object(function.get("parameters")) else ["a tool without parameters"]
