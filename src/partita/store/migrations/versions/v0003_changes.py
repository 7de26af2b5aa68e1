"""When a thread was last changed."""

from alembic import op

from partita.store.change_schema import REVISION, statements
from partita.store.key_schema import REVISION as BEFORE

revision = REVISION
down_revision = BEFORE


def upgrade() -> None:
    """Add the column."""
    for statement in statements(lite=op.get_context().dialect.name == "sqlite"):
        op.execute(statement)
