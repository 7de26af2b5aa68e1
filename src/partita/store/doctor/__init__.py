"""The doctor: checks of a store, and repairs of damage that can be repaired with certainty."""
