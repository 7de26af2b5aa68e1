"""Threads and messages for assistant-ui, whose pages keep what they show with whoever offers these routes."""
