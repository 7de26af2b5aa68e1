"""The Agent Client Protocol: what an agent and its client say to each other → chunks."""
