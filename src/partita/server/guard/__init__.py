"""Checks that every request passes before an endpoint sees it: host, origin, caller, rate, body."""
