"""The working folder of an agent: a client may choose allowed folders only."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from partita import asgi
from partita.agents import InvokeOptions
from partita.runtime.service import Prompt
from partita.server import Settings
from partita.store.store import Store
from partita.store.values import MessageFilter
from partita.types import text_of
from partita.types.chunks import (
    AgentStreamEvent,
    ChunkEvent,
    CompleteEvent,
    MessageFinish,
    MessageStart,
    TextDelta,
    TextEnd,
    TextStart,
)
from tests.server.conftest import client_of
from tests.tables import each_row


class FolderAgent:
    """An agent that returns its working folder."""

    name = "located"

    async def invoke(
        self,
        prompt: Prompt,
        *,
        cwd: Path | None = None,
        session_id: str | None = None,
        options: InvokeOptions | None = None,
    ) -> AsyncIterator[AgentStreamEvent]:
        """The folder."""
        for chunk in (
            MessageStart(),
            TextStart("t"),
            TextDelta("t", str(cwd)),
            TextEnd("t"),
            MessageFinish(),
        ):
            yield ChunkEvent(chunk=chunk)
        yield CompleteEvent()


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    (tmp_path / "work" / "lamp").mkdir(parents=True)
    (tmp_path / "secret").mkdir()
    (tmp_path / "work" / "way-out").symlink_to(tmp_path / "secret")
    (tmp_path / "work" / "file").write_text("no folder")
    return tmp_path.resolve()


async def ask(client: httpx.AsyncClient, number: int, cwd: Path | str | None = None) -> httpx.Response:
    message = {"id": f"m{number}", "role": "user", "parts": [{"type": "text", "text": "Where are you?"}]}
    body = {"id": "c1", "message": message} | ({} if cwd is None else {"cwd": str(cwd)})
    return await client.post("/api/chat", json=body)


async def stored_texts(store: Store) -> list[str]:
    return [
        text_of(message) for message in await store.messages.list("c1", MessageFilter(roles=("assistant",)))
    ]


async def test_an_agent_works_in_an_allowed_folder(store: Store, folders: Path) -> None:
    work = folders / "work"
    app = asgi(FolderAgent(), store=store, cwds=[str(work)])
    async with app.lifespan(), client_of(app) as client:
        for number, cwd in enumerate((work, work / "lamp", work / "lamp" / "..")):
            assert (await ask(client, number, cwd)).status_code == 200
        assert await stored_texts(store) == [str(work), str(work / "lamp"), str(work)]


async def test_the_folder_of_a_chat_is_kept_while_it_is_allowed(store: Store, folders: Path) -> None:
    lamp = folders / "work" / "lamp"
    for number, allowed in enumerate((folders / "work", folders / "work", folders / "secret")):
        app = asgi(FolderAgent(), store=store, settings=Settings(cwds=(str(allowed),)))
        async with app.lifespan(), client_of(app) as client:
            await ask(client, number, lamp if number == 0 else None)
    assert await stored_texts(store) == [str(lamp), str(lamp), "None"]


REFUSED = {
    "another folder": ("work", "secret", 403, "is not allowed"),
    "the folder above": ("work", "work/..", 403, "is not allowed"),
    "a link to another folder": ("work", "work/way-out", 403, "is not allowed"),
    "a folder with the same prefix": ("work/lam", "work/lamp", 403, "is not allowed"),
    "any folder, if none is allowed": (None, "work", 403, "cannot choose the folder"),
    "a missing folder": ("work", "work/elsewhere", 400, "does not exist"),
    "a file": ("work", "work/file", 400, "does not exist"),
    "a name with a zero byte": ("work", "work/\0", 400, "is not an absolute path"),
}


@each_row(("allowed", "cwd", "status", "what"), REFUSED.values(), ids=REFUSED)
async def test_other_folders_are_refused(
    store: Store, folders: Path, allowed: str | None, cwd: str, status: int, what: str
) -> None:
    app = asgi(FolderAgent(), store=store, cwds=[] if allowed is None else [str(folders / allowed)])
    async with app.lifespan(), client_of(app) as client:
        response = await ask(client, 1, f"{folders}/{cwd}")
        assert (response.status_code, response.json()["where"]) == (status, "$.cwd")
        assert what in response.json()["detail"]
        assert await store.threads.get("c1") is None


async def test_a_relative_path_is_refused(store: Store, folders: Path) -> None:
    app = asgi(FolderAgent(), store=store, cwds=[str(folders)])
    async with app.lifespan(), client_of(app) as client:
        response = await ask(client, 1, "work")
        assert (response.status_code, response.json()["hint"]) == (400, "send an absolute path")
