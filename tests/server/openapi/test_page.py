"""The page with the API reference: it is self-contained and restricted by its policy."""

import base64
import hashlib
import re

import httpx
import pytest
from fastapi import FastAPI

from partita.server.app import PartitaApp
from tests.server.conftest import client_of
from tests.tables import each_row


def digest(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


@pytest.fixture
async def page(client: httpx.AsyncClient) -> httpx.Response:
    return await client.get("/api/docs")


async def test_the_page_is_served(page: httpx.Response) -> None:
    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/html")


async def test_only_scripts_of_the_page_can_run(page: httpx.Response) -> None:
    policy = dict(rule.split(" ", 1) for rule in page.headers["content-security-policy"].split("; "))
    (script,) = re.findall(r"<script>(.*?)</script>", page.text, re.DOTALL)
    (style,) = re.findall(r"<style>(.*?)</style>", page.text, re.DOTALL)
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == digest(script)
    assert policy["style-src"] == digest(style)
    assert policy["connect-src"] == "'self'"
    assert "unsafe" not in page.headers["content-security-policy"]


async def test_the_page_loads_nothing_and_parses_no_markup(page: httpx.Response) -> None:
    for bad in ("http://", "https://", "//cdn", "innerHTML", "outerHTML", "eval(", " style=", " onclick="):
        assert bad not in page.text, bad


@each_row(("path", "root"), [("/api/openapi.json", ".."), ("/api/docs/openapi.json", "../..")])
async def test_the_document_is_next_to_the_page(client: httpx.AsyncClient, path: str, root: str) -> None:
    response = await client.get(path)
    assert response.json()["openapi"] == "3.1.0"
    assert response.json()["servers"][0]["url"] == root


async def test_the_page_works_below_another_application(app: PartitaApp) -> None:
    outer = FastAPI()
    outer.mount("/inner", app)
    async with client_of(outer) as client:
        assert (await client.get("/inner/api/docs")).status_code == 200
        assert (await client.get("/inner/api/openapi.json")).status_code == 200
