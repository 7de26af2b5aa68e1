"""A store as one file, made while others write, and brought back into either engine."""
