"""What is common to the responses and the requests of all model providers."""
