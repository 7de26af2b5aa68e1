"""AG-UI: the server's agents, for pages that speak its protocol."""
