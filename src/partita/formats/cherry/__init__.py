"""Session messages of all generations of Cherry Studio."""
