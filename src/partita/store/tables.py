"""The tables, as statements are built from them. How they come to be is told in `migrations`.

Every key leads with the owner (the resource id, `""` for nobody), so that the schema can be sharded by it.
The row of a message is the truth; `parts`, flags, previews and the search index are derived from it.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Dialect,
    Float,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
)
from sqlalchemy.types import TypeDecorator, TypeEngine

from .microseconds import from_microseconds, to_microseconds


class Instant(TypeDecorator[datetime]):
    """A moment: `timestamptz` in PostgreSQL, an integer of microseconds in SQLite."""

    impl = DateTime
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """The type of the engine."""
        own: TypeEngine[Any] = BigInteger() if dialect.name == "sqlite" else DateTime(timezone=True)
        return dialect.type_descriptor(own)

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        """A moment on its way in."""
        return to_microseconds(value) if value is not None and dialect.name == "sqlite" else value

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        """A moment on its way out."""
        return from_microseconds(value) if isinstance(value, int) else value


metadata = MetaData()

threads = Table(
    "threads",
    metadata,
    Column("key", BigInteger),
    Column("owner", Text),
    Column("id", Text),
    Column("title", Text),
    Column("metadata", Text),  # JSON
    Column("agent", Text),
    Column("project", Text),
    Column("active_leaf_id", Text),
    Column("next_seq", BigInteger),
    Column("message_count", Integer),
    Column("error_count", Integer),
    Column("extra", Text),  # JSON
    Column("created_at", Instant),
    Column("updated_at", Instant),  # when something was last said in it
    Column("changed_at", Instant),  # when its row was last written, whatever for
)

thread_labels = Table(  # derived: the scalars of a thread's metadata, for filters
    "thread_labels",
    metadata,
    Column("owner", Text),
    Column("thread_id", Text),
    Column("name", Text),
    Column("value", Text),  # JSON
)

messages = Table(
    "messages",
    metadata,
    Column("key", BigInteger),
    Column("owner", Text),
    Column("thread_id", Text),
    Column("seq", BigInteger),
    Column("id", Text),
    Column("role", Text),
    Column("type", Text),
    Column("content", Text),  # JSON
    Column("blobs", Text),  # JSON: what was moved out of the content, and where it was
    Column("extra", Text),  # JSON
    Column("parent_id", Text),
    Column("active", Boolean),  # derived: is it on the way from the root to the active leaf?
    Column("run_id", Text),
    Column("internal", Boolean),
    Column("has_tool_calls", Boolean),  # derived, as is all that follows but the times
    Column("has_reasoning", Boolean),
    Column("has_files", Boolean),
    Column("has_errors", Boolean),
    Column("preview", Text),
    Column("created_at", Instant),
    Column("updated_at", Instant),
)

parts = Table(  # derived
    "parts",
    metadata,
    Column("owner", Text),
    Column("message", BigInteger),
    Column("number", Integer),
    Column("path", Text),
    Column("type", Text),
    Column("tool_name", Text),
    Column("call_id", Text),
    Column("state", Text),
    Column("error", Text),
    Column("interruption", Text),  # why the call never ended
    Column("started_at", Instant),
    Column("ended_at", Instant),
)

runs = Table(
    "runs",
    metadata,
    Column("owner", Text),
    Column("id", Text),
    Column("thread_id", Text),
    Column("message_id", Text),
    Column("agent", Text),
    Column("model", Text),
    Column("status", Text),
    Column("usage", Text),  # JSON
    Column("cost", Float),
    Column("error", Text),  # JSON: any text an agent may say, NUL included
    Column("metadata", Text),  # JSON
    Column("extra", Text),  # JSON
    Column("lease_owner", Text),
    Column("lease_expires_at", Instant),
    Column("last_seq", BigInteger),
    Column("tail", BigInteger),  # SQLite: the newest row of its log in `log_tail`,
    Column("tail_seq", BigInteger),  # the first entry that is there and not in `run_log`,
    Column("tail_rows", Integer),  # and how many rows of `log_tail` that makes
    Column("sealed", Boolean),
    Column("log_dropped_at", Instant),
    Column("created_at", Instant),
    Column("started_at", Instant),
    Column("finished_at", Instant),
    Column("agent_result", Text),  # JSON
)

run_log = Table(
    "run_log",
    metadata,
    Column("owner", Text),
    Column("run_id", Text),
    Column("first_seq", BigInteger),
    Column("last_seq", BigInteger),
    Column("encoding", Text),
    Column("data", LargeBinary),
)

blobs = Table(
    "blobs",
    metadata,
    Column("owner", Text),
    Column("hash", Text),
    Column("size", BigInteger),
    Column("media_type", Text),
    Column("encoding", Text),
    Column("data", LargeBinary),
    Column("created_at", Instant),
)

blob_refs = Table(
    "blob_refs",
    metadata,
    Column("owner", Text),
    Column("message", BigInteger),
    Column("hash", Text),
)

run_blobs = Table(  # pictures that were taken out of a sealed log
    "run_blobs",
    metadata,
    Column("owner", Text),
    Column("run_id", Text),
    Column("hash", Text),
)

consumptions = Table(  # what each response of a model consumed
    "consumptions",
    metadata,
    Column("owner", Text),
    Column("thread_id", Text),
    Column("key", Text),  # of the response: the same wherever it is told again
    Column("counted", Boolean),  # derived: of the rows of one response, the one that totals add
    Column("message_id", Text),
    Column("run_id", Text),
    Column("agent", Text),
    Column("provider", Text),
    Column("model", Text),
    Column("time", Instant),
    Column("input_tokens", BigInteger),
    Column("cached_input_tokens", BigInteger),
    Column("cache_write_tokens", BigInteger),
    Column("output_tokens", BigInteger),
    Column("reasoning_tokens", BigInteger),
    Column("cost", Float),
    Column("price", Text),  # JSON: the rates that the cost was made with
)

sources = Table(
    "sources",
    metadata,
    Column("owner", Text),
    Column("path", Text),
    Column("identity", Text),
    Column("agent", Text),
    Column("thread_id", Text),
    Column("offset", BigInteger),
    Column("hash", Text),
    Column("state", Text),  # JSON
    Column("updated_at", Instant),
)

data_migrations = Table(
    "data_migrations",
    metadata,
    Column("name", Text),
    Column("position", BigInteger),  # the key of the last message looked at
    Column("state", Text),
    Column("seen", BigInteger),
    Column("changed", BigInteger),
    Column("failed", BigInteger),
    Column("report", Text),  # JSON
    Column("started_at", Instant),
    Column("updated_at", Instant),
    Column("finished_at", Instant),
)

api_keys = Table(
    "api_keys",
    metadata,
    Column("id", Text),
    Column("owner", Text),  # NULL: every resource, which only an admin may see
    Column("role", Text),
    Column("hash", Text),  # of the secret, which is kept nowhere
    Column("name", Text),
    Column("created_at", Instant),
    Column("expires_at", Instant),
    Column("revoked_at", Instant),
)

counters = Table(  # for rate limits and budgets, shared by all processes
    "counters",
    metadata,
    Column("name", Text),
    Column("value", Float),
    Column("expires_at", Instant),
)

write_tokens = Table(  # PostgreSQL only: which writes were committed, for those who lost the answer
    "write_tokens",
    metadata,
    Column("token", Text),
    Column("written_at", Instant),
)
