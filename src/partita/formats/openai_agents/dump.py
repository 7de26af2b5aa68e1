"""Messages → session items of the OpenAI Agents SDK."""

from collections.abc import Sequence
from typing import Final

from partita.formats.format import Dumped
from partita.formats.losses import Loss
from partita.formats.openai_responses.fields import ITEM, inner
from partita.formats.openai_responses.reading.load import INSTRUCTIONS
from partita.formats.openai_responses.writing.dump import dump as dump_input
from partita.types.fold import fold
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import Message

from .notes import FAKE_ID, NAMESPACE, PROVIDER_DATA, RUN, SPOTS, Metadata, packed

NO_RUN: Final = "a session stores items, not what was around them in a run"
NO_INSTRUCTIONS: Final = "a session has no instructions beside its items: they are the first of them"
NEEDS_ID: Final = "the SDK takes a message of the model, and reasoning, with an id only"


def dump(messages: Sequence[Message]) -> Dumped:
    """Messages as a list of items that a session takes."""
    losses: list[Loss] = []

    def without_run(metadata: Metadata, path: str) -> Metadata:
        """Metadata without what a run put around an item, which is told."""
        notes = inner(metadata or {}, NAMESPACE)
        kept = dict(notes)
        for spot in SPOTS:
            note = notes.get(spot or ITEM)
            if is_object(note) and RUN in note:
                losses.append(Loss.of(f"{path}.{NAMESPACE}.{spot or ITEM}.{RUN}", note[RUN], NO_RUN))
                kept[spot or ITEM] = {name: said for name, said in note.items() if name != RUN}
        return metadata if kept == notes else {**(metadata or {}), NAMESPACE: kept}

    dumped = dump_input(packed(fold(messages), without_run))
    if INSTRUCTIONS in dumped.payload:
        losses.append(Loss("$[0]", "the place of the instructions", NO_INSTRUCTIONS, "changed"))
    items = [_item(item, place, losses) for place, item in enumerate(_listed(dumped.payload))]
    return Dumped(items, (*losses, *dumped.losses))


def _listed(payload: JsonObject) -> list[JsonObject]:
    """All of a request as items: a session has no other place."""
    said, given = payload.get(INSTRUCTIONS), payload["input"]
    items: list[Json] = given if is_array(given) else [{"role": "user", "content": given}]
    return [*([] if said is None else [{"role": "system", "content": said}]), *items]


def _item(item: JsonObject, place: int, losses: list[Loss]) -> JsonObject:
    """An item with what the SDK adds to it."""
    note = inner(item, NAMESPACE)
    plain = {name: said for name, said in item.items() if name != NAMESPACE}
    if _needs_id(plain):
        losses.append(Loss.of(f"$[{place}]", FAKE_ID, NEEDS_ID, "repaired"))
        plain = {**plain, "id": FAKE_ID}
        if plain["type"] == "message":
            plain.setdefault("status", "completed")
    return {**plain, PROVIDER_DATA: note[PROVIDER_DATA]} if PROVIDER_DATA in note else plain


def _needs_id(item: JsonObject) -> bool:
    if "id" in item:
        return False
    is_said = item.get("type") == "message" and item.get("role") == "assistant"
    return item.get("type") == "reasoning" or (is_said and is_array(item.get("content")))
