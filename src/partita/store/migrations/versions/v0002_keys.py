"""Keys that let programs in."""

from alembic import op

from partita.store.first_schema import REVISION as FIRST
from partita.store.key_schema import REVISION, statements

revision = REVISION
down_revision = FIRST


def upgrade() -> None:
    """Make the table."""
    for statement in statements(lite=op.get_context().dialect.name == "sqlite"):
        op.execute(statement)
