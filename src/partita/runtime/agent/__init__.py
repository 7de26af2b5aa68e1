"""Agents that call a model and run tools."""
