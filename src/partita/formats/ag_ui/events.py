"""Names of data chunks and token counts that the decoder and the encoder of AG-UI events share.

Source: https://docs.ag-ui.com/concepts/events, https://ag-ui.com/spec/1.0/schema.json
"""

from collections.abc import Mapping
from typing import Final

from partita.formats.core.members import without
from partita.types.json import Json, JsonObject

from .parts import read_encrypted_value
from .wire import ENCRYPTED, NAMESPACE

# Types of data chunks with an event

PREFIX: Final = f"data-{NAMESPACE}-"
STATE: Final = f"{PREFIX}state"
STATE_DELTA: Final = f"{PREFIX}state-delta"
MESSAGES: Final = f"{PREFIX}messages"
ACTIVITY: Final = f"{PREFIX}activity"
ACTIVITY_DELTA: Final = f"{PREFIX}activity-delta"
RAW: Final = f"{PREFIX}raw"
INTERRUPT: Final = f"{PREFIX}interrupt"
MESSAGE: Final = f"{PREFIX}message"
"""A streamed message that is neither of the assistant nor of the user."""
EVENT: Final = f"{PREFIX}event"
"""An unknown or unexpected event."""
REST: Final = f"{PREFIX}rest"
"""The members of an event that its chunk has no field for."""

MEMBER_DATA: Final[Mapping[str, tuple[str, str]]] = {
    "STATE_SNAPSHOT": (STATE, "snapshot"),
    "STATE_DELTA": (STATE_DELTA, "delta"),
    "MESSAGES_SNAPSHOT": (MESSAGES, "messages"),
}
"""Events with one member, which is the data of the chunk."""

EVENT_DATA: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "ACTIVITY_SNAPSHOT": (ACTIVITY, ("activityType", "content")),
    "ACTIVITY_DELTA": (ACTIVITY_DELTA, ("messageId", "activityType", "patch")),
    "RAW": (RAW, ("event",)),
}
"""Events whose members are the data of the chunk, and the members that they must have."""

CHUNK: Final = "partita."
"""The prefix of the names of custom events with a chunk for which AG-UI has no event."""

COUNTS: Final[Mapping[str, str]] = {
    "inputTokens": "inputTokens",
    "outputTokens": "outputTokens",
    "totalTokens": "totalTokens",
    "reasoningTokens": "reasoningTokens",
    "cachedInputTokens": "cachedInputTokens",
    "cacheWriteTokens": "cacheWriteInputTokens",
}
"""Token counts of canonical usage, and their names in AG-UI."""


def event_metadata(members: JsonObject) -> JsonObject | None:
    """Return provider metadata: the members of events, and the metadata in their encrypted value."""
    if not members:
        return None
    others: Json = read_encrypted_value(members.get(ENCRYPTED))
    if others is None:
        return {NAMESPACE: members}
    left = without(members, ENCRYPTED)
    return {**others, NAMESPACE: left} if left else others
