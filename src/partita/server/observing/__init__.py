"""What can be seen of a server at work: its health, its numbers, its traces."""
