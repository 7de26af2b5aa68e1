"""Coding agents that are programs: started, spoken to line by line, and gone when they are done."""
