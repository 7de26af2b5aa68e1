"""Messages of Mastra's clients, read and written: all or none."""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from partita.errors import ConversionError
from partita.formats.mastra.format import load
from partita.server.hub import CallerView
from partita.server.open_calls import save_checked
from partita.server.problems import Problem
from partita.store.ids import new_id
from partita.store.prepared import prepare
from partita.types.json import Json, JsonObject, is_object, kind_of
from partita.types.messages import Message

from .access import open_thread

NEEDED: Final = ("threadId", "resourceId")


async def save_messages(caller: CallerView, raws: Sequence[Json]) -> tuple[Message, ...]:
    """Save V2 and V1 messages; each says its thread and its resource."""
    messages = [_read(_checked(caller, raw, place), place) for place, raw in enumerate(raws)]
    owners = {(message.thread_id, message.resource_id) for message in messages}
    threads = {
        pair: (await open_thread(caller, pair[0] or "", pair[1])).thread for pair in sorted(owners, key=str)
    }
    placed = [
        replace(message, resource_id=threads[message.thread_id, message.resource_id].resource_id)
        for message in messages
    ]
    return await caller.store.write(save_checked, [prepare(message, None) for message in placed])


def _checked(caller: CallerView, raw: Json, place: int) -> JsonObject:
    """A message with an id, a thread and a resource."""
    where = f"$.messages[{place}]"
    if not is_object(raw):
        raise ConversionError(
            f"a message is an object, found {kind_of(raw)}",
            where=where,
            hint="give {id, threadId, role, content}",
        )
    told = dict(raw)
    if caller.principal.resource_id is not None and "resourceId" not in raw:
        told["resourceId"] = caller.principal.resource_id
    for name in NEEDED:
        if not isinstance(told.get(name), str) or not told[name]:
            raise Problem(400, f"a message without {name}", where=where, hint="each needs both")
    if told.get("id") is None:
        told["id"] = new_id()
    return told


def _read(raw: JsonObject, place: int) -> Message:
    try:
        return load(raw).messages[0]
    except ConversionError as error:
        where = f"$.messages[{place}]{error.where.removeprefix('$')}"
        raise ConversionError(error.what, where=where, hint=error.hint) from None
