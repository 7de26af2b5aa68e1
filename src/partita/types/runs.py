"""One piece of work of an agent, from a prompt to its end."""

from typing import Literal, TypeAlias

from msgspec import UNSET, UnsetType

from .json import Json, JsonObject
from .times import Moment
from .usage import Usage
from .value import Value

RunStatus: TypeAlias = Literal["pending", "running", "completed", "failed", "cancelled", "interrupted"]
"""`interrupted`: its owner went away, and the message was folded from the log."""


class Run(Value, kw_only=True):
    """A run: what is at work, for which thread, who holds it, and how it ended."""

    id: str
    thread_id: str
    status: RunStatus
    message_id: str | None = None
    agent: str | None = None
    model: str | None = None
    usage: Usage | None = None
    cost: float | None = None  # in US dollars
    error: str | None = None
    metadata: JsonObject | None = None
    agent_result: Json | UnsetType = UNSET  # what the agent returned when it completed
    lease_owner: str | None = None
    lease_expires_at: Moment | None = None
    created_at: Moment | None = None
    started_at: Moment | None = None
    finished_at: Moment | None = None
