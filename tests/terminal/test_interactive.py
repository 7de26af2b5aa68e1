"""Interactive use of commands on a terminal: keys, pagers, redrawing, Ctrl-C."""

import shutil
import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from tests.importers.log_files import SESSION, gardening
from tests.processes import CTRL_C, CTRL_D, Terminal

from .cases import HELLO
from .sample_data import THREAD
from .workspace import Workspace

DOWN, UP, PAGE_DOWN = "\x1b[B", "\x1b[A", "\x1b[6~"
CHAT = {"id": "c", "messages": [{"id": "u", "role": "user", "parts": [{"type": "text", "text": "flood"}]}]}


@pytest.mark.skipif(shutil.which("less") is None, reason="requires less")
def test_long_thread_is_shown_in_a_pager(workspace: Workspace) -> None:
    with workspace.terminal("show", THREAD, rows=8, environment={"PAGER": "less"}) as terminal:
        terminal.wait_until(lambda: terminal.shown.endswith(":"), "a prompt")
        first = terminal.shown
        assert b"\x1b[7mloud" not in terminal.sent
        assert b"\x1b[1m" in terminal.sent  # in colour
        terminal.type(" ")
        terminal.wait_until(lambda: terminal.shown not in (first, ""), "the next page")
        terminal.type("q")
        assert terminal.end().code == 0


@pytest.mark.skipif(shutil.which("less") is None, reason="requires less")
def test_pager_exits_if_the_output_fits(workspace: Workspace) -> None:
    with workspace.terminal("show", "sky", rows=100, environment={"PAGER": "less"}) as terminal:
        assert terminal.end().code == 0
        assert "weather?" in terminal.shown


def test_replay_is_redrawn_and_its_end_stays(workspace: Workspace) -> None:
    with workspace.terminal("replay", "last", "--speed", "0.001", "--longest-pause", "0.05") as terminal:
        terminal.wait_until(lambda: not terminal.cursor_is_shown, "the first drawing")
        terminal.wait_for("4 messages")
        ended = terminal.end()
        assert (ended.code, terminal.cursor_is_shown) == (0, True)
        assert terminal.shown.count("It is sunny in Oslo, and it will stay so.") == 2
        assert ended.text.count("I should look it up.") > 2  # it was redrawn


def test_replay_can_be_interrupted(workspace: Workspace) -> None:
    with workspace.terminal("replay", "last", "--speed", "0.001") as terminal:
        terminal.wait_until(lambda: not terminal.cursor_is_shown, "the first drawing")
        terminal.type(CTRL_C)
        assert terminal.end(10).code == 130
        assert terminal.cursor_is_shown
        assert terminal.shown.endswith("partita: interrupted")


def position(terminal: Terminal) -> str:
    return (terminal.shown.split(maxsplit=1) or [""])[0]


def press(terminal: Terminal, key: str, to: str) -> None:
    terminal.type(key)
    terminal.wait_until(lambda: position(terminal) == to and "q quit" in terminal.shown, f"{key!r} → {to}")


def test_steps_are_controlled_by_keys(workspace: Workspace) -> None:
    with workspace.terminal("replay", "last", "--step") as terminal:
        terminal.wait_for("q quit")
        first, last = position(terminal).split("/")
        assert first == "0"
        press(terminal, "\r", f"1/{last}")
        begun = terminal.shown
        press(terminal, DOWN, f"3/{last}")  # chunk 2 is an internal note
        press(terminal, UP, f"1/{last}")
        assert terminal.shown == begun
        press(terminal, "G", f"{last}/{last}")
        assert "It is sunny in Oslo" in terminal.shown
        terminal.resize(60, 30)
        press(terminal, "g", f"0/{last}")
        press(terminal, "x", f"0/{last}")  # x has no function
        assert max(map(len, terminal.shown.splitlines())) <= 60
        terminal.type("q")
        assert terminal.end().code == 0


def test_quickly_pressed_keys_are_not_lost(workspace: Workspace) -> None:
    with workspace.terminal("replay", "last", "--step") as terminal:
        terminal.wait_for("q quit")
        last = position(terminal).split("/")[1]
        terminal.type("\r" + DOWN + "x" + UP)
        terminal.wait_until(lambda: position(terminal) == f"1/{last}", "the first chunk")
        terminal.type("Gq")
        assert terminal.end(10).code == 0
        assert position(terminal) == f"{last}/{last}"


def test_ctrl_c_ends_the_steps(workspace: Workspace) -> None:
    with workspace.terminal("replay", "last", "--step") as terminal:
        terminal.wait_for("q quit")
        terminal.type(CTRL_C)
        assert terminal.end(10).code == 0


def test_watch_reports_appended_lines(workspace: Workspace) -> None:
    path = workspace.folder / "followed" / f"{SESSION}.jsonl"
    path.parent.mkdir()
    session = gardening()
    path.write_bytes(b"".join(session.lines().splitlines(keepends=True)[:4]))
    with workspace.terminal("watch", "followed") as terminal:
        terminal.wait_for("+3 messages")
        session.append(path, 4)
        terminal.wait_until(lambda: terminal.shown.count(" messages") > 1, "the new lines")
        terminal.type(CTRL_C)
        assert terminal.end(20).code == 0
        assert "Traceback" not in terminal.shown


def address(terminal: Terminal) -> str:
    """Return the address that a server prints, with its token."""
    terminal.wait_for("/api/docs)")
    return terminal.shown.partition("Partita is at ")[2].split()[0]


def client_at(address: str) -> httpx.Client:
    """Return a client with the token of an address."""
    url, _, token = address.partition("/?token=")
    return httpx.Client(base_url=url, headers={"authorization": f"Bearer {token}"}, timeout=30)


def test_ctrl_c_ends_the_server(workspace: Workspace) -> None:
    with workspace.terminal("serve", "--port", "0") as terminal:
        with client_at(address(terminal)) as client:
            assert client.get("/api/threads").status_code == 200
        terminal.type(CTRL_C)
        assert terminal.end(20).code == 0
        assert terminal.shown.endswith("^C")  # and nothing after it


def test_second_ctrl_c_ends_a_server_with_an_active_run(workspace: Workspace) -> None:
    with (
        workspace.terminal("serve", "--port", "0", "--no-import") as terminal,
        client_at(address(terminal)) as client,
        client.stream("POST", "/api/chat", json=CHAT) as answer,
    ):
        for text in answer.iter_text():
            if "text-delta" in text:
                break
        began = time.monotonic()
        terminal.type(CTRL_C)
        terminal.type(CTRL_C)
        assert terminal.end(20).code == 0
        assert time.monotonic() - began < 8
    (run,) = workspace.piped("runs", "--thread", "c", "--json").end().output.splitlines()
    assert b'"status":"interrupted"' in run


@pytest.mark.parametrize("desktop", [True, False], ids=["on a desktop", "without a desktop"])
def test_default_command_opens_a_browser_on_a_desktop(tmp_path: Path, *, desktop: bool) -> None:
    workspace = Workspace(tmp_path)
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {tmp_path}/opened\n')
    browser.chmod(0o755)
    given = {"DISPLAY": ":0", "BROWSER": f"{browser} %s"}
    if desktop:
        workspace.environment = {name: value for name, value in workspace.environment.items() if name != "CI"}
    with workspace.terminal(environment=given) as terminal:
        url = address(terminal)
        opened = tmp_path / "opened"
        deadline = time.monotonic() + 10
        while desktop and not opened.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        terminal.type(CTRL_C)
        assert terminal.end(20).code == 0
    assert (opened.read_text().strip() if opened.exists() else None) == (url if desktop else None)


@pytest.mark.parametrize("key", [CTRL_C, CTRL_D], ids=["Ctrl-C", "Ctrl-D"])
def test_mcp_on_a_terminal_prints_an_explanation(workspace: Workspace, key: str) -> None:
    with workspace.terminal("mcp") as terminal:
        terminal.wait_for("Agents start this command")
        terminal.type(HELLO.decode().splitlines()[0] + "\n")
        terminal.wait_for('"serverInfo"')
        terminal.type(key)
        assert terminal.end(20).code == 0


def test_progress_bar_appears_after_a_second_and_is_removed(workspace: Workspace) -> None:
    with workspace.terminal("migrate", "--rate", "50", "--batch-size", "5") as terminal:
        terminal.wait_until(lambda: "checking messages" in terminal.shown and "%" in terminal.shown, "a bar")
        ended = terminal.end()
        assert ended.code == 0
        assert "checking messages" not in terminal.shown
        assert "done" in terminal.shown
        assert terminal.cursor_is_shown


def test_import_bar_is_removed(workspace: Workspace) -> None:
    with closing(sqlite3.connect(workspace.folder / "store.db")) as other:
        other.execute("BEGIN IMMEDIATE")
        with workspace.terminal("import", "logs", "--workers", "1") as terminal:
            time.sleep(1.5)
            other.rollback()
            assert terminal.end().code == 0
            assert b"MB/s" in terminal.sent.partition(b"3/3 files")[2]
            assert "reading" not in terminal.shown
            assert "3 new sessions" in terminal.shown


def test_interrupted_progress_bar_is_removed(workspace: Workspace) -> None:
    with workspace.terminal("migrate", "--rate", "10", "--batch-size", "5") as terminal:
        terminal.wait_for("checking messages")
        terminal.type(CTRL_C)
        assert terminal.end(20).code == 130
        assert terminal.cursor_is_shown
        assert terminal.shown.splitlines()[-1] == "partita: interrupted"


def test_tour_is_animated(workspace: Workspace) -> None:
    with workspace.terminal("tour", rows=60) as terminal:
        terminal.wait_until(lambda: not terminal.cursor_is_shown, "the first drawing")
        terminal.wait_for("4. Try it")
        assert terminal.end().code == 0
        assert terminal.cursor_is_shown


def test_closed_window_ends_the_server(workspace: Workspace) -> None:
    with (
        workspace.terminal("serve", "--port", "0", "--no-import") as terminal,
        client_at(address(terminal)) as client,
        client.stream("POST", "/api/chat", json=CHAT) as answer,
    ):
        for text in answer.iter_text():
            if "text-delta" in text:
                break
        assert terminal.hang_up() == 0
    (run,) = workspace.piped("runs", "--thread", "c", "--json").end().output.splitlines()
    assert b'"status":"interrupted"' in run


def test_ctrl_c_ends_a_command_that_waits_for_a_lock(workspace: Workspace) -> None:
    with closing(sqlite3.connect(workspace.folder / "store.db")) as other:
        other.execute("BEGIN IMMEDIATE")
        process = workspace.piped("fork", "moon", "last")
        time.sleep(0.5)
        process.process.send(signal.SIGINT)
        began = time.monotonic()
        ended = process.end(20)
        assert (ended.code, ended.talk) == (130, b"partita: interrupted\n")
        assert time.monotonic() - began < 8
