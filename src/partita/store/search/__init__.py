"""Full-text search, the same on both engines."""
