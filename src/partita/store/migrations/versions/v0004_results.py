"""The results of runs."""

from alembic import op

from partita.store.change_schema import REVISION as BEFORE
from partita.store.result_schema import REVISION, statements

revision = REVISION
down_revision = BEFORE


def upgrade() -> None:
    """Add the column."""
    for statement in statements(lite=op.get_context().dialect.name == "sqlite"):
        op.execute(statement)
