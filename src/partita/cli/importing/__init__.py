"""What is brought in: logs, rows, messages, the demo."""
