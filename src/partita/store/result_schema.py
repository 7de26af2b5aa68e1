"""The fourth schema: what the agent returned when a run completed."""

from collections.abc import Iterator

REVISION = "0004"


def statements(*, lite: bool) -> Iterator[str]:
    """The statements that add the column, the same on both engines."""
    yield "ALTER TABLE runs ADD COLUMN agent_result TEXT"
