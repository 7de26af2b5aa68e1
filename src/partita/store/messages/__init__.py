"""Messages: rows, queries, writing, edits, parts."""
