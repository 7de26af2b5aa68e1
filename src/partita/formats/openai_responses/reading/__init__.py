"""Payloads of the Responses API → messages."""
