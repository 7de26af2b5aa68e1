"""Data migrations: convert stored messages of an older form to the current one, batch by batch."""
