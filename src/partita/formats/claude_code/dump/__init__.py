"""Canonical messages → the lines of a Claude Code session file."""
