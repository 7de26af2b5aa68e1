"""Write whole threads at once, with their messages, runs, log lines and token usage."""
