"""Where messages, runs, chunks and raw agent data are kept: SQLite or PostgreSQL, one contract."""
