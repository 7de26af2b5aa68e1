"""The doctor: what is wrong with a store, and putting right what can be put right without guessing."""
