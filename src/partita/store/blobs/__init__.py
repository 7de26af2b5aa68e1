"""Blobs, and how large values of messages move to them."""
