"""What an agent service says while it works: chunks, and how it ended."""

from typing import TypeAlias

from msgspec import UNSET, UnsetType

from .chunks import ChunkField
from .json import Json
from .usage import Usage
from .value import Value


class EventBase(Value, tag_field="type", kw_only=True):
    """Every event may carry the agent's own message that caused it, word for word."""

    raw_agent_message: Json | UnsetType = UNSET


class ChunkEvent(EventBase, tag="chunk"):
    """One more chunk."""

    chunk: ChunkField


class ErrorEvent(EventBase, tag="error"):
    """The agent failed."""

    message: str
    name: str | None = None
    details: Json | UnsetType = UNSET


class CompleteEvent(EventBase, tag="complete"):
    """The agent is done."""

    agent_type: str | None = None
    agent_result: Json | UnsetType = UNSET
    usage: Usage | None = None


class CancelledEvent(EventBase, tag="cancelled"):
    """Someone stopped the agent."""

    reason: str | None = None


AgentStreamEvent: TypeAlias = ChunkEvent | ErrorEvent | CompleteEvent | CancelledEvent
