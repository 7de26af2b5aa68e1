"""UI messages of AI SDK 4 to 7 ↔ canonical messages."""
