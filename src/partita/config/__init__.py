"""Settings: what there is to set, where it is written, and what counts."""
