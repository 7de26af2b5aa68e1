"""The sixth schema: keys may have the role `chat`."""

from collections.abc import Iterator

REVISION = "0006"

BEFORE = "role IN ('read', 'write', 'admin')"
ROLES = "role IN ('read', 'chat', 'write', 'admin')"


def statements(*, lite: bool) -> Iterator[str]:
    """The statements that change the check."""
    if not lite:
        yield "ALTER TABLE api_keys DROP CONSTRAINT api_keys_role_check"  # the name that PostgreSQL gave it
        yield f"ALTER TABLE api_keys ADD CONSTRAINT api_keys_role_check CHECK ({ROLES})"
        return
    # SQLite has no ALTER for this: see `content_schema`.
    before, after = (text.replace("'", "''") for text in (BEFORE, ROLES))
    yield "PRAGMA writable_schema = ON"
    yield f"UPDATE sqlite_master SET sql = replace(sql, '{before}', '{after}') WHERE name = 'api_keys'"
    yield "PRAGMA writable_schema = RESET"
    # It changes nothing, but makes other connections read the changed schema.
    yield "DROP INDEX api_keys_by_owner"
    yield "CREATE INDEX api_keys_by_owner ON api_keys (owner, created_at, id)"
