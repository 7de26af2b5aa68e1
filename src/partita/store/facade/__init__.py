"""What the world sees of a store: methods around functions of a transaction."""
