"""The session files of Claude Code: records → messages."""
