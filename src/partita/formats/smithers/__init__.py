"""Rows of Smithers: agents and their stream events, tool calls, memory messages."""
