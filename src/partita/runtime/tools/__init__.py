"""Typed functions as tools: what a model sees of them, and how their calls run."""
