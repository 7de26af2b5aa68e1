"""Where logs are, and whose they are."""
