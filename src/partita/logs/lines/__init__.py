"""Bytes of logs → lines with their values, including damaged ones."""
