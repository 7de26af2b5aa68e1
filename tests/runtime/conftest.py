"""The stores of every kind, as the tests of the store have them."""

from tests.store.conftest import engine, postgres_server, postgres_template, postgres_url, store, url

__all__ = ["engine", "postgres_server", "postgres_template", "postgres_url", "store", "url"]
