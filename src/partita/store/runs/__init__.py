"""Runs: rows, leases, turns."""
