"""What readers and writers of agents' session files share."""
