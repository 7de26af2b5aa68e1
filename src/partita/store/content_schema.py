r"""The fifth schema: what the database itself checks, fills in, and can query in messages.

Both engines check `role` and `type`, fill in ids and times for rows that are inserted with SQL, and index the
messages that have tool calls. PostgreSQL also has the view `message_contents`, whose `content` is `jsonb`,
and an index on it. There is no second copy: the view parses the text of the table.

`jsonb` holds neither `\u0000` nor half a surrogate pair. The function `partita_jsonb` writes them as the text
of their escape, with a backslash. Text that is not JSON, which other systems left, becomes a JSON string.
"""

from collections.abc import Iterator

REVISION = "0005"

ROLES = "'system', 'user', 'assistant', 'tool'"
TYPES = "'text', 'tool', 'event'"

BOTH = "CREATE INDEX messages_with_tool_calls ON messages (owner, thread_id, seq) WHERE has_tool_calls"

# A row that was there before and does not fit stays readable; `partita doctor` reports it.
ADD_CHECKS = f"""
ALTER TABLE messages
    ADD CONSTRAINT messages_role CHECK (role IN ({ROLES})) NOT VALID,
    ADD CONSTRAINT messages_type CHECK (type IN ({TYPES})) NOT VALID
"""
DROP_CHECKS = "ALTER TABLE messages DROP CONSTRAINT messages_role, DROP CONSTRAINT messages_type"

POSTGRES = """
ALTER TABLE messages
    ALTER id SET DEFAULT gen_random_uuid()::text,
    ALTER created_at SET DEFAULT now(),
    ALTER updated_at SET DEFAULT now();
ALTER TABLE threads
    ALTER id SET DEFAULT gen_random_uuid()::text,
    ALTER created_at SET DEFAULT now(),
    ALTER updated_at SET DEFAULT now();
ALTER TABLE runs
    ALTER id SET DEFAULT gen_random_uuid()::text,
    ALTER created_at SET DEFAULT now();
"""

# Escapes are only looked for where there are any. A backslash escapes the next character, so an escape begins
# behind an even number of them. PARALLEL UNSAFE, the default, is right: an exception needs a subtransaction.
POSTGRES_FUNCTION = r"""
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
$function$
"""

POSTGRES_VIEW = """
CREATE VIEW message_contents AS
SELECT owner, thread_id, seq, id, role, type, partita_jsonb(content) AS content, parent_id, run_id, active,
    internal, has_tool_calls, has_reasoning, has_files, has_errors, created_at, updated_at
FROM messages;
CREATE INDEX messages_by_content ON messages USING gin (partita_jsonb(content) jsonb_path_ops);
"""

SQLITE_NOW = "(CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER))"
SQLITE_ID = (
    "(lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2)"
    " || '-a' || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6))))"
)
SQLITE_COLUMNS = {
    " id TEXT NOT NULL": f" id TEXT NOT NULL DEFAULT {SQLITE_ID}",
    " role TEXT NOT NULL": f" role TEXT NOT NULL CHECK (role IN ({ROLES}))",
    " type TEXT NOT NULL": f" type TEXT NOT NULL CHECK (type IN ({TYPES}))",
    "created_at INTEGER NOT NULL": f"created_at INTEGER NOT NULL DEFAULT {SQLITE_NOW}",
    "updated_at INTEGER NOT NULL": f"updated_at INTEGER NOT NULL DEFAULT {SQLITE_NOW}",
}
"""How columns were declared, and how they are now."""


def statements(*, lite: bool) -> Iterator[str]:
    """The statements that add checks, defaults and indexes; in PostgreSQL the view."""
    yield from _sqlite() if lite else _postgres()
    yield BOTH  # last: in SQLite it also makes other connections read the changed schema


def unchecked(*, lite: bool) -> tuple[str, str]:
    """The statements that switch the checks off for what is written next, and on again."""
    if lite:
        return "PRAGMA ignore_check_constraints = ON", "PRAGMA ignore_check_constraints = OFF"
    return DROP_CHECKS, ADD_CHECKS


def _postgres() -> Iterator[str]:
    yield ADD_CHECKS
    for script in (POSTGRES, POSTGRES_VIEW):
        if script is POSTGRES_VIEW:
            yield POSTGRES_FUNCTION
        yield from (statement for statement in script.split(";\n") if statement.strip())


def _sqlite() -> Iterator[str]:
    """SQLite has no ALTER for this. Its documentation says to edit the schema where no row changes:
    https://www.sqlite.org/lang_altertable.html#otheralter
    """
    changed = "sql"
    for before, after in SQLITE_COLUMNS.items():
        changed = f"replace({changed}, '{_quoted(before)}', '{_quoted(after)}')"
    yield "PRAGMA writable_schema = ON"
    yield (
        f"UPDATE sqlite_master SET sql = {changed}"
        " WHERE type = 'table' AND name IN ('threads', 'messages', 'runs')"
    )
    yield "PRAGMA writable_schema = RESET"


def _quoted(text: str) -> str:
    return text.replace("'", "''")
