"""Agent logs on disk: where they live, reading, following, importing."""
