"""Canonical messages → the records of a Codex rollout."""
