"""The first schema, for a database that Alembic fills from nothing."""

from alembic import op

from partita.store.first_schema import REVISION, statements

revision = REVISION
down_revision = None


def upgrade() -> None:
    """Make the tables."""
    for statement in statements(lite=op.get_context().dialect.name == "sqlite"):
        op.execute(statement)
