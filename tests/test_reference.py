"""The reference pages are generated from the code."""

import re
import shlex
from pathlib import Path

import httpx

from docs.generator.curl import HERE, curl
from docs.generator.navigation import format_navigation
from docs.generator.pages import PAGES
from docs.generator.routes import described, operations
from partita.server.app import asgi
from partita.types.json import JsonObject
from tests.docs.test_links import broken_links, page_text
from tests.server.conftest import client_of, says, scripted
from tests.tables import each_row

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
SITE = ROOT / "mkdocs.yml"


@each_row("name", PAGES)
def test_a_reference_page_is_generated_and_its_links_lead_somewhere(name: str) -> None:
    text = page_text(name)
    assert text.startswith("# ")
    assert broken_links(DOCS / name, text) == []


def test_every_page_is_in_the_navigation_once() -> None:
    navigation = SITE.read_text("utf-8").partition("\nnav:\n")[2]
    listed = re.findall(r"^ +- (?:.*: )?(\S+\.md)$", navigation, re.MULTILINE)
    listed += re.findall(r"'([^']+\.md)'", str(format_navigation()))
    pages = [path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")]
    assert sorted(listed) == sorted([*pages, *PAGES, "changes.md", "contributing.md"])


FILES = {
    "@session.jsonl": b'{"id":"m1","role":"user","parts":[{"type":"text","text":"Hi."}]}\n',
    "@tower.png": b"P",
}
"""What stands for the files of a reader."""

ENDLESS = {"/api/feed": {"seconds": "0.01"}}
"""What a request needs so that its answer ends."""


async def send(client: httpx.AsyncClient, command: str) -> httpx.Response:
    """What `curl` would send."""
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
                assert word.startswith(HERE)
                address = word.removeprefix(HERE)
    method = method or ("GET" if body is None else "POST")
    url = httpx.URL(address).copy_merge_params(ENDLESS.get(address, {}))
    return await client.request(method, url, headers=headers, content=body)


async def test_every_request_of_the_reference_is_understood() -> None:
    document = described()
    commands = [curl(path, method, said, document) for path, method, said in operations(document)]
    answers: dict[str, str] = {}
    app = asgi(scripted([says("Forty-one metres.")]), store="memory:")
    async with app.lifespan(), client_of(app) as client:
        for command in sorted(commands, key=lambda one: "/api/chat " not in one):
            answer = await send(client, command)
            if not is_understood(answer):
                answers[command] = f"{answer.status_code} {answer.text[:200]}"
    assert answers == {}


def is_understood(answer: httpx.Response) -> bool:
    """Done, or refused for what is in the store: not for how it was asked."""
    if answer.status_code == 404 and answer.request.method != "HEAD":
        problem: JsonObject = answer.json()
        return str(problem["detail"]) != "Not Found"
    return answer.status_code < 400 or answer.status_code in (404, 409)
