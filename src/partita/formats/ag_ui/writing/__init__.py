"""Canonical messages → AG-UI messages."""
