"""Pages of the documentation that are made from the code, so that the two cannot disagree."""
