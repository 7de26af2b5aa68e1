"""Running agents durably: what they say is stored before anyone sees it."""
