"""What an agent service says while it works: chunks, and how it ended."""

from typing import TypeAlias

from msgspec import UNSET, UnsetType

from .chunks import ChunkField
from .json import Json, dumps
from .usage import Usage
from .value import Value


class EventBase(Value, tag_field="type", kw_only=True, gc=False):
    """Every event may carry the agent's own message that caused it: as a value, and byte for byte."""

    raw_agent_message: Json | UnsetType = UNSET
    raw_text: str | None = None  # as it was sent, framing included; see `raw_bytes`


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


class RawEvent(EventBase, tag="raw"):
    """The agent said something that amounts to no chunk: it is kept all the same."""


AgentStreamEvent: TypeAlias = ChunkEvent | RawEvent | ErrorEvent | CompleteEvent | CancelledEvent


def raw_text(data: bytes) -> str:
    """Bytes as an event carries them. What is no UTF-8 is kept as lone surrogates."""
    return data.decode(errors="surrogateescape")


def raw_bytes(event: AgentStreamEvent) -> bytes | None:
    """The bytes that caused an event, exactly; without them, its message as JSON."""
    if event.raw_text is not None:
        return event.raw_text.encode(errors="surrogateescape")
    return None if event.raw_agent_message is UNSET else dumps(event.raw_agent_message)
