"""A thread as a file that leaves: without its secrets, without what was chosen to stay."""
