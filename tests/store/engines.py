"""Marks for tests that need certain engines."""

import pytest

in_a_file_and_on_a_server = pytest.mark.parametrize("url", ["sqlite", "postgresql"], indirect=True)
"""For several processes, or stores that are reopened: a store in memory belongs to one `open_store`."""

in_memory_and_in_a_file = pytest.mark.parametrize("url", ["memory", "sqlite"], indirect=True)
"""For behaviour of SQLite only."""
