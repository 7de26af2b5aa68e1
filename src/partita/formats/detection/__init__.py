"""Detection of formats: signs of each format with their reasons, and the guess that follows from them."""
