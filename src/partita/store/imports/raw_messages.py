"""Raw messages of an agent that a row keeps → a run, whose log can be played and read again."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Final

from partita.formats.agent_decoder import Decoding
from partita.store.log.blocks import Stored
from partita.store.microseconds import to_microseconds
from partita.store.sessions.rows import RunRows, pack_entries
from partita.types.codec import encode
from partita.types.events import ChunkEvent, raw_bytes
from partita.types.json import Json, dumps, is_object
from partita.types.messages import AssistantMessage
from partita.types.runs import Run

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def run_of(
    message: AssistantMessage, raws: Sequence[Json], format_name: str, *, thread_id: str, agent: str
) -> RunRows:
    """The run of an answer: its agent's messages, a line each, as a run that was recorded live has them."""
    time = message.created_at or EPOCH
    run = Run(
        id=f"{thread_id}:{message.id}",
        thread_id=thread_id,
        status="completed",
        agent=agent,
        message_id=message.id,
        usage=message.content.usage,
        created_at=time,
        started_at=time,
        finished_at=time,
    )
    return pack_entries(run, 1, list(_entries(raws, format_name, to_microseconds(time))), {})


def _entries(raws: Sequence[Json], format_name: str, time: int) -> Iterator[Stored]:
    decoding = Decoding(format_name, "lines")
    events = decoding.begin()
    for raw in _once(raws):
        events += decoding.feed(dumps(raw) + b"\n")
    events += decoding.finish()
    for event in events:
        chunk = encode(event.chunk) if isinstance(event, ChunkEvent) else None
        yield Stored(time, chunk, raw_bytes(event))


def _once(raws: Sequence[Json]) -> Iterator[Json]:
    """The messages, each once: one that gave several chunks was kept with every one of them."""
    last: Json = None
    for raw in raws:
        if not (is_object(raw) and "uuid" in raw and raw == last):
            yield raw
        last = raw
