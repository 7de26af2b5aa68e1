"""Files: uploaded once, shown by the browser, received by the model, and never sent again."""

import base64
from typing import Any

import httpx
from fastapi import FastAPI

from partita.server.app import asgi
from partita.server.settings import Limits
from partita.store.store import Store
from partita.types.json import JsonObject
from partita.types.messages import Message
from partita.types.parts import FilePart
from tests.runtime.agent.models import Model, reply
from tests.server.clients.agents import scripted_by_word
from tests.server.clients.conftest import ServeChat
from tests.server.clients.releases import on_all_releases
from tests.server.clients.site import Site
from tests.server.conftest import client_of, scripted, text_part

SIZE = 30_000
TURNS = 20


def picture(number: int) -> bytes:
    """An image that is too large to be stored inside a message."""
    return b"\x89PNG\r\n\x1a\n" + bytes([number]) * SIZE


def data_url(data: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(data).decode()}"


async def upload(client: httpx.AsyncClient, data: bytes, name: str) -> JsonObject:
    response = await client.post(
        "/api/blobs", content=data, params={"filename": name}, headers={"content-type": "image/png"}
    )
    assert response.status_code == 201, response.text
    uploaded = response.json()
    return {"type": "file"} | {key: uploaded[key] for key in ("url", "mediaType", "filename")}


def files_in(messages: tuple[Message, ...]) -> list[str]:
    return [part.url for one in messages for part in one.parts if isinstance(part, FilePart)]


async def shown_by(here: Site, url: str) -> httpx.Response:
    async with httpx.AsyncClient(base_url=here.url, verify=False) as client:
        return await client.get(url)


@on_all_releases
async def test_twenty_images_are_sent_as_urls(site: ServeChat) -> None:
    """The hook sends its whole history each time: with the bytes, it would exceed the limit."""
    model = Model(*[reply(f"Answer {number}.") for number in range(TURNS + 1)])
    here = await site(model, limits=Limits(body_bytes=100_000))
    chat = await here.chat()
    async with httpx.AsyncClient(base_url=here.url, verify=False) as client:
        for number in range(TURNS):
            file = await upload(client, picture(number), f"{number}.png")
            state = await chat.send("What is this?", files=[file])
            assert (state.status, state.error) == ("ready", None)
    state = await chat.finished()
    assert files_in(model.prompts[-1]) == [data_url(picture(number)) for number in range(TURNS)]
    assert max(len(request.body or "") for request in state.requests) < SIZE
    (first, *_) = state.messages[0]["parts"]
    assert first["filename"] == "0.png"
    response = await shown_by(here, first["url"])
    assert (response.content, response.headers["content-type"]) == (picture(0), "image/png")
    assert response.headers["x-content-type-options"] == "nosniff"
    loaded = await here.load()
    await loaded.send("And now?")
    assert (await loaded.finished()).text == f"Answer {TURNS}."


@on_all_releases
async def test_an_image_sent_as_data_is_returned_as_a_url(site: ServeChat) -> None:
    here = await site(scripted_by_word(this=[[text_part("A lamp.")]], now=[[text_part("Still.")]]))
    chat = await here.chat()
    file = {"type": "file", "mediaType": "image/png", "url": data_url(picture(1))}
    await chat.send("What is this?", files=[file])
    (stored, _) = (await here.stored())[0]["parts"]
    assert stored["url"].startswith("/api/blobs/")
    assert (await shown_by(here, stored["url"])).content == picture(1)
    loaded = await here.load()
    state = await loaded.send("And now?")
    assert (state.status, state.text) == ("ready", "Still.")
    assert (await loaded.finished()).messages[0]["parts"][0]["url"] == stored["url"]
    assert len((state.requests[-1].body) or "") < SIZE


@on_all_releases
async def test_an_image_of_the_model_has_a_url(site: ServeChat) -> None:
    made: dict[str, Any] = {"type": "file", "mediaType": "image/png", "url": data_url(picture(2))}
    here = await site(scripted([text_part("Here."), made]))
    chat = await here.chat()
    await chat.send("Draw.")
    state = await chat.finished()
    (url,) = [part["url"] for part in state.last["parts"] if part["type"] == "file"]
    assert url.startswith("/api/blobs/")
    assert (await shown_by(here, url)).content == picture(2)


async def test_a_missing_file_or_one_of_another_owner_is_refused(store: Store) -> None:
    app = asgi(scripted([text_part("Yes.")]), store=store, user=lambda request: request.headers.get("x-user"))
    async with app.lifespan(), client_of(app) as client:
        client.headers["x-user"] = "ann"
        file = await upload(client, picture(3), "a.png")
        digest = file["url"].rpartition("/")[2]
        other = "0" * 64
        for user, url, status in (
            ("ann", file["url"], 200),
            ("ann", f"http://localhost{file['url']}", 200),
            ("ann", f"blob:sha256:{digest}", 200),
            ("ann", f"https://elsewhere.example/api/blobs/{other}", 200),
            ("ann", f"/api/blobs/{other}", 400),
            ("bob", file["url"], 400),
            ("bob", f"http://localhost{file['url']}", 400),
            ("bob", f"blob:sha256:{digest}", 400),
        ):
            sent = {"id": f"u-{user}-{url}", "role": "user", "parts": [file | {"url": url}]}
            body = {"id": f"chat-{user}-{status}", "message": sent}
            response = await client.post("/api/chat", json=body, headers={"x-user": user})
            assert response.status_code == status, (user, url, response.text)
            if status == 400:
                assert response.json()["where"] == "$.messages[0].parts[0].url"
                assert "POST /api/blobs" in response.json()["hint"]
        refused = await client.get(file["url"], headers={"x-user": "bob"})
        assert refused.status_code == 404


async def test_a_file_url_is_below_the_path_of_the_application(store: Store) -> None:
    model = Model(reply("A lamp."))
    chat = asgi(model, store=store)
    app = FastAPI(lifespan=chat.lifespan)
    app.mount("/assistant", chat)
    async with chat.lifespan(), client_of(app, base_url="http://localhost/assistant") as client:
        uploaded = await client.post("/api/blobs", content=picture(4), headers={"content-type": "image/png"})
        url = uploaded.json()["url"]
        assert url.startswith("/assistant/api/blobs/")
        part = {"type": "file", "url": url, "mediaType": "image/png"}
        sent = {"id": "u1", "role": "user", "parts": [part]}
        assert (await client.post("/api/chat", json={"id": "c1", "message": sent})).status_code == 200
        query = {"format": "ai-sdk-ui-v7", "bare": "true"}
        messages = (await client.get("/api/threads/c1/messages", params=query)).json()
        assert messages[0]["parts"] == [part]
    assert files_in(model.prompts[-1]) == [data_url(picture(4))]
