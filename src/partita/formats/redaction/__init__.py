"""Replacing secrets in messages by marks, and leaving out chosen parts, before messages are shared."""
