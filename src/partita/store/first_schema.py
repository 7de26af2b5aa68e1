"""The first schema: threads, messages, parts, runs, their log, blobs, consumptions, sources, search.

A new database begins with it, at once; later versions of the schema are steps from here, in `migrations`.
"""

from collections.abc import Iterator

REVISION = "0001"

COMMON = """
CREATE TABLE threads (
    {key},
    owner TEXT NOT NULL,
    id TEXT NOT NULL,
    title TEXT,
    metadata TEXT,
    agent TEXT,
    project TEXT,
    active_leaf_id TEXT,
    next_seq BIGINT NOT NULL,
    message_count INTEGER NOT NULL,
    error_count INTEGER NOT NULL,
    extra TEXT,
    created_at {instant} NOT NULL,
    updated_at {instant} NOT NULL,
    {unique} (owner, id)
);
CREATE INDEX threads_by_id ON threads (id);
CREATE INDEX threads_by_time ON threads (updated_at, id);
CREATE INDEX threads_by_owner_and_time ON threads (owner, updated_at, id);
CREATE INDEX threads_by_agent ON threads (agent, updated_at);
CREATE INDEX threads_by_project ON threads (project, updated_at);

CREATE TABLE thread_labels (
    owner TEXT NOT NULL,
    thread_id TEXT NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (owner, thread_id, name),
    FOREIGN KEY (owner, thread_id) REFERENCES threads (owner, id) ON DELETE CASCADE
){lean};
CREATE INDEX thread_labels_by_value ON thread_labels (name, value, owner, thread_id);

CREATE TABLE messages (
    {key},
    owner TEXT NOT NULL,
    thread_id TEXT NOT NULL,
    seq BIGINT NOT NULL,
    id TEXT NOT NULL,
    role TEXT NOT NULL,
    type TEXT NOT NULL,
    content TEXT NOT NULL,
    blobs TEXT,
    extra TEXT,
    parent_id TEXT,
    active {bool} NOT NULL,
    run_id TEXT,
    internal {bool} NOT NULL,
    has_tool_calls {bool} NOT NULL,
    has_reasoning {bool} NOT NULL,
    has_files {bool} NOT NULL,
    has_errors {bool} NOT NULL,
    preview TEXT NOT NULL,
    created_at {instant} NOT NULL,
    updated_at {instant} NOT NULL,
    {message_key}
    UNIQUE (owner, thread_id, seq),
    UNIQUE (owner, thread_id, id),
    FOREIGN KEY (owner, thread_id) REFERENCES threads (owner, id) ON DELETE CASCADE
);
CREATE INDEX messages_by_run ON messages (run_id, owner) WHERE run_id IS NOT NULL;
CREATE INDEX messages_by_parent ON messages (owner, thread_id, parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX messages_by_time ON messages (owner, created_at, thread_id, id, internal);

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
    interruption TEXT,
    started_at {instant},
    ended_at {instant},
    PRIMARY KEY ({parts_key}),
    FOREIGN KEY ({of_message}) REFERENCES messages ({message}) ON DELETE CASCADE
){lean};
CREATE INDEX parts_by_tool ON parts (tool_name, message) WHERE tool_name IS NOT NULL;
CREATE INDEX parts_by_type ON parts (type, message);
CREATE INDEX parts_by_error ON parts (message) WHERE error IS NOT NULL;

CREATE TABLE runs (
    {run_key}
    owner TEXT NOT NULL,
    id TEXT NOT NULL,
    thread_id TEXT NOT NULL,
    message_id TEXT,
    agent TEXT,
    model TEXT,
    status TEXT NOT NULL,
    usage TEXT,
    cost DOUBLE PRECISION,
    error TEXT,
    metadata TEXT,
    extra TEXT,
    lease_owner TEXT,
    lease_expires_at {instant},
    last_seq BIGINT NOT NULL,
    tail BIGINT,
    tail_seq BIGINT,
    tail_rows INTEGER,
    sealed {bool} NOT NULL,
    log_dropped_at {instant},
    created_at {instant} NOT NULL,
    started_at {instant},
    finished_at {instant},
    {unique} (owner, id),
    FOREIGN KEY (owner, thread_id) REFERENCES threads (owner, id) ON DELETE CASCADE
){fill};
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

CREATE TABLE blob_refs (
    owner TEXT NOT NULL,
    message BIGINT NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (owner, message, hash),
    FOREIGN KEY ({of_message}) REFERENCES messages ({message}) ON DELETE CASCADE,
    FOREIGN KEY (owner, hash) REFERENCES blobs (owner, hash)
){lean};
CREATE INDEX blob_refs_by_hash ON blob_refs (owner, hash);

CREATE TABLE run_blobs (
    owner TEXT NOT NULL,
    run_id TEXT NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (owner, run_id, hash),
    FOREIGN KEY (owner, run_id) REFERENCES runs (owner, id) ON DELETE CASCADE,
    FOREIGN KEY (owner, hash) REFERENCES blobs (owner, hash)
){lean};
CREATE INDEX run_blobs_by_hash ON run_blobs (owner, hash);

CREATE TABLE consumptions (
    owner TEXT NOT NULL,
    thread_id TEXT NOT NULL,
    key TEXT NOT NULL,
    counted {bool} NOT NULL,
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
    price TEXT,
    PRIMARY KEY (owner, thread_id, key),
    FOREIGN KEY (owner, thread_id) REFERENCES threads (owner, id) ON DELETE CASCADE
);
CREATE INDEX consumptions_by_key ON consumptions (owner, key);
CREATE UNIQUE INDEX consumptions_counted ON consumptions (owner, key) WHERE counted;
CREATE INDEX consumptions_by_message ON consumptions (owner, thread_id, message_id, key, counted, model);
CREATE INDEX consumptions_by_time ON consumptions (time, owner) WHERE counted;

CREATE TABLE sources (
    owner TEXT NOT NULL,
    path TEXT NOT NULL,
    identity TEXT,
    agent TEXT,
    thread_id TEXT,
    "offset" BIGINT NOT NULL,
    hash TEXT,
    state TEXT,
    updated_at {instant} NOT NULL,
    PRIMARY KEY (owner, path)
);

CREATE TABLE data_migrations (
    name TEXT NOT NULL PRIMARY KEY,
    position BIGINT NOT NULL,
    state TEXT NOT NULL,
    seen BIGINT NOT NULL,
    changed BIGINT NOT NULL,
    failed BIGINT NOT NULL,
    report TEXT,
    started_at {instant} NOT NULL,
    updated_at {instant} NOT NULL,
    finished_at {instant}
);
"""

SQLITE_WORDS = {
    # AUTOINCREMENT: what is remembered of a dead message or run must never meet a new one.
    "key": "key INTEGER PRIMARY KEY AUTOINCREMENT",
    "unique": "UNIQUE",
    "message_key": "",
    "run_key": "key INTEGER PRIMARY KEY AUTOINCREMENT,",
    "parts_key": "message, number",
    "of_message": "message",
    "message": "key",
    "instant": "INTEGER",
    "bool": "BOOLEAN",
    "bytes": "BLOB",
    "lean": " WITHOUT ROWID",
    "fill": "",
}

SQLITE_SEARCH = """
CREATE VIRTUAL TABLE search USING fts5 (
    owner, title, text, reasoning, tool_input, tool_output,
    tokenize = 'ascii'
);
"""

# No index and no foreign key: what a hundred runs add together lies side by side, on few pages.
SQLITE_TAIL = """
CREATE TABLE log_tail (
    key INTEGER PRIMARY KEY,
    previous INTEGER,
    run INTEGER NOT NULL,
    first_seq INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    data BLOB NOT NULL
);
CREATE TRIGGER runs_leave_no_tail AFTER DELETE ON runs WHEN NOT OLD.sealed
BEGIN DELETE FROM log_tail WHERE run = OLD.key; END;
CREATE VIEW log_append AS
SELECT NULL AS data, NULL AS added, NULL AS adds, NULL AS folded, NULL AS folds, NULL AS swept;
"""

# What `log.quick` does with one statement. Each of `added` and `folded` is: a run, its last entry, how many
# it gets, where in `data` they are, and the first entry it has in the tail.
SQLITE_APPEND = """
CREATE TRIGGER log_append_now INSTEAD OF INSERT ON log_append
BEGIN
    INSERT INTO log_tail (previous, run, first_seq, last_seq, data)
    SELECT runs.tail, runs.key, runs.last_seq + 1, runs.last_seq + json_extract(value, '$[2]'),
        substr(NEW.data, json_extract(value, '$[3]'), json_extract(value, '$[4]'))
    FROM json_each(NEW.added) CROSS JOIN runs
    WHERE runs.key = json_extract(value, '$[0]') AND runs.last_seq = json_extract(value, '$[1]')
        AND runs.status IN ('pending', 'running');
    SELECT RAISE(ABORT, 'a log does not end there') WHERE changes() <> NEW.adds;
    UPDATE runs SET last_seq = row.last_seq, tail = row.key,
        tail_seq = coalesce(runs.tail_seq, row.first_seq), tail_rows = coalesce(runs.tail_rows, 0) + 1
    FROM log_tail AS row
    WHERE NEW.adds > 0 AND row.key > last_insert_rowid() - NEW.adds AND runs.key = row.run;

    INSERT INTO run_log (owner, run_id, first_seq, last_seq, encoding, data)
    SELECT runs.owner, runs.id, coalesce(runs.tail_seq, runs.last_seq + 1),
        runs.last_seq + json_extract(value, '$[2]'), 'open',
        substr(NEW.data, json_extract(value, '$[3]'), json_extract(value, '$[4]'))
    FROM json_each(NEW.folded) CROSS JOIN runs
    WHERE runs.key = json_extract(value, '$[0]') AND runs.last_seq = json_extract(value, '$[1]')
        AND runs.tail_seq IS json_extract(value, '$[5]') AND runs.status IN ('pending', 'running');
    SELECT RAISE(ABORT, 'a tail does not begin there') WHERE changes() <> NEW.folds;
    UPDATE runs SET last_seq = runs.last_seq + json_extract(value, '$[2]'),
        tail = NULL, tail_seq = NULL, tail_rows = NULL
    FROM json_each(NEW.folded)
    WHERE runs.key = json_extract(value, '$[0]');

    DELETE FROM log_tail WHERE key < coalesce(
        (
            SELECT row.key FROM log_tail AS row CROSS JOIN runs ON runs.key = row.run
            WHERE row.key < (SELECT min(key) + NEW.swept FROM log_tail) AND row.first_seq >= runs.tail_seq
            ORDER BY row.key LIMIT 1
        ),
        (SELECT min(key) + NEW.swept FROM log_tail)
    );
END
"""

POSTGRES_WORDS = {
    "key": "key BIGINT NOT NULL GENERATED BY DEFAULT AS IDENTITY",
    "unique": "PRIMARY KEY",
    "message_key": "PRIMARY KEY (owner, key),",
    "run_key": "",
    "parts_key": "owner, message, number",
    "of_message": "owner, message",
    "message": "owner, key",
    "instant": "TIMESTAMPTZ",
    "bool": "BOOLEAN",
    "bytes": "BYTEA",
    "lean": "",
    "fill": " WITH (fillfactor = 60)",  # every append moves `last_seq`: leave room to do it in place
}

POSTGRES_SEARCH = """
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
CREATE TABLE write_tokens (
    token TEXT NOT NULL PRIMARY KEY,
    written_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX write_tokens_by_time ON write_tokens (written_at);
"""


def statements(*, lite: bool) -> Iterator[str]:
    """What makes the tables."""
    words = SQLITE_WORDS if lite else POSTGRES_WORDS
    script = COMMON.format(**words) + (SQLITE_SEARCH + SQLITE_TAIL if lite else POSTGRES_SEARCH)
    yield from (statement for statement in script.split(";\n") if statement.strip())
    if lite:
        yield SQLITE_APPEND
