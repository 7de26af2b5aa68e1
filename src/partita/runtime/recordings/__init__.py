"""Recordings: what was asked of a model and what it answered, in a file that a test replays."""
