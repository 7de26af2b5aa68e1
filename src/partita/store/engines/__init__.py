"""Where the store is kept: SQLite or PostgreSQL behind one protocol."""
