"""Detection of formats: the signs of each format, and the guess that follows from them."""
