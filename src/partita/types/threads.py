"""Threads (conversations) and runs."""

from typing import Literal, TypeAlias

from msgspec import UNSET, UnsetType

from .json import Json, JsonObject
from .times import Timestamp
from .usage import Usage
from .value import Value


class Thread(Value, kw_only=True):
    """A conversation: its owner, title and metadata, and its active branch."""

    id: str
    resource_id: str | None = None
    title: str | None = None
    metadata: JsonObject | None = None
    agent: str | None = None
    project: str | None = None
    active_leaf_id: str | None = None
    message_count: int | None = None
    created_at: Timestamp | None = None
    updated_at: Timestamp | None = None


# Runs

RunStatus: TypeAlias = Literal["pending", "running", "completed", "failed", "cancelled", "interrupted"]
"""`interrupted`: the process that ran it ended, and the message was restored from the log."""


class Run(Value, kw_only=True):
    """One execution of an agent in a thread: its status, lease, usage and result."""

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
    lease_expires_at: Timestamp | None = None
    created_at: Timestamp | None = None
    started_at: Timestamp | None = None
    finished_at: Timestamp | None = None
