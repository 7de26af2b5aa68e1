"""Claude Code: its session logs and its stream, and back."""
