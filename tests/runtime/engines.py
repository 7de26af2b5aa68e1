"""The engines of a store."""

import pytest

on_both_engines = pytest.mark.parametrize("url", ["sqlite", "postgresql"], indirect=True)
"""Runs a test that uses `url`, itself or in a fixture, on SQLite and on PostgreSQL.

For behaviour that differs by engine: notifications of other processes, leases between two stores, races of
two writers. The runtime itself contains no SQL.
"""
