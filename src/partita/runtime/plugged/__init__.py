"""Agents that people have already: functions that stream, and agents of other packages."""
