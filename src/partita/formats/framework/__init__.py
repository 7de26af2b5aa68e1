"""What the message formats of agent frameworks have in common: steps, leftovers, and how losses are found."""
