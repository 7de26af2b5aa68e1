"""Statistics, and the ledger of what models consumed."""
