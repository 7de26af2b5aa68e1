"""Import the log files of coding agents: only what is new in them, once."""
