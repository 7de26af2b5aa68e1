"""Session messages of Cherry Studio, of every generation."""
