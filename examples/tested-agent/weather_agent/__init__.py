"""Answers questions about the weather, once with each vendor's package and once with Partita's agent."""
