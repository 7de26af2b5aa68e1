"""The archive for agents: a Model Context Protocol server that reads, over lines of JSON."""
