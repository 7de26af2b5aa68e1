"""Data migrations: stored messages of an older form, brought to today's, one batch after another."""
