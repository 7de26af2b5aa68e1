"""Sessions of agents, read from their logs, as rows: made outside of a transaction, written in one."""
