"""The second schema: keys that let programs in."""

from collections.abc import Iterator

REVISION = "0002"

# The owner is NULL when a key may see every resource; `""` would be the rows of nobody, and is refused.
SCRIPT = """
CREATE TABLE api_keys (
    id TEXT NOT NULL PRIMARY KEY,
    owner TEXT,
    role TEXT NOT NULL,
    hash TEXT NOT NULL,
    name TEXT,
    created_at {instant} NOT NULL,
    expires_at {instant},
    revoked_at {instant},
    CHECK (role IN ('read', 'write', 'admin')),
    CHECK (owner <> ''),
    CHECK (owner IS NOT NULL OR role = 'admin')
);
CREATE INDEX api_keys_by_owner ON api_keys (owner, created_at, id);
"""


def statements(*, lite: bool) -> Iterator[str]:
    """What makes the table."""
    script = SCRIPT.format(instant="INTEGER" if lite else "TIMESTAMPTZ")
    yield from (statement for statement in script.split(";\n") if statement.strip())
