"""What responses cost."""
