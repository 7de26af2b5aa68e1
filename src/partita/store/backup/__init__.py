"""Backups: a whole store as one file, made while others write, and restored into either engine."""
