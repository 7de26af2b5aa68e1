"""The agents whose logs can be read. `source` says what the declaration of one consists of."""
