"""Agents of Pydantic AI."""
