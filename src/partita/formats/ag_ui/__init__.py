"""AG-UI: the messages and events between agents and the pages that show them."""
