"""AG-UI: the messages and events between agents and user interfaces."""
