"""The engines that a test is for, when it is not for every one."""

import pytest

in_a_file_and_on_a_server = pytest.mark.parametrize("url", ["sqlite", "postgresql"], indirect=True)
"""For what several processes see, or what is opened again: a store in memory belongs to one `open_store`."""

in_memory_and_in_a_file = pytest.mark.parametrize("url", ["memory", "sqlite"], indirect=True)
"""For what is SQLite's own."""
