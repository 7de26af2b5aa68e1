"""The words that AG-UI and we have for each other."""

from typing import Final

DATA: Final = "data-agUi-"
"""In front of the name of data that stand for an event."""

STATE: Final = f"{DATA}state"
STATE_DELTA: Final = f"{DATA}state-delta"
MESSAGES: Final = f"{DATA}messages"
ACTIVITY: Final = f"{DATA}activity"
ACTIVITY_DELTA: Final = f"{DATA}activity-delta"
RAW: Final = f"{DATA}raw"
INTERRUPT: Final = f"{DATA}interrupt"
MESSAGE: Final = f"{DATA}message"
"""A streamed message of neither the assistant nor the user."""
EVENT: Final = f"{DATA}event"
"""An event that fits nowhere, whole."""
REST: Final = f"{DATA}rest"
"""What an event says that its chunk has no room for."""

CHUNK: Final = "partita."
"""In front of the type of a chunk that travels whole in a custom event."""

AGENT: Final = "subagentRunId"
"""Where a message or an event names the sub-agent it is of."""

ARGUMENTS: Final = "arguments"
CONTENT: Final = "content"

MESSAGE_ID: Final = "messageId"
"""Where a text or a result that came in a stream notes the message it was."""

PARENT: Final = "parentMessageId"
"""Where a call notes the message that held it."""

APPROVAL: Final = "tool_call"
"""The reason of an interrupt that asks whether a call may run."""
