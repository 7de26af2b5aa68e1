"""Failures of a server are errors that say what, where and what to do, and never show a password."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.ext.asyncio import create_async_engine

from partita.errors import StoreError, UnavailableError
from partita.store.connection import open_store
from partita.store.engines.driver_errors import POSTGRES
from partita.store.engines.location import Location, locate, without_password
from tests.store.server import Server, running_server
from tests.tables import each_row

PASSWORD = "open" + "sesame"  # in two pieces, so that no line of this file shows it
GUARDED = "local all guarded scram-sha-256\n"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running_server() as running:
        yield running


def texts_of(error: BaseException | None) -> str:
    """The texts of an error and of its causes."""
    return (
        ""
        if error is None
        else f"{error!r} {error} {texts_of(error.__cause__)} {texts_of(error.__context__)}"
    )


async def opening(url: str) -> StoreError:
    """The error of opening a store; it shows no password."""
    with pytest.raises(StoreError) as caught:
        async with open_store(url, patience=0.2):
            pass
    assert PASSWORD not in texts_of(caught.value)
    assert PASSWORD[4:] not in str(caught.value)
    return caught.value


async def test_authentication_errors(server: Server) -> None:
    """The right password works; other errors of the server are explained."""
    rules = server.folder / "pg_hba.conf"
    rules.write_text(GUARDED + rules.read_text())
    engine = create_async_engine(locate(server.url).url, isolation_level="AUTOCOMMIT")
    async with engine.connect() as connection:
        await connection.execute(text(f"CREATE ROLE guarded LOGIN SUPERUSER PASSWORD '{PASSWORD}'"))
        await connection.execute(text("SELECT pg_reload_conf()"))
    await engine.dispose()
    host = f"@/postgres?host={server.folder}"
    async with open_store(f"postgresql://guarded:{PASSWORD}{host}") as store:
        assert await store.threads.count() == 0
    wrong = await opening(f"postgresql://guarded:{PASSWORD}x{host}")
    assert isinstance(wrong, UnavailableError)
    assert (wrong.what, wrong.where) == ("the password is wrong", f"postgresql://guarded{host}")
    stranger = await opening(f"postgresql://stranger:{PASSWORD}{host}")
    assert stranger.what == "the server does not accept this user"


async def test_a_missing_database(server: Server) -> None:
    error = await opening(server.url.replace("/postgres?", "/nowhere?"))
    assert isinstance(error, UnavailableError)
    assert (error.what, error.hint) == ("the database does not exist", "create it: createdb NAME")


@each_row("address", ["127.0.0.1:1", "no-such-host.invalid", "/?host=/nowhere"])
async def test_an_unreachable_server(address: str) -> None:
    error = await opening(f"postgresql://u:{PASSWORD}@{address}")
    assert isinstance(error, UnavailableError)
    assert error.what == "the server does not respond"
    assert error.where.startswith("postgresql://u@")


@each_row("code", POSTGRES)
async def test_errors_of_a_server_are_explained(postgres_url: str, code: str) -> None:
    """By SQLSTATE or its class; afterwards the store works."""
    state = f"{code}000"[:5]

    def fail(connection: Connection) -> None:
        connection.execute(text(f"DO $$ BEGIN RAISE EXCEPTION 'talk' USING ERRCODE = '{state}'; END $$"))

    async with open_store(postgres_url, patience=0.2) as store:
        with pytest.raises(UnavailableError) as caught:
            await store.engine.write(fail)
        assert (caught.value.what, caught.value.hint) == POSTGRES[code]
        assert caught.value.where == without_password(postgres_url)
        assert await store.threads.count() == 0


async def test_a_database_of_another_program(postgres_url: str) -> None:
    engine = create_async_engine(locate(postgres_url).url)
    async with engine.begin() as connection:
        await connection.execute(text("DROP SCHEMA public CASCADE"))
        await connection.execute(text("CREATE SCHEMA public"))
        await connection.execute(text("CREATE TABLE recipes (name TEXT)"))
    await engine.dispose()
    error = await opening(postgres_url)
    assert (error.what, error.where) == ("this database holds something else", "recipes")


BAD_URLS: dict[str, str] = {
    "another database": f"mysql://u:{PASSWORD}@host/db",
    "no scheme": f"://u:{PASSWORD}@host/db",
    "one slash": f"postgresql:/u:{PASSWORD}@host/db",
    "no slash": f"postgres:u:{PASSWORD}@host/db",
    "a file with one slash": "sqlite:/store.db",
    "a file with two slashes": "sqlite://store.db",
    "no file": "sqlite:///",
    "a file with a NUL": "sqlite:///a%00b",
    "a path with a NUL": "a\x00b",
    "a port that is not a number": f"postgresql://u:{PASSWORD}@host:port/db",
    "a port that is too large": f"postgresql://u:{PASSWORD}@host:70000/db",
    "an @ in the password": f"postgresql://u:x@{PASSWORD}@host/db",
    "a ? in the password": f"postgresql://u:x?{PASSWORD}@host/db",
    "an unknown option": f"postgresql://u:{PASSWORD}@host/db?colour=red",
    "an option that is not a number": f"postgresql://u:{PASSWORD}@host/db?port=red",
    "half a surrogate pair": f"postgresql://u\ud800:{PASSWORD}@host/db",
    "a NUL in a name": f"postgresql://u%00:{PASSWORD}@host/db",
    "the home of an unknown user": "~nobody-of-that-name/store.db",
}


@each_row("url", BAD_URLS.values(), ids=BAD_URLS)
def test_invalid_urls_are_refused(url: str) -> None:
    with pytest.raises(StoreError) as caught:
        locate(url)
    assert PASSWORD not in texts_of(caught.value)
    assert PASSWORD[4:] not in str(caught.value)
    assert caught.value.hint


GOOD_URLS: dict[str, tuple[str, str]] = {
    "a password": (f"postgresql://u:{PASSWORD}@host:5432/db", "postgresql://u@host:5432/db"),
    "an escaped password": (f"postgresql://u:x%40{PASSWORD}@host/db", "postgresql://u@host/db"),
    "a slash in the password": (f"postgresql://u:x/{PASSWORD}@host/db", "postgresql://u@host/db"),
    "a password as an option": (f"postgres://host/db?user=u&password={PASSWORD}", "postgresql://host/db"),
    "a TLS option of libpq": ("postgresql://host/db?sslmode=require", "postgresql://host/db"),
    "a socket folder as host": ("postgresql:///db?host=/run/here", "postgresql:///db?host=/run/here"),
    "another driver": ("postgresql+psycopg://u@host/db", "postgresql://u@host/db"),
}


@each_row(("url", "shown"), GOOD_URLS.values(), ids=GOOD_URLS)
def test_valid_urls_are_shown_without_a_password(url: str, shown: str) -> None:
    location = locate(url)
    assert location.engine == "postgresql"
    assert without_password(location.url).replace("+asyncpg", "") == shown


def test_options_are_passed_with_the_names_of_the_driver() -> None:
    assert locate("postgresql://host/db?sslmode=require&port=5433") == Location(
        "postgresql", url="postgresql+asyncpg://host/db?ssl=require&port=5433"
    )
