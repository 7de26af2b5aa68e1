"""Checks, defaults, and contents that PostgreSQL can query."""

from alembic import op

from partita.store.content_schema import REVISION, statements
from partita.store.result_schema import REVISION as BEFORE

revision = REVISION
down_revision = BEFORE


def upgrade() -> None:
    """Add them."""
    connection = op.get_bind()
    for statement in statements(lite=connection.dialect.name == "sqlite"):
        connection.exec_driver_sql(statement)
