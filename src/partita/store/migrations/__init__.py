"""The schema, version by version. Alembic runs these; `partita.store.schema` decides when."""
