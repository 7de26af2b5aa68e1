"""Models behind an API as agents: one answer a call. The vendors' packages connect, we read what comes."""
