"""The web UI needs no key, and its policy allows nothing from other origins."""

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
    """A built web UI."""
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
async def test_the_web_ui_needs_no_key(store: Store, keys: bool) -> None:
    response = await get(store, "/", keys=keys)
    assert (response.status_code, response.text) == (200, START)
    assert response.headers["cache-control"] == "no-cache"


@pytest.mark.usefixtures("built")
async def test_the_api_needs_a_key(store: Store) -> None:
    assert (await get(store, "/api/threads", keys=True)).status_code == 401


@pytest.mark.usefixtures("built")
async def test_the_policy_allows_nothing_from_other_origins(store: Store) -> None:
    response = await get(store, "/")
    policy = dict(rule.split(" ", 1) for rule in response.headers["content-security-policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == "'self'"
    assert policy["require-trusted-types-for"] == "'script'"
    assert policy["trusted-types"] == "partita-worker"  # one name, to be had once
    assert policy["worker-src"] == "'self'"
    assert "unsafe" not in response.headers["content-security-policy"]
    assert response.headers["x-content-type-options"] == "nosniff"


@pytest.mark.usefixtures("built")
async def test_the_frame_of_diagrams_is_sandboxed(store: Store) -> None:
    policy = (await get(store, "/mermaid.html")).headers["content-security-policy"]
    assert policy.startswith("sandbox allow-scripts; default-src 'none'")
    assert "connect-src" not in policy


@pytest.mark.usefixtures("built")
async def test_files_with_a_hash_in_their_name_are_cached(store: Store) -> None:
    response = await get(store, "/assets/index-abc.js", headers={"accept-encoding": "gzip"})
    assert response.headers["cache-control"].endswith("immutable")
    assert response.headers["content-encoding"] == "gzip"
    assert response.text == "let page = 1;\n" * 100
    plain = await get(store, "/assets/index-abc.js", headers={"accept-encoding": "identity"})
    assert plain.content == response.content
    assert int(response.headers["content-length"]) < len(plain.content) / 5


@pytest.mark.usefixtures("built")
async def test_a_cached_file_is_not_sent_again(store: Store) -> None:
    etag = (await get(store, "/")).headers["etag"]
    again = await get(store, "/", headers={"if-none-match": etag})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.usefixtures("built")
async def test_a_head_request_gets_no_body(store: Store) -> None:
    response = await get(store, "/", method="HEAD")
    assert (response.status_code, response.content) == (200, b"")
    assert int(response.headers["content-length"]) > 0


@pytest.mark.usefixtures("built")
@each_row("path", ["/assets/", "/assets/none.js", "/assets/..%2Findex.html", "/index.html"])
async def test_other_paths_are_not_files(store: Store, path: str) -> None:
    assert (await get(store, path)).status_code == 404


@pytest.mark.usefixtures("built")
async def test_a_foreign_host_name_is_refused(store: Store) -> None:
    """A host name that resolves to this machine."""
    assert (await get(store, "/", headers={"host": "evil.example"})).status_code in (400, 403, 421)


@pytest.mark.usefixtures("unbuilt")
async def test_without_a_build_the_page_explains_how_to_build_it(store: Store) -> None:
    response = await get(store, "/")
    assert response.status_code == 200
    assert "make web" in response.text
