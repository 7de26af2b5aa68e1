r"""The tables of the store, for SQLite and PostgreSQL.

The SQL below is the only description of the schema: a new database executes it, and the `Table` objects that
queries are built from are read from it. Never change it for databases that exist: add a step to `migrations`.

Every key begins with the owner (`""`: no owner), so that the tables can be partitioned by it. The rows of
threads, messages and runs are the data; columns and tables marked "derived" can be computed from them.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    DateTime,
    Dialect,
    Float,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    and_,
)
from sqlalchemy.types import TypeDecorator, TypeEngine

COMMON: Final = """
CREATE TABLE threads (
    key {identity},
    owner TEXT NOT NULL,
    id TEXT NOT NULL DEFAULT {new_id},
    title TEXT,
    metadata TEXT,  -- JSON
    agent TEXT,
    project TEXT,
    active_leaf_id TEXT,
    next_seq BIGINT NOT NULL,
    message_count INTEGER NOT NULL,  -- derived: messages of the active branch that are not internal
    error_count INTEGER NOT NULL,  -- derived: messages with errors
    extra TEXT,  -- JSON: members of the thread that have no column
    created_at {instant} NOT NULL DEFAULT {now},  -- {never}: unknown, like other times that are NOT NULL
    updated_at {instant} NOT NULL DEFAULT {now},  -- of its newest message
    changed_at {instant} NOT NULL DEFAULT {never},  -- when this row was last written
    repository TEXT,  -- derived: the git repository with the project, or else the project
    {unique} (owner, id)
);
CREATE INDEX threads_by_id ON threads (id);
CREATE INDEX threads_by_time ON threads (updated_at, id);
CREATE INDEX threads_by_owner_and_time ON threads (owner, updated_at, id);
CREATE INDEX threads_by_agent ON threads (agent, updated_at);
CREATE INDEX threads_by_project ON threads (project, updated_at);
CREATE INDEX threads_by_change ON threads (changed_at);
CREATE INDEX threads_by_repository ON threads (repository, updated_at);

-- Derived: the scalar values of a thread's metadata, for filters.
CREATE TABLE thread_labels (
    owner TEXT NOT NULL,
    thread_id TEXT NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,  -- JSON
    PRIMARY KEY (owner, thread_id, name),
    FOREIGN KEY (owner, thread_id) REFERENCES threads (owner, id) ON DELETE CASCADE
){without_rowid};
CREATE INDEX thread_labels_by_value ON thread_labels (name, value, owner, thread_id);

CREATE TABLE messages (
    key {identity},
    owner TEXT NOT NULL,
    thread_id TEXT NOT NULL,
    seq BIGINT NOT NULL,
    id TEXT NOT NULL DEFAULT {new_id},
    role TEXT NOT NULL CONSTRAINT messages_role CHECK (role IN ('system', 'user', 'assistant', 'tool')),
    type TEXT NOT NULL CONSTRAINT messages_type CHECK (type IN ('text', 'tool', 'event')),
    content TEXT NOT NULL,  -- JSON
    blobs TEXT,  -- JSON: the values that were moved out of the content, and their paths
    extra TEXT,  -- JSON: members of the message that have no column
    parent_id TEXT,
    active BOOLEAN NOT NULL,  -- derived: on the path from the root to the thread's active leaf
    run_id TEXT,
    internal BOOLEAN NOT NULL,
    has_tool_calls BOOLEAN NOT NULL,  -- derived, like the four columns below
    has_reasoning BOOLEAN NOT NULL,
    has_files BOOLEAN NOT NULL,
    has_errors BOOLEAN NOT NULL,
    preview TEXT NOT NULL,
    created_at {instant} NOT NULL DEFAULT {now},
    updated_at {instant} NOT NULL DEFAULT {now},
    parts_summary TEXT,  -- derived: the calls and the reasoning, see `store.messages.parts_summary`
    {message_key}
    UNIQUE (owner, thread_id, seq),
    UNIQUE (owner, thread_id, id),
    FOREIGN KEY (owner, thread_id) REFERENCES threads (owner, id) ON DELETE CASCADE
);
CREATE INDEX messages_by_run ON messages (run_id, owner) WHERE run_id IS NOT NULL;
CREATE INDEX messages_by_parent ON messages (owner, thread_id, parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX messages_by_time ON messages (owner, created_at, thread_id, id, internal);
CREATE INDEX messages_with_tool_calls ON messages (owner, thread_id, seq) WHERE has_tool_calls;

-- Derived from the content of messages.
CREATE TABLE parts (
    owner TEXT NOT NULL,
    message BIGINT NOT NULL,
    number INTEGER NOT NULL,
    path TEXT NOT NULL,
    type TEXT NOT NULL,
    tool_name TEXT,
    call_id TEXT,
    state TEXT,
    error TEXT,
    interruption TEXT,  -- why the call has no output
    started_at {instant},
    ended_at {instant},
    PRIMARY KEY ({parts_key}),
    FOREIGN KEY ({message_ref}) REFERENCES messages ({message_target}) ON DELETE CASCADE
){without_rowid};
CREATE INDEX parts_by_tool ON parts (tool_name, message) WHERE tool_name IS NOT NULL;
CREATE INDEX parts_by_type ON parts (type, message);
CREATE INDEX parts_by_error ON parts (message) WHERE error IS NOT NULL;

CREATE TABLE runs (
    {run_key}
    owner TEXT NOT NULL,
    id TEXT NOT NULL DEFAULT {new_id},
    thread_id TEXT NOT NULL,
    message_id TEXT,
    agent TEXT,
    model TEXT,
    status TEXT NOT NULL,
    usage TEXT,  -- JSON
    cost DOUBLE PRECISION,
    error TEXT,  -- JSON, because an error text may contain NUL
    metadata TEXT,  -- JSON
    extra TEXT,  -- JSON
    lease_owner TEXT,
    lease_expires_at {instant},
    last_seq BIGINT NOT NULL,
    tail_seq BIGINT,  -- SQLite: the first entry that is only in `log_tail`
    sealed BOOLEAN NOT NULL,
    log_dropped_at {instant},
    created_at {instant} NOT NULL DEFAULT {now},
    started_at {instant},
    finished_at {instant},
    agent_result TEXT,  -- JSON
    {unique} (owner, id),
    FOREIGN KEY (owner, thread_id) REFERENCES threads (owner, id) ON DELETE CASCADE
){options};
CREATE INDEX runs_by_id ON runs (id);
CREATE INDEX runs_by_thread ON runs (owner, thread_id, created_at, id);
CREATE INDEX runs_by_time ON runs (created_at, id);
CREATE INDEX runs_by_owner_and_time ON runs (owner, created_at, id);
CREATE INDEX runs_at_work ON runs (status, lease_expires_at) WHERE finished_at IS NULL;
CREATE INDEX runs_to_seal ON runs (finished_at) WHERE NOT sealed;

CREATE TABLE run_log (
    owner TEXT NOT NULL,
    run_id TEXT NOT NULL,
    first_seq BIGINT NOT NULL,
    last_seq BIGINT NOT NULL,
    encoding TEXT NOT NULL,
    data {bytes} NOT NULL,
    PRIMARY KEY (owner, run_id, first_seq),
    FOREIGN KEY (owner, run_id) REFERENCES runs (owner, id) ON DELETE CASCADE
);

CREATE TABLE blobs (
    owner TEXT NOT NULL,
    hash TEXT NOT NULL,
    size BIGINT NOT NULL,
    media_type TEXT,
    encoding TEXT NOT NULL,
    data {bytes} NOT NULL,
    created_at {instant} NOT NULL,
    PRIMARY KEY (owner, hash)
);
CREATE INDEX blobs_by_hash ON blobs (hash);

-- The blobs that messages refer to.
CREATE TABLE blob_refs (
    owner TEXT NOT NULL,
    message BIGINT NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (owner, message, hash),
    FOREIGN KEY ({message_ref}) REFERENCES messages ({message_target}) ON DELETE CASCADE,
    FOREIGN KEY (owner, hash) REFERENCES blobs (owner, hash)
){without_rowid};
CREATE INDEX blob_refs_by_hash ON blob_refs (owner, hash);

-- The files that were moved out of a sealed log.
CREATE TABLE run_blobs (
    owner TEXT NOT NULL,
    run_id TEXT NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (owner, run_id, hash),
    FOREIGN KEY (owner, run_id) REFERENCES runs (owner, id) ON DELETE CASCADE,
    FOREIGN KEY (owner, hash) REFERENCES blobs (owner, hash)
){without_rowid};
CREATE INDEX run_blobs_by_hash ON run_blobs (owner, hash);

-- The tokens and the cost of every model response.
CREATE TABLE consumptions (
    owner TEXT NOT NULL,
    thread_id TEXT NOT NULL,
    key TEXT NOT NULL,  -- identifies the response: the same in every thread that has a copy of it
    counted BOOLEAN NOT NULL,  -- derived: the one row of a response that totals include
    message_id TEXT,
    run_id TEXT,
    agent TEXT,
    provider TEXT,
    model TEXT,
    time {instant} NOT NULL,
    input_tokens BIGINT NOT NULL,
    cached_input_tokens BIGINT NOT NULL,
    cache_write_tokens BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL,
    reasoning_tokens BIGINT NOT NULL,
    cost DOUBLE PRECISION,
    price TEXT,  -- JSON: the rates that the cost was computed with
    PRIMARY KEY (owner, thread_id, key),
    FOREIGN KEY (owner, thread_id) REFERENCES threads (owner, id) ON DELETE CASCADE
);
CREATE INDEX consumptions_by_key ON consumptions (owner, key);
CREATE UNIQUE INDEX consumptions_counted ON consumptions (owner, key) WHERE counted;
CREATE INDEX consumptions_by_message ON consumptions (owner, thread_id, message_id, key, counted, model);
CREATE INDEX consumptions_by_time ON consumptions (time, owner) WHERE counted;

-- The files that were imported, and how far.
CREATE TABLE sources (
    owner TEXT NOT NULL,
    path TEXT NOT NULL,
    identity TEXT,
    agent TEXT,
    thread_id TEXT,
    "offset" BIGINT NOT NULL,
    hash TEXT,
    state TEXT,  -- JSON
    updated_at {instant} NOT NULL,
    PRIMARY KEY (owner, path)
);

-- The progress of `partita migrate`.
CREATE TABLE data_migrations (
    name TEXT NOT NULL PRIMARY KEY,
    position BIGINT NOT NULL,  -- the key of the last message that was read
    state TEXT NOT NULL,
    seen BIGINT NOT NULL,
    changed BIGINT NOT NULL,
    failed BIGINT NOT NULL,
    report TEXT,  -- JSON
    started_at {instant} NOT NULL,
    updated_at {instant} NOT NULL,
    finished_at {instant}
);

CREATE TABLE api_keys (
    id TEXT NOT NULL PRIMARY KEY,
    owner TEXT,  -- NULL: all owners, which only the role `admin` may have
    role TEXT NOT NULL,
    hash TEXT NOT NULL,  -- of the secret, which is not stored
    name TEXT,
    created_at {instant} NOT NULL,
    expires_at {instant},
    revoked_at {instant},
    CHECK (role IN ('read', 'chat', 'write', 'admin')),
    CHECK (owner <> ''),
    CHECK (owner IS NOT NULL OR role = 'admin')
);
CREATE INDEX api_keys_by_owner ON api_keys (owner, created_at, id);

-- Rate limits and budgets, shared by all processes.
CREATE TABLE counters (
    name TEXT NOT NULL PRIMARY KEY,
    value DOUBLE PRECISION NOT NULL,
    expires_at {instant} NOT NULL
);
"""

SQLITE_TYPES: Final = {
    # AUTOINCREMENT: rows of other tables refer to the key of a deleted message or run until they are cleaned
    # up, so the key must never be used again.
    "identity": "INTEGER PRIMARY KEY AUTOINCREMENT",
    "unique": "UNIQUE",
    "message_key": "",
    "run_key": "key INTEGER PRIMARY KEY AUTOINCREMENT,",
    "parts_key": "message, number",
    "message_ref": "message",
    "message_target": "key",
    "instant": "INTEGER",  # microseconds since 1970
    "bytes": "BLOB",
    "without_rowid": " WITHOUT ROWID",
    "options": "",
    "now": "(CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER))",
    "never": "0",
    "new_id": (
        "(lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2)"
        " || '-a' || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6))))"
    ),
}

SQLITE: Final = """
CREATE VIRTUAL TABLE search USING fts5 (
    owner, title, text, reasoning, tool_input, tool_output,
    tokenize = 'ascii'
);

CREATE TABLE log_tail (
    key INTEGER PRIMARY KEY,
    run INTEGER NOT NULL,
    first_seq INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    data BLOB NOT NULL
);
"""

# SQLite writes whole pages. In `run_log` every run has a page of its own, so a commit with a row for each of
# a hundred runs would write a hundred pages. New rows are therefore put at the end of `log_tail`. Later, all
# rows that a run has there become one row of `run_log` ("folded"), and `tail_seq` of the run is the first
# entry that is not folded. Folded rows are deleted in the order of their keys, since neighbours share a page.
#
# An insert into the view `log_append` appends to the logs of any number of runs: `data` has the entries of
# all of them, and each element of `batches` is an array with the owner and the id of a run, the number of its
# entries, and their start and length in `data`. Without an owner (null), the id must belong to one run only.
# `log_batch` appends to one run, by its key, and `log_fold` folds a run. They are triggers because Python
# releases its interpreter lock for every statement, and the writer thread has to get it back from a busy
# event loop: seven statements took twice as long as one.
SQLITE_LOG: Final = """
CREATE INDEX log_tail_by_run ON log_tail (run, first_seq);
CREATE TRIGGER log_tail_delete AFTER DELETE ON runs WHEN NOT OLD.sealed
BEGIN DELETE FROM log_tail WHERE run = OLD.key; END;

CREATE VIEW log_fold AS SELECT NULL AS run;
CREATE TRIGGER log_fold_insert INSTEAD OF INSERT ON log_fold
BEGIN
    INSERT INTO run_log (owner, run_id, first_seq, last_seq, encoding, data)
    SELECT runs.owner, runs.id, runs.tail_seq, runs.last_seq, 'open', joined
    FROM runs CROSS JOIN (
        -- `group_concat` joins nothing but text; the casts do not change a byte.
        SELECT sum(last_seq + 1 - first_seq) AS entries,
            CAST(group_concat(CAST(data AS TEXT), '') AS BLOB) AS joined
        FROM (
            SELECT first_seq, last_seq, data FROM log_tail
            WHERE run = NEW.run AND first_seq >= (SELECT tail_seq FROM runs WHERE key = NEW.run)
            ORDER BY first_seq
        )
    )
    WHERE runs.key = NEW.run AND entries = runs.last_seq + 1 - runs.tail_seq;
    -- If a row is missing, the others are not joined, so that they can still be read.
    INSERT INTO run_log (owner, run_id, first_seq, last_seq, encoding, data)
    SELECT runs.owner, runs.id, row.first_seq, row.last_seq, 'open', row.data
    FROM runs CROSS JOIN log_tail AS row ON row.run = runs.key
    WHERE changes() = 0 AND runs.key = NEW.run AND row.first_seq >= runs.tail_seq;
    UPDATE runs SET tail_seq = NULL WHERE key = NEW.run;
END;

CREATE VIEW log_batch AS SELECT NULL AS run, NULL AS entries, NULL AS data;
CREATE TRIGGER log_batch_small INSTEAD OF INSERT ON log_batch WHEN length(NEW.data) < 4096
BEGIN
    INSERT INTO log_tail (run, first_seq, last_seq, data)
    SELECT key, last_seq + 1, last_seq + NEW.entries, NEW.data FROM runs WHERE key = NEW.run;
    UPDATE runs SET last_seq = last_seq + NEW.entries, tail_seq = coalesce(tail_seq, last_seq + 1)
    WHERE key = NEW.run;
END;
-- A batch that fills a page goes to `run_log` at once, behind what the run has in `log_tail`.
CREATE TRIGGER log_batch_large INSTEAD OF INSERT ON log_batch WHEN length(NEW.data) >= 4096
BEGIN
    INSERT INTO log_fold (run) VALUES (NEW.run);
    INSERT INTO run_log (owner, run_id, first_seq, last_seq, encoding, data)
    SELECT owner, id, last_seq + 1, last_seq + NEW.entries, 'open', NEW.data FROM runs WHERE key = NEW.run;
    UPDATE runs SET last_seq = last_seq + NEW.entries WHERE key = NEW.run;
END;

CREATE VIEW log_append AS SELECT NULL AS data, NULL AS batches;
CREATE TRIGGER log_append_insert INSTEAD OF INSERT ON log_append
BEGIN
    INSERT INTO log_batch (run, entries, data)
    SELECT runs.key, json_extract(value, '$[2]'),
        substr(NEW.data, json_extract(value, '$[3]'), json_extract(value, '$[4]'))
    FROM json_each(NEW.batches) CROSS JOIN runs
    WHERE runs.status IN ('pending', 'running') AND runs.key = (
        SELECT CASE count(*) WHEN 1 THEN min(named.key) END FROM runs AS named
        WHERE named.id = json_extract(value, '$[1]')
            AND named.owner = coalesce(json_extract(value, '$[0]'), named.owner)
    );
    -- `log_tail` may have 24 rows for each run of this append. If it has more, the runs with the oldest rows
    -- are folded: more runs, the longer it is. A run that rests does not keep others from being deleted.
    INSERT INTO log_fold (run)
    SELECT row.run FROM log_tail AS row CROSS JOIN runs ON runs.key = row.run
    WHERE row.first_seq >= runs.tail_seq AND row.key < (SELECT min(key) FROM log_tail) + (
        (SELECT max(key) FROM log_tail) - (SELECT min(key) FROM log_tail)
            - 24 * json_array_length(NEW.batches)
    ) / 256;
    DELETE FROM log_tail WHERE key < coalesce(
        (
            SELECT row.key FROM log_tail AS row CROSS JOIN runs ON runs.key = row.run
            WHERE row.key < (SELECT min(key) FROM log_tail) + 2 * json_array_length(NEW.batches)
                AND row.first_seq >= runs.tail_seq
            ORDER BY row.key LIMIT 1
        ),
        (SELECT min(key) FROM log_tail) + 2 * json_array_length(NEW.batches)
    );
END;
"""

POSTGRES_TYPES: Final = {
    "identity": "BIGINT NOT NULL GENERATED BY DEFAULT AS IDENTITY",
    "unique": "PRIMARY KEY",
    "message_key": "PRIMARY KEY (owner, key),",
    "run_key": "",
    "parts_key": "owner, message, number",
    "message_ref": "owner, message",
    "message_target": "owner, key",
    "instant": "TIMESTAMPTZ",
    "bytes": "BYTEA",
    "without_rowid": "",
    "options": " WITH (fillfactor = 60)",  # every append updates `last_seq`: leave room to do it in place
    "now": "now()",
    "never": "'1970-01-01T00:00:00Z'",
    "new_id": "gen_random_uuid()::text",
}

# The view `message_contents` has the content of messages as `jsonb`, with an index. It parses the text of
# the table, so nothing is stored twice. `jsonb` cannot hold `\u0000` or half a surrogate pair:
# `partita_jsonb` writes them as the text of their escape, with a backslash. Text that is not JSON, left by
# other systems, becomes a JSON string. A backslash escapes the next character, so an escape begins after an
# even number of them. The function is PARALLEL UNSAFE, the default, since exceptions need a subtransaction.
POSTGRES: Final = r"""
CREATE TABLE search (
    owner TEXT NOT NULL,
    key BIGINT NOT NULL,
    number INTEGER NOT NULL,
    words TSVECTOR NOT NULL,
    PRIMARY KEY (owner, key, number)
);
CREATE INDEX search_by_word ON search USING gin (words) WHERE number = 0;
CREATE INDEX search_by_key ON search (key) WHERE number = 0;
CREATE INDEX messages_by_key ON messages (key);
CREATE INDEX threads_by_key ON threads (key);

-- The writes that were committed, for a client that lost the response of the server.
CREATE TABLE write_tokens (
    token TEXT NOT NULL PRIMARY KEY,
    written_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX write_tokens_by_time ON write_tokens (written_at);

CREATE FUNCTION partita_jsonb(content text) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE STRICT AS $function$
BEGIN
    IF content ~ '\\u(0000|[dD][89a-fA-F])' THEN
        content := regexp_replace(content, '(?<!\\)((?:\\\\)*)\\u0000', '\1\\\\u0000', 'g');
        content := regexp_replace(
            content,
            '(?<!\\)((?:\\\\)*)\\u([dD][89abAB][0-9a-fA-F]{2})(?!\\u[dD][c-fC-F][0-9a-fA-F]{2})',
            '\1\\\\u\2',
            'g'
        );
        content := regexp_replace(
            content,
            '(?<!\\)(?<!\\u[dD][89abAB][0-9a-fA-F]{2})((?:\\\\)*)\\u([dD][c-fC-F][0-9a-fA-F]{2})',
            '\1\\\\u\2',
            'g'
        );
    END IF;
    RETURN content::jsonb;
EXCEPTION WHEN OTHERS THEN
    RETURN to_jsonb(content);
END
$function$;
CREATE VIEW message_contents AS
SELECT owner, thread_id, seq, id, role, type, partita_jsonb(content) AS content, parent_id, run_id, active,
    internal, has_tool_calls, has_reasoning, has_files, has_errors, created_at, updated_at
FROM messages;
CREATE INDEX messages_by_content ON messages USING gin (partita_jsonb(content) jsonb_path_ops);
"""


COUNT_MESSAGES: Final = """
UPDATE threads SET message_count = (
    SELECT count(*) FROM messages m
    WHERE m.owner = threads.owner AND m.thread_id = threads.id AND m.active AND NOT m.internal
)
"""
"""Compute `message_count` of threads: the messages of the active branch that are not internal."""


def create_statements(dialect: str) -> Iterator[str]:
    """The statements that create all tables, for `sqlite` or `postgresql`."""
    if dialect == "sqlite":
        script = COMMON.format_map(SQLITE_TYPES) + SQLITE + SQLITE_LOG
    else:
        script = COMMON.format_map(POSTGRES_TYPES) + POSTGRES
    yield from split_statements(script)


def split_statements(script: str) -> Iterator[str]:
    """The statements of a script, without comments."""
    script = re.sub(" *--.*", "", script)
    # Statements inside a trigger or a function never begin with CREATE.
    yield from (statement for statement in re.split(r";\s+(?=CREATE )|;\s+\Z", script.lstrip()) if statement)


def without_checks(dialect: str) -> tuple[str, str]:
    """The statements that switch the checks of roles and types off, and on again for rows written later."""
    if dialect == "sqlite":
        return "PRAGMA ignore_check_constraints = ON", "PRAGMA ignore_check_constraints = OFF"
    checks = re.findall(r"CONSTRAINT (\w+) (CHECK .*),\n", COMMON)
    dropped = [f"DROP CONSTRAINT {name}" for name, _ in checks]
    added = [f"ADD CONSTRAINT {name} {check} NOT VALID" for name, check in checks]
    return f"ALTER TABLE messages {', '.join(dropped)}", f"ALTER TABLE messages {', '.join(added)}"


EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND: Final = timedelta(microseconds=1)


def to_microseconds(time: datetime) -> int:
    """The number that SQLite stores for a time: microseconds since 1970."""
    return (time - EPOCH) // MICROSECOND


def from_microseconds(number: int) -> datetime:
    """The time for a number that SQLite stored."""
    return EPOCH + number * MICROSECOND


class Instant(TypeDecorator[datetime]):
    """The column type of times: `timestamptz` in PostgreSQL, an integer of microseconds in SQLite."""

    impl = DateTime
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """The type that the engine uses."""
        own: TypeEngine[Any] = BigInteger() if dialect.name == "sqlite" else DateTime(timezone=True)
        return dialect.type_descriptor(own)

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        """The value for the driver."""
        return to_microseconds(value) if value is not None and dialect.name == "sqlite" else value

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        """The value from the driver."""
        return from_microseconds(value) if isinstance(value, int) else value


NEVER: Final = EPOCH
"""What a time column that is not nullable holds if the time is unknown. It is before all other times."""


class RequiredInstant(Instant):
    """The column type of times that are not nullable. In Python an unknown time is `None`."""

    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        """The value for the driver."""
        return super().process_bind_param(value or NEVER, dialect)

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        """The value from the driver."""
        return known_time(super().process_result_value(value, dialect))


def known_time(time: datetime | None) -> datetime | None:
    """A stored time, or `None` if it is unknown."""
    return None if time == NEVER else time


def is_before(column: ColumnElement[Any], time: datetime) -> ColumnElement[bool]:
    """The condition that a time is known, and before another one."""
    return and_(column < time, column > NEVER)


COLUMN_TYPES: Final[dict[str, type[TypeEngine[Any]]]] = {
    "TEXT": Text,
    "BIGINT": BigInteger,
    "INTEGER": Integer,
    "BOOLEAN": Boolean,
    "DOUBLE PRECISION": Float,
    "TIMESTAMPTZ": Instant,
    "{identity}": BigInteger,
    "{instant} NOT NULL DEFAULT {never}": Instant,
    "{instant} NOT NULL": RequiredInstant,
    "{instant}": Instant,
    "{bytes}": LargeBinary,
}
COLUMN: Final = re.compile(rf' +"?(\w+)"? ({"|".join(map(re.escape, COLUMN_TYPES))})')

metadata = MetaData()


def _table(name: str) -> Table:
    """The table with the columns that the SQL declares; keys and constraints are not needed for queries."""
    declared = re.search(rf"CREATE TABLE {name} \((.*?)\n\)", COMMON + POSTGRES, re.DOTALL)
    assert declared is not None, f"no table {name}"
    columns = filter(None, map(COLUMN.match, declared[1].splitlines()))
    return Table(name, metadata, *(Column(column[1], COLUMN_TYPES[column[2]]) for column in columns))


threads = _table("threads")
thread_labels = _table("thread_labels")
messages = _table("messages")
parts = _table("parts")
runs = _table("runs")
run_log = _table("run_log")
blobs = _table("blobs")
blob_refs = _table("blob_refs")
run_blobs = _table("run_blobs")
consumptions = _table("consumptions")
sources = _table("sources")
data_migrations = _table("data_migrations")
api_keys = _table("api_keys")
counters = _table("counters")
write_tokens = _table("write_tokens")
