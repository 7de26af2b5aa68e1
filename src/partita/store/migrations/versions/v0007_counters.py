"""Counters that all processes share."""

from alembic import op

from partita.store.counter_schema import REVISION, statements
from partita.store.role_schema import REVISION as BEFORE

revision = REVISION
down_revision = BEFORE


def upgrade() -> None:
    """Make the table."""
    for statement in statements(lite=op.get_context().dialect.name == "sqlite"):
        op.execute(statement)
