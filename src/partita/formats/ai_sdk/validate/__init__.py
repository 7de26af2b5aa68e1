"""What the SDK's schemas accept: single chunks, and whole UI messages."""
