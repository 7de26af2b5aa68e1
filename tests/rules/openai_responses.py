"""What the Responses API insists on."""

from collections.abc import Iterator, Sequence

from partita.types.json import Json, JsonObject, is_array

from .looking import NAME_64, not_arguments, not_objects, objects

LONGEST = 64
PREFIXES = {"message": "msg_", "reasoning": "rs_", "function_call": "fc_", "custom_tool_call": "ctc_"}
"""How the ids of items begin."""

ANSWERS = {
    "function_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
    "computer_call": "computer_call_output",
    "local_shell_call": "local_shell_call_output",
    "shell_call": "shell_call_output",
    "apply_patch_call": "apply_patch_call_output",
}
USER_PARTS = frozenset({"input_text", "input_image", "input_file", "input_audio"})
ASSISTANT_PARTS = frozenset({"output_text", "refusal"})


def problems(body: JsonObject) -> list[str]:
    """What the API would refuse in a request."""
    items = body["input"]
    if isinstance(items, str):
        return [] if items else ["input: nothing"]
    said = objects(items)
    return [*not_objects(items, "input"), *_each(said), *_pairs(said), *_reasoning(said)]


def _each(items: Sequence[JsonObject]) -> Iterator[str]:
    for index, item in enumerate(items):
        where, type_ = f"input[{index}]", item.get("type", "message")
        id_ = item.get("id")
        if id_ is not None and (len(id_) > LONGEST or not id_.startswith(PREFIXES.get(type_, ""))):
            yield f"{where}: the id {id_!r}"
        if len(item.get("call_id") or "") > LONGEST:
            yield f"{where}: the call id {item['call_id']!r}"
        if type_ == "message":
            yield from _message(item, where)
        if type_ in ("function_call", "custom_tool_call") and not NAME_64.fullmatch(item["name"]):
            yield f"{where}: the name {item['name']!r}"
        if type_ == "function_call":
            yield from not_arguments(item["arguments"], where)


def _message(item: JsonObject, where: str) -> Iterator[str]:
    content = item["content"]
    if item["role"] not in ("user", "assistant", "system", "developer"):
        yield f"{where}: the role {item['role']!r}"
    if is_array(content):
        yield from not_objects(content, where)
        allowed = ASSISTANT_PARTS if item["role"] == "assistant" else USER_PARTS
        yield from (f"{where}: a {one['type']}" for one in objects(content) if one["type"] not in allowed)
        yield from (f"{where}: {one}" for one in objects(content) if not _is_whole(one))
    elif not isinstance(content, str):
        yield f"{where}: no content"


def _is_whole(part: JsonObject) -> bool:
    match part["type"]:
        case "input_image":
            url = part.get("image_url")
            return bool(part.get("file_id")) or str(url).startswith(("https://", "http://", "data:image/"))
        case "input_file":
            return bool(part.get("file_id") or part.get("file_url") or part.get("file_data"))
        case _:
            return True


def _pairs(items: Sequence[JsonObject]) -> Iterator[str]:
    """Every call of the client has one output behind it, and every output its call before it."""
    waiting: dict[str, str] = {}
    for index, item in enumerate(items):
        type_: Json = item.get("type", "message")
        if type_ in ANSWERS and not _is_served(items, item):
            waiting[item["call_id"]] = ANSWERS[type_]
        elif type_ in ANSWERS.values() and waiting.pop(item["call_id"], None) != type_:
            yield f"input[{index}]: an output for no call: {item['call_id']!r}"
    if waiting:
        yield f"calls without outputs: {list(waiting)}"


def _is_served(items: Sequence[JsonObject], item: JsonObject) -> bool:
    """Whether a call was answered by the provider, in its own place."""
    return item.get("type") == "shell_call" and not any(
        one.get("type") == "shell_call_output" and one.get("call_id") == item["call_id"] for one in items
    )


def _reasoning(items: Sequence[JsonObject]) -> Iterator[str]:
    """Reasoning stands right before what came of it, and can be known again."""
    for index, item in enumerate(items):
        if item.get("type") != "reasoning":
            continue
        behind = items[index + 1] if index + 1 < len(items) else {}
        is_answer = (
            behind.get("type") not in (None, "message", *ANSWERS.values())
            or behind.get("role") == "assistant"
        )
        if not is_answer:
            yield f"input[{index}]: reasoning before nothing of the model"
        if not item.get("encrypted_content") and not item.get("id"):
            yield f"input[{index}]: reasoning that nobody can know again"
        if not is_array(item.get("summary")):
            yield f"input[{index}]: reasoning without a summary"
