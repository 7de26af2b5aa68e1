"""The description of the API, and a page to try it."""
