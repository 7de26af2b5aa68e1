"""Finding out who asks."""
