"""Learning soon of files that change."""
