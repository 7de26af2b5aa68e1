"""What a model says in a history, if it is words and calls, each a part with all that it has and no more."""

from collections.abc import Sequence

from partita.types.json import Json, JsonObject, has_surrogates, is_object
from partita.types.messages import AssistantPart, ToolCallPart
from partita.types.parts import TextPart

from .ids import CallIds
from .looking import CALL_ID, NAMESPACE, SIGNATURE, written

SIGNED = {"functionCall", SIGNATURE}
CALLED = {"id", "name", "args"}


def plain_parts(parts: Sequence[JsonObject], message_id: str) -> list[AssistantPart] | None:
    """The parts of a content; none if one of them is anything else."""
    ids = CallIds(message_id)
    found: list[AssistantPart] = []
    for part in parts:
        plain = _text(part["text"]) if len(part) == 1 and "text" in part else _call(part, ids)
        if plain is None:
            return None
        found.append(plain)
    return found


def _text(text: Json) -> TextPart | None:
    if not isinstance(text, str) or not text or not (text.isascii() or not has_surrogates(text)):
        return None
    return TextPart(text)


def _call(part: JsonObject, ids: CallIds) -> ToolCallPart | None:
    call = part.get("functionCall")
    if not is_object(call) or not part.keys() <= SIGNED or not call.keys() <= CALLED:
        return None
    name, given, told, signature = call.get("name"), call.get("args"), call.get("id"), part.get(SIGNATURE)
    if not isinstance(name, str) or not name or not is_object(given) or written(given) is None:
        return None
    if "id" in call and not (isinstance(told, str) and told):
        return None
    marks: JsonObject = {} if signature is None else {SIGNATURE: signature}
    if told is not None:
        marks[CALL_ID] = told
    metadata = {NAMESPACE: marks} if marks else None
    return ToolCallPart(ids.next(told), name, "input-available", given, call_provider_metadata=metadata)
