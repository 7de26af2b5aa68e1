"""Chunks → messages, and bytes → chunks: state machines without I/O."""
