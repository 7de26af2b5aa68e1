"""One module a version, each applied once."""
