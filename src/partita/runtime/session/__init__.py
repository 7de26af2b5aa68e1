"""Durable runs of agents: all that an agent emits is stored before a client receives it."""
