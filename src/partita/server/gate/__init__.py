"""What a request has to pass before anything is done for it."""
