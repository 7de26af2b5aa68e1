"""What the server is given: agents, sessions, examples."""
