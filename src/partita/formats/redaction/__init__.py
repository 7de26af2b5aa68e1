"""Secrets found in messages and replaced by marks, and chosen parts left out, before messages are shared."""
