"""Items that hold one text or one call of a function, and nothing that needs a closer look: most do.

What they become is what `items` makes of them, without telling it as a stream first and writing it again.
"""

from typing import Final

from partita.errors import DecodeError
from partita.formats.answers.outlet import RAW_INPUT
from partita.formats.openai_responses.fields import ITEM, NAMESPACE
from partita.formats.openai_responses.request_calls import LONGEST, PREFIXES
from partita.types.json import Json, JsonObject, dumps, heal, is_array, is_object, loads
from partita.types.messages import ToolCallPart
from partita.types.parts import TextPart

MESSAGE: Final = frozenset({"type", "role", "content"})
CALL: Final = frozenset({"type", "call_id", "name", "arguments"})
PASSAGE: Final = frozenset({"type", "text", "annotations"})
AROUND: Final = frozenset({"id", "status"})
"""What stands around an item once a model has made it."""


def plain_part(item: JsonObject) -> TextPart | ToolCallPart | None:
    """The part that an item is; `None` when it needs a closer look."""
    match item.get("type"):
        case "message":
            return _text(item)
        case "function_call":
            return _call(item)
        case _:
            return None


def _text(item: JsonObject) -> TextPart | None:
    around = _around(item, MESSAGE, "message")
    words = _words(item.get("content"))
    if around is None or words is None or item["role"] != "assistant":
        return None
    return TextPart(words, "done", provider_metadata=_noted(around, {}))


def _words(content: Json) -> str | None:
    """The words of a message that has one passage, and nothing beside them."""
    passage = content[0] if is_array(content) and len(content) == 1 else None
    if not is_object(passage) or passage.keys() != PASSAGE or passage["type"] != "output_text":
        return None
    words = passage["text"]
    is_plain = passage["annotations"] == [] and isinstance(words, str) and heal(words) == words
    return words if is_plain else None


def _call(item: JsonObject) -> ToolCallPart | None:
    around = _around(item, CALL, "function_call")
    if around is None:
        return None
    call_id, name, words = item["call_id"], item["name"], item["arguments"]
    if (
        not isinstance(call_id, str)
        or not 0 < len(call_id) <= LONGEST
        or not isinstance(name, str)
        or not name
    ):
        return None
    try:
        given = loads(words) if isinstance(words, str) else None
        if not is_object(given):
            return None
        spelled = {} if dumps(given).decode() == words else {RAW_INPUT: words}
    except DecodeError:
        return None
    return ToolCallPart(
        call_id, name, "input-available", given, call_provider_metadata=_noted(around, spelled)
    )


def _around(item: JsonObject, members: frozenset[str], kind: str) -> JsonObject | None:
    """The id and status of an item that has no more than them and its members; `None` if it has."""
    keys = item.keys()
    if keys == members:
        return {}
    if not members <= keys or not keys - members <= AROUND or item.get("status", "completed") != "completed":
        return None
    name = item.get("id")
    if "id" in item and not (
        isinstance(name, str) and name.startswith(PREFIXES[kind]) and len(name) <= LONGEST
    ):
        return None
    return {key: item[key] for key in ("id", "status") if key in item}


def _noted(around: JsonObject, spelled: JsonObject) -> JsonObject | None:
    """The metadata that say what stands around an item, and how its words were spelled."""
    own: JsonObject = {"itemId": around["id"]} if "id" in around else {}
    own |= spelled
    if "status" in around:
        own[ITEM] = {"status": around["status"]}
    return {NAMESPACE: own} if own else None
