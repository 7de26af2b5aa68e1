"""Recordings: requests to models and their responses, in files that tests replay."""
