"""Agents made of functions that stream, and of agents of other packages."""
