"""The third schema: when a thread was last changed in any way, for those who follow what happens."""

from collections.abc import Iterator

REVISION = "0003"

# The default stands for a time before anybody could follow it, so that no row has to be written anew.
SCRIPT = """
ALTER TABLE threads ADD COLUMN changed_at {instant} NOT NULL DEFAULT {never};
CREATE INDEX threads_by_change ON threads (changed_at);
"""


def statements(*, lite: bool) -> Iterator[str]:
    """What adds the column."""
    never = "0" if lite else "'1970-01-01T00:00:00Z'"
    script = SCRIPT.format(instant="INTEGER" if lite else "TIMESTAMPTZ", never=never)
    yield from (statement for statement in script.split(";\n") if statement.strip())
