"""Every message an AI agent sends or receives, kept whole."""
