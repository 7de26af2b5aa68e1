"""Programs that generate files of the repository."""
