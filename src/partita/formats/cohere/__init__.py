"""Cohere v2 chat: requests, responses and the events of a stream."""
