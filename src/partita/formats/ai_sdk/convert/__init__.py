"""UI messages → model messages, exactly as the SDK converts them, on plain JSON."""
