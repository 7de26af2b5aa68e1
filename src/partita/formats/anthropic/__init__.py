"""Anthropic's Messages API: its answers, streamed or whole, as chunks; messages as a request."""
