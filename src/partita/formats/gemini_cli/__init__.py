"""Gemini CLI: the chats it records, and its output with `--output-format stream-json`."""
