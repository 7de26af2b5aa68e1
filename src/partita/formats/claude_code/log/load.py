"""The records of a session file → canonical messages.

Sub-agents that no call claims stand behind the conversation. Lost: the progress of tools. Told as losses too:
what was not understood, although it is kept.
"""

from collections.abc import Sequence
from typing import Final

from partita.formats.format import Loaded
from partita.formats.log.records import load_records, records_in
from partita.formats.losses import Loss
from partita.types.json import Json, JsonObject, is_object

from .decoder import ClaudeLogDecoder

INSIDE: Final = {"user": ("message",), "assistant": ("message",), "progress": ("data", "message", "message")}
"""Where the objects inside a record are that the decoder changes."""

PROGRESS: Final = "progress of tools stays in the raw log alone"


def load(payload: Json) -> Loaded:
    """The records of a session file, or one of them, as messages."""
    records = records_in(payload)
    loaded = load_records(
        [_copied(record) if is_object(record) else record for record in records],
        ClaudeLogDecoder,
        "claude-code-line",
        whole=_is_whole(records),
    )
    progress = sum(is_object(record) and record.get("type") == "progress" for record in records)
    told = [Loss("$", f"{progress} records", PROGRESS)] if progress else []
    return Loaded(loaded.messages, (*loaded.losses, *told))


def _is_whole(records: Sequence[Json]) -> bool:
    """Whether the records begin where a session does, rather than in the middle of one."""
    chained = (record for record in records if is_object(record) and "parentUuid" in record)
    first = next(chained, None)
    return first is not None and first["parentUuid"] is None


def _copied(record: JsonObject) -> JsonObject:
    """A record that the decoder may take apart: what it changes is copied, down to a message in progress."""
    copy = dict(record)
    inner = copy
    for name in INSIDE.get(str(record.get("type")), ()):
        value = inner.get(name)
        if not is_object(value):
            break
        fresh = dict(value)
        inner[name] = fresh
        inner = fresh
    return copy
