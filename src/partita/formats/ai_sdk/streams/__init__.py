"""Streams of the AI SDK that are not UI message chunks → chunks."""
