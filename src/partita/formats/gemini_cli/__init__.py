"""Gemini CLI: the chats it records, and what it prints with `--output-format stream-json`."""
