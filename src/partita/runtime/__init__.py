"""Agents at work: services, sessions, durable runs, tools and approvals, networks, replay."""
