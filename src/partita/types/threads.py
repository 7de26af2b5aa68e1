"""A conversation."""

from .json import JsonObject
from .times import Moment
from .value import Value


class Thread(Value, kw_only=True):
    """A conversation: who owns it, what it is about, and which branch is the current one."""

    id: str
    resource_id: str | None = None
    title: str | None = None
    metadata: JsonObject | None = None
    agent: str | None = None
    project: str | None = None
    active_leaf_id: str | None = None
    message_count: int | None = None
    created_at: Moment | None = None
    updated_at: Moment | None = None
