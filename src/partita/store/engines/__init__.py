"""The databases of the store: SQLite and PostgreSQL with one interface."""
