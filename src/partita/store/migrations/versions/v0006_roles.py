"""The role `chat`."""

from alembic import op

from partita.store.content_schema import REVISION as BEFORE
from partita.store.role_schema import REVISION, statements

revision = REVISION
down_revision = BEFORE


def upgrade() -> None:
    """Change the check of the roles of keys."""
    connection = op.get_bind()
    for statement in statements(lite=connection.dialect.name == "sqlite"):
        connection.exec_driver_sql(statement)
