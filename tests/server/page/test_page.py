"""The page is there for whoever reaches the server, and lets nothing in from elsewhere."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from partita.server.app import asgi
from partita.server.page.files import compressed, web_files
from partita.store.store import Store
from tests.server.conftest import client_of
from tests.tables import each_row

START = "<!doctype html><title>Partita</title>"


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A page as a build leaves it."""
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text(START)
    (tmp_path / "assets" / "index-abc.js").write_text("let page = 1;\n" * 100)
    (tmp_path / "mermaid.html").write_text("<!doctype html>")
    monkeypatch.setenv("PARTITA_PAGE", str(tmp_path))
    _forget()
    yield tmp_path
    _forget()


@pytest.fixture
def unbuilt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("PARTITA_PAGE", str(tmp_path / "nowhere"))
    _forget()
    yield
    _forget()


def _forget() -> None:
    web_files.cache_clear()
    compressed.cache_clear()


async def get(store: Store, path: str, **how: Any) -> Any:
    app = asgi(store=store, keys=how.pop("keys", False), routes="all")
    async with app.lifespan(), client_of(app) as client:
        return await client.request(how.pop("method", "GET"), path, **how)


@pytest.mark.usefixtures("built")
@each_row("keys", [False, True])
async def test_it_needs_no_key(store: Store, keys: bool) -> None:
    answer = await get(store, "/", keys=keys)
    assert (answer.status_code, answer.text) == (200, START)
    assert answer.headers["cache-control"] == "no-cache"


@pytest.mark.usefixtures("built")
async def test_what_it_shows_does(store: Store) -> None:
    assert (await get(store, "/api/threads", keys=True)).status_code == 401


@pytest.mark.usefixtures("built")
async def test_nothing_from_elsewhere_is_let_in(store: Store) -> None:
    answer = await get(store, "/")
    policy = dict(rule.split(" ", 1) for rule in answer.headers["content-security-policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == "'self'"
    assert policy["require-trusted-types-for"] == "'script'"
    assert policy["trusted-types"] == "partita-worker"  # one name, to be had once
    assert policy["worker-src"] == "'self'"
    assert "unsafe" not in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.usefixtures("built")
async def test_diagrams_are_drawn_where_there_is_nothing_to_reach(store: Store) -> None:
    policy = (await get(store, "/mermaid.html")).headers["content-security-policy"]
    assert policy.startswith("sandbox allow-scripts; default-src 'none'")
    assert "connect-src" not in policy


@pytest.mark.usefixtures("built")
async def test_what_has_its_hash_in_its_name_is_kept_by_browsers(store: Store) -> None:
    answer = await get(store, "/assets/index-abc.js", headers={"accept-encoding": "gzip"})
    assert answer.headers["cache-control"].endswith("immutable")
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.text == "let page = 1;\n" * 100
    plain = await get(store, "/assets/index-abc.js", headers={"accept-encoding": "identity"})
    assert plain.content == answer.content
    assert int(answer.headers["content-length"]) < len(plain.content) / 5


@pytest.mark.usefixtures("built")
async def test_what_is_known_is_not_sent_again(store: Store) -> None:
    etag = (await get(store, "/")).headers["etag"]
    again = await get(store, "/", headers={"if-none-match": etag})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.usefixtures("built")
async def test_a_head_has_no_body(store: Store) -> None:
    answer = await get(store, "/", method="HEAD")
    assert (answer.status_code, answer.content) == (200, b"")
    assert int(answer.headers["content-length"]) > 0


@pytest.mark.usefixtures("built")
@each_row("path", ["/assets/", "/assets/none.js", "/assets/..%2Findex.html", "/index.html"])
async def test_nothing_else_is_a_file(store: Store, path: str) -> None:
    assert (await get(store, path)).status_code == 404


@pytest.mark.usefixtures("built")
async def test_another_site_s_name_does_not_get_it(store: Store) -> None:
    """A name that somebody points at this machine."""
    assert (await get(store, "/", headers={"host": "evil.example"})).status_code in (400, 403, 421)


@pytest.mark.usefixtures("unbuilt")
async def test_a_page_that_is_not_built_says_so(store: Store) -> None:
    answer = await get(store, "/")
    assert answer.status_code == 200
    assert "make web" in answer.text
