"""Bytes of logs → lines with their values, also where they are broken."""
