"""Model messages of AI SDK 5 to 7 and core messages of 4 ↔ canonical messages."""
