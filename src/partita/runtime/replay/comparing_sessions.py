"""Stored messages beside those that a session comes to now: which are others, new, or gone."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from partita.types.codec import encode, to_json
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import Message

from .differences import Difference, differences
from .losses import lost
from .reprojection import Changed


class Change(NamedTuple):
    """A message as it is stored, and as it comes out now; `None` where there is none."""

    run_id: str
    thread_id: str
    stored: Message | None
    new: Message | None
    told: Changed


def changes(
    thread_id: str, run_id: str, stored: Mapping[str, Message], now: Sequence[Message], runs: Collection[str]
) -> Iterator[Change]:
    """What comes out otherwise in a thread.

    `runs` are those of the log: what others have written is left alone. `run_id` is told for messages that
    are of none.
    """
    beside = _by_run(now)
    added = {message.id for message in now if message.id not in stored}
    for message in now:
        there = stored.get(message.id)
        if there is None:
            whole = Difference("$.content", UNSET, to_json(message.content))
            told = Changed(message.id, (whole,))
            yield Change(message.run_id or run_id, thread_id, None, message, told)
        elif there.run_id in runs or there.run_id == message.run_id:
            new = in_place(there, message, added)
            if found := _differences(there, new):
                told = Changed(there.id, tuple(found), _lost(there, new, beside))
                yield Change(there.run_id or run_id, thread_id, there, new, told)
    known = {message.id for message in now}
    for there in stored.values():
        if there.run_id in runs and there.id not in known:
            whole = Difference("$.content", to_json(there.content), UNSET)
            told = Changed(there.id, (whole,), _lost(there, None, beside))
            yield Change(there.run_id or run_id, thread_id, there, None, told)


def in_place(stored: Message, new: Message, added: Collection[str] = ()) -> Message:
    """The message as it comes out now, in the place of the stored one, with what was added to its metadata.

    It follows another one than before only if that is among the `added`.
    """
    kept, said = stored.content.metadata, new.content.metadata
    metadata: Json = said
    if is_object(kept) and is_object(said):
        metadata = {**kept, **said}
    elif said is UNSET:
        metadata = kept
    return replace(
        new,
        thread_id=stored.thread_id,
        created_at=stored.created_at,
        resource_id=stored.resource_id,
        parent_id=new.parent_id if new.parent_id in added else stored.parent_id,
        run_id=stored.run_id,
        seq=stored.seq,
        content=replace(new.content, metadata=metadata),
        extra=stored.extra,
    )


def _differences(stored: Message, new: Message) -> list[Difference]:
    old, now = _envelope(stored), _envelope(new)
    if old == now and encode(stored.content) == encode(new.content):
        return []
    return differences({**old, "content": to_json(stored.content)}, {**now, "content": to_json(new.content)})


def _envelope(message: Message) -> JsonObject:
    return {
        "role": str(message.__struct_config__.tag),
        "type": message.type,
        "internal": message.internal,
        "parentId": message.parent_id,
    }


def _by_run(messages: Sequence[Message]) -> Mapping[str | None, list[Message]]:
    found: dict[str | None, list[Message]] = {}
    for message in messages:
        found.setdefault(message.run_id, []).append(message)
    return found


def _lost(
    stored: Message, new: Message | None, beside: Mapping[str | None, Sequence[Message]]
) -> tuple[str, ...]:
    """What a message would lose, and no other one of its run has."""
    own = () if new is None else (new,)
    if not lost(stored, *own):
        return ()
    return tuple(lost(stored, *own, *beside.get(stored.run_id, ())))
