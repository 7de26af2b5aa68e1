"""Chunks → AG-UI events."""
