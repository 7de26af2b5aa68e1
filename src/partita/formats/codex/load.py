"""The records of a rollout → canonical messages."""

from partita.formats.format import Loaded
from partita.formats.records import load_records, records_in
from partita.types.json import Json

from .rollout import CodexRolloutDecoder


def load(payload: Json) -> Loaded:
    """The records of a rollout, or one of them, as messages."""
    return load_records(records_in(payload), CodexRolloutDecoder, "codex-line")
