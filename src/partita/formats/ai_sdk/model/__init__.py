"""Model messages of AI SDK 5 to 7, and core messages of AI SDK 4 ↔ canonical messages."""
