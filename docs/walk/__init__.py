"""A walk-through of the README and the guides on a clean machine: `make walk`."""
