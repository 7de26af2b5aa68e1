"""What an engine promises, on every kind."""

from sqlalchemy import text

from partita.store.engines.engine import Engine


async def test_a_new_store_is_empty(engine: Engine) -> None:
    assert await engine.read(lambda c: c.execute(text("SELECT count(*) FROM threads")).scalar()) == 0
