"""Coding agents that are programs: Claude Code, Codex, and agents that speak ACP."""
