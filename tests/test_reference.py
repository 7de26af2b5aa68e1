"""The reference pages are generated from the code, and their `curl` commands are valid requests."""

import re
import shlex
from pathlib import Path

import httpx
import pytest

from docs.generator.curl import SERVER, curl
from docs.generator.errors_page import FIXES, MISSING
from docs.generator.http_page import openapi, operations
from docs.generator.pages import PAGES, format_navigation
from docs.generator.python_page import MODULES
from docs.generator.raised_errors import raised_errors
from partita.server.app import asgi
from partita.types.json import JsonObject
from tests.docs.test_links import broken_links, page_text
from tests.server.conftest import client_of, scripted, text_part
from tests.tables import each_row
from tests.test_surface import PACKAGES

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"


@each_row("name", PAGES)
def test_a_reference_page_has_no_broken_links(name: str) -> None:
    text = page_text(name)
    assert text.startswith("# ")
    assert broken_links(DOCS / name, text) == []


def test_the_reference_of_python_has_every_public_module() -> None:
    assert set(MODULES) == set(PACKAGES)


def test_the_navigation_has_every_page_once() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text("utf-8").partition("\nnav:\n")[2]
    listed = re.findall(r"^ +- (?:.*: )?(\S+\.md)$", navigation, re.MULTILINE)
    listed += re.findall(r"'([^']+\.md)'", str(format_navigation()))
    pages = [path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")]
    assert sorted(listed) == sorted([*pages, *PAGES, "changes.md", "contributing.md", "policy.md"])


def test_every_error_has_a_cause_and_a_fix_with_an_anchor() -> None:
    page = page_text("reference/errors.md")
    assert [line for line in page.splitlines() if MISSING in line] == []
    assert '<a id="configerror-there-is-no-setting"></a>there is no setting' in page
    anchors = re.findall(r'<a id="([^"]+)"', page)
    assert len(anchors) == len({*anchors}) > 400
    hints = {" ".join(one.what.split()) for one in raised_errors()}
    assert {*FIXES} <= hints, "every fix belongs to an error"


def test_the_reference_of_the_command_line_has_defaults_that_are_determined_at_run_time() -> None:
    (row,) = {row for row in page_text("reference/cli.md").splitlines() if row.startswith("| `--store` ")}
    assert "the one that `partita config` shows |" in row
    assert "Default:" not in row


FILES = {
    "@session.jsonl": b'{"id":"m1","role":"user","parts":[{"type":"text","text":"Hi."}]}\n',
    "@tower.png": b"P",
}
"""The contents of the files that the commands send."""

ENDLESS = {"/api/feed": {"seconds": "0.01"}}
"""Parameters that end otherwise endless responses."""


async def send(client: httpx.AsyncClient, command: str) -> httpx.Response:
    """Send the request that `curl` would send."""
    words = iter(shlex.split(command.replace("\\\n", " ")))
    assert next(words) == "curl"
    method, address, body = "", "", None
    headers: dict[str, str] = {}
    for word in words:
        match word:
            case "--request":
                method = next(words)
            case "--head":
                method = "HEAD"
            case "--header":
                name, _, value = next(words).partition(": ")
                headers[name] = value
            case "--data":
                body = next(words).encode()
            case "--data-binary":
                body = FILES[next(words)]
            case "--no-buffer":
                pass
            case _:
                assert word.startswith(SERVER)
                address = word.removeprefix(SERVER)
    method = method or ("GET" if body is None else "POST")
    url = httpx.URL(address).copy_merge_params(ENDLESS.get(address, {}))
    return await client.request(method, url, headers=headers, content=body)


async def test_the_server_accepts_every_request_of_the_reference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = tmp_path / "partita.toml"
    settings.touch()
    monkeypatch.setenv("PARTITA_CONFIG", str(settings))
    document = openapi()
    commands = [curl(path, method, operation, document) for path, method, operation in operations(document)]
    refused: dict[str, str] = {}
    app = asgi(scripted([text_part("Forty-one metres.")]), store="memory:")
    async with app.lifespan(), client_of(app) as client:
        for command in sorted(commands, key=lambda one: "/api/chat " not in one):
            response = await send(client, command)
            if not is_accepted(response):
                refused[command] = f"{response.status_code} {response.text[:200]}"
    assert refused == {}


def is_accepted(response: httpx.Response) -> bool:
    """Whether the request is valid. It may fail because of what the store contains."""
    if response.status_code == 404 and response.request.method != "HEAD":
        problem: JsonObject = response.json()
        return str(problem["detail"]) != "Not Found"
    return response.status_code < 400 or response.status_code in (404, 409)
