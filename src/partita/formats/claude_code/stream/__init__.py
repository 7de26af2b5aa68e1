"""Claude Code's live stream: events of `stream-json` and of the Agent SDK → chunks, one message a turn."""

from .decoder import ClaudeStreamDecoder

__all__ = ["ClaudeStreamDecoder"]
