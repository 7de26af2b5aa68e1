"""Canonical values: what a message, a part, a chunk, a thread and a run are. No I/O, no clock, no ids."""
