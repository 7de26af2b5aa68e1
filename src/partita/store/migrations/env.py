"""What Alembic runs: the versions, on the connection that the store handed in."""

from alembic import context

context.configure(connection=context.config.attributes["connection"])
context.run_migrations()
