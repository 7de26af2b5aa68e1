"""Names of `ui_v4` and `versions` that other formats import."""

from collections.abc import Iterator, Mapping, Sequence

from partita.formats.ai_sdk.ui_v4.parts import STATES as READ_STATES
from partita.formats.ai_sdk.ui_v4.parts import type_of
from partita.formats.ai_sdk.versions import REDACTED, SIGNATURE
from partita.formats.ai_sdk.versions import SIGNER as PROVIDER
from partita.types.json import Json, JsonObject
from partita.types.times import json_date as written_time
from partita.types.tools import ToolState

__all__ = [
    "BESIDE",
    "MIRRORS",
    "PROVIDER",
    "REDACTED",
    "SIGNATURE",
    "STATES",
    "of_type",
    "type_of",
    "written_time",
]

BESIDE = "part:"
MIRRORS = frozenset({"toolInvocations", "reasoning"})
STATES: Mapping[ToolState, str] = {state: name for name, state in READ_STATES.items()}


def of_type(parts: Sequence[Json], type_: str) -> Iterator[JsonObject]:
    """The parts of one type."""
    return (part for part in parts if type_of(part) == type_)
