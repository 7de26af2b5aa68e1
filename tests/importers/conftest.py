"""The stores of every kind that the tests of the store use."""

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
