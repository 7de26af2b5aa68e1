"""Uploads: received as files, their formats detected, and imported."""
