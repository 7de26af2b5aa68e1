"""UI messages of AI SDK 4 ↔ canonical messages."""
