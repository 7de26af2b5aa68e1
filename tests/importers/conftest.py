"""Stores of every kind, as in the tests of the store."""

from tests.store.conftest import (
    engine,
    postgres_databases,
    postgres_server,
    postgres_url,
    pytest_collection_modifyitems,
    store,
    url,
)

__all__ = [
    "engine",
    "postgres_databases",
    "postgres_server",
    "postgres_url",
    "pytest_collection_modifyitems",
    "store",
    "url",
]
