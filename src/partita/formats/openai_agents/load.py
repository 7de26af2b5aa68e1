"""Session items and run items of the OpenAI Agents SDK → messages.

Items are those of the Responses API, plain. A run puts an agent and a name of its own around each. Ids that
only stand for a missing one are left out. Reasoning that came from a Chat model is kept apart from OpenAI's,
so that it is never sent there.
"""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from partita.errors import ConversionError
from partita.formats.format import Loaded
from partita.formats.losses import Loss
from partita.formats.openai_responses.fields import text
from partita.formats.openai_responses.reading.conversation import read_conversation
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of
from partita.types.messages import AssistantMessage, AssistantPart, Message, ToolCallPart
from partita.types.tools import Approval

from .notes import FAKE_ID, NAMESPACE, PROVIDER_DATA, RUN, unpacked

FAKE: Final = "it stands for an id that is missing, and is refused where ids are checked"
SAID_BEFORE: Final = "the call that waits stands before, and says otherwise"
APPROVAL: Final = "tool_approval_item"


def load(payload: Json) -> Loaded:
    """A list of items, one of them, or words."""
    if isinstance(payload, str):
        payload = [{"role": "user", "content": payload}]
    elif is_object(payload):
        payload = payload["items"] if is_array(payload.get("items")) and len(payload) == 1 else [payload]
    if not is_array(payload):
        raise ConversionError(
            f"the payload is {kind_of(payload)}", where="$", hint="give the items of a session or of a run"
        )
    losses: list[Loss] = []
    waiting: dict[str, JsonObject] = {}
    items = list(_items(payload, losses, waiting))
    messages = unpacked(read_conversation(items, "$", losses))
    return Loaded(tuple(_asking(messages, waiting)), tuple(losses))


def _items(payload: Sequence[Json], losses: list[Loss], waiting: dict[str, JsonObject]) -> list[Json]:
    """Plain items, each with a note of what the SDK adds. `waiting` gets the calls that wait for someone."""
    items: list[Json] = []
    calls: dict[str, JsonObject] = {}
    for place, given in enumerate(payload):
        path = f"$[{place}]"
        raw = given.get("raw_item") if is_object(given) else None
        if not is_object(given) or (raw is not None and not is_object(raw)):
            items.append(given)
            continue
        around = {} if raw is None else {name: said for name, said in given.items() if name != "raw_item"}
        item = given if raw is None else raw
        call_id = text(item, "call_id")
        if text(around, "type") == APPROVAL and call_id:
            waiting[call_id] = around
            if call_id in calls:
                if calls[call_id] != item:
                    losses.append(Loss.of(f"{path}.raw_item", item, SAID_BEFORE))
                continue
            around = {}
        if text(item, "type") == "function_call":
            calls[call_id] = item
        items.append(_plain(item, around, path, losses))
    return items


def _plain(item: JsonObject, around: JsonObject, path: str, losses: list[Loss]) -> JsonObject:
    note: JsonObject = {RUN: around} if around else {}
    plain = item
    if item.get("id") == FAKE_ID:
        losses.append(Loss.of(f"{path}.id", FAKE_ID, FAKE, "repaired"))
        plain = {name: said for name, said in plain.items() if name != "id"}
    if PROVIDER_DATA in item:
        note[PROVIDER_DATA] = item[PROVIDER_DATA]
        plain = {name: said for name, said in plain.items() if name != PROVIDER_DATA}
    if text(item, "type") == "reasoning" and (item.get("id") == FAKE_ID or item.get(PROVIDER_DATA)):
        note["foreign"] = True
    return {**plain, NAMESPACE: note} if note else plain


def _asking(messages: Sequence[Message], waiting: dict[str, JsonObject]) -> list[Message]:
    """Messages in which the calls that wait for someone to allow them say so."""
    if not waiting:
        return list(messages)

    def asking(part: AssistantPart) -> AssistantPart:
        if not isinstance(part, ToolCallPart) or part.id not in waiting or part.output is not None:
            return part
        approval = Approval(id=part.id, descriptor=waiting[part.id])
        return replace(part, approval=approval, state="approval-requested")

    return [
        replace(message, content=replace(message.content, parts=tuple(map(asking, message.parts))))
        if isinstance(message, AssistantMessage)
        else message
        for message in messages
    ]
