"""Records that the reader of rollouts kept as data → the same records."""

from typing import Final

from partita.formats.codex.wire import AGENT, STATE_ITEMS, STATE_RECORDS
from partita.types.json import JsonObject, is_object
from partita.types.parts import DataPart

RECORDS: Final = STATE_RECORDS | {"compacted"}
WRITTEN: Final = frozenset({"session_meta", "turn_context", "task_started", "task_complete", "model_change"})
"""Records that the writer makes itself, and what the reader makes of them."""


def is_written(part: DataPart) -> bool:
    """Whether data was made of a record that the writer makes itself."""
    return _kind(part) in WRITTEN


def _kind(part: DataPart) -> str | None:
    if not part.name.startswith(f"{AGENT}-"):
        return None
    return part.name.removeprefix(f"{AGENT}-").replace("-", "_")


def note_record(part: DataPart) -> tuple[str, JsonObject] | None:
    """The type and the payload of the record that data was made of; `None` if it was made of none."""
    data, kind = part.data, _kind(part)
    if kind is None or not is_object(data):
        return None
    if kind in RECORDS:
        return kind, data
    if kind == "rate_limits":
        return "event_msg", {"type": "token_count", "info": None, "rate_limits": data}
    if kind in WRITTEN or data.get("type") != kind:
        return None
    return ("response_item" if kind in STATE_ITEMS else "event_msg"), data
