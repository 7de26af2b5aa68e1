"""Chunks → the stream of a Chat Completion, and the whole one that it amounts to."""
