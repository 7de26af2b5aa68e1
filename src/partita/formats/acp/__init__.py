"""The Agent Client Protocol: the messages between an agent and its client → chunks."""
