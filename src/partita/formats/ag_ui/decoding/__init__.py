"""AG-UI events → chunks."""
