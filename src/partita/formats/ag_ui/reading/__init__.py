"""AG-UI messages → canonical messages."""
