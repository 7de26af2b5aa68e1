"""Where logs are searched for, over HTTP."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

SESSION = "0b7f8c1e-5a52-4a06-9a3e-111111111111"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home folder of the user, with one session of Claude Code."""
    home = tmp_path / "home"
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "OPENCODE_DB", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PARTITA_CONFIG", str(tmp_path / "partita.toml"))
    (tmp_path / "partita.toml").write_text("")
    monkeypatch.setattr(Path, "home", lambda: home)
    write_session(home / ".claude" / "projects" / "-app", SESSION)
    return home


def write_session(folder: Path, session: str) -> Path:
    folder.mkdir(parents=True)
    record = {
        "type": "user",
        "uuid": f"{session[:-1]}2",
        "parentUuid": None,
        "sessionId": session,
        "timestamp": "2026-04-01T08:00:00Z",
        "cwd": "/app",
        "message": {"role": "user", "content": "Where is the oil?"},
    }
    path = folder / f"{session}.jsonl"
    path.write_text(f"{json.dumps(record)}\n")
    return path


async def place_at(client: httpx.AsyncClient, path: Path) -> Mapping[str, Any]:
    found = (await client.get("/api/sources")).json()["items"]
    (place,) = [one for one in found if one["path"] == str(path)]
    return place


async def import_now(client: httpx.AsyncClient, app: Any) -> None:
    assert (await client.post("/api/sources/import")).status_code == 204
    for _ in range(500):
        if app.state.progress.status.state in ("done", "failed"):
            break
        await asyncio.sleep(0.01)
    assert app.state.progress.status.state == "done"


async def test_what_was_found_and_what_was_imported(client: httpx.AsyncClient, app: Any, home: Path) -> None:
    before = await place_at(client, home / ".claude")
    assert (before["agent"], before["exists"], before["isImported"]) == ("claude-code", True, True)
    assert (before["files"], before["newFiles"], before["sessions"]) == (1, 1, 0)
    assert before["updatedAt"] is not None
    assert not before["isFollowed"]
    assert not (await place_at(client, home / ".codex"))["exists"]
    await import_now(client, app)
    after = await place_at(client, home / ".claude")
    assert (after["files"], after["newFiles"], after["sessions"]) == (1, 0, 1)


async def test_an_added_folder_is_searched(client: httpx.AsyncClient, app: Any, tmp_path: Path) -> None:
    folder = tmp_path / "old"
    write_session(folder / "-lamp", f"{SESSION[:-1]}3")
    await client.patch("/api/settings", json={"import.folders": [str(folder)]})
    place = await place_at(client, folder)
    assert (place["agent"], place["files"], place["sessions"]) == (None, 1, 0)
    await import_now(client, app)
    assert (await place_at(client, folder))["sessions"] == 1


async def test_an_agent_that_is_not_imported(client: httpx.AsyncClient, app: Any, home: Path) -> None:
    await client.patch("/api/settings", json={"import.agents": ["codex"]})
    assert not (await place_at(client, home / ".claude"))["isImported"]
    await import_now(client, app)
    place = await place_at(client, home / ".claude")
    assert (place["files"], place["sessions"]) == (1, 0)


async def test_what_could_not_be_imported(client: httpx.AsyncClient, app: Any, home: Path) -> None:
    chats = home / ".gemini" / "tmp" / "0" / "chats"
    chats.mkdir(parents=True)
    broken = chats / "session-1.json"
    broken.write_text('{"messages": [')
    await import_now(client, app)
    place = await place_at(client, home / ".gemini")
    assert place["problemCount"] == 1
    assert place["problems"][0]["file"] == str(broken)
    assert place["problems"][0]["what"]
    broken.unlink()
    assert (await place_at(client, home / ".gemini"))["problems"] == []
