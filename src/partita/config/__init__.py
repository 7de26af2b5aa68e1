"""Settings: their table, files, environment variables, and which projects are trusted."""
