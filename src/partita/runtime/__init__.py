"""Running agents: services, sessions, durable runs, tools and approvals, networks, replay."""
