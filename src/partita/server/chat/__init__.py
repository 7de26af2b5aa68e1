"""The chat of the AI SDK: send, resume, stop."""
