"""Commands that a person watches, types at, and leaves."""

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
from .desk import Desk
from .material import THREAD

DOWN, UP, PAGE_DOWN = "\x1b[B", "\x1b[A", "\x1b[6~"
CHAT = {"id": "c", "messages": [{"id": "u", "role": "user", "parts": [{"type": "text", "text": "flood"}]}]}


@pytest.mark.skipif(shutil.which("less") is None, reason="there is no less")
def test_a_long_thread_is_shown_page_by_page_until_q(desk: Desk) -> None:
    with desk.terminal("show", THREAD, rows=8, environment={"PAGER": "less"}) as terminal:
        terminal.wait_until(lambda: terminal.shown.endswith(":"), "a prompt")
        first = terminal.shown
        assert b"\x1b[7mloud" not in terminal.sent
        assert b"\x1b[1m" in terminal.sent  # in colour
        terminal.type(" ")
        terminal.wait_until(lambda: terminal.shown not in (first, ""), "the next page")
        terminal.type("q")
        assert terminal.end().code == 0


@pytest.mark.skipif(shutil.which("less") is None, reason="there is no less")
def test_a_short_thread_needs_no_key(desk: Desk) -> None:
    with desk.terminal("show", "sky", rows=100, environment={"PAGER": "less"}) as terminal:
        assert terminal.end().code == 0
        assert "weather?" in terminal.shown


def test_a_run_is_drawn_while_it_plays_and_stays_when_it_has(desk: Desk) -> None:
    with desk.terminal("replay", "last", "--speed", "0.001", "--longest-pause", "0.05") as terminal:
        terminal.wait_until(lambda: not terminal.cursor_is_shown, "the drawing begun")
        terminal.wait_for("✓ completed")
        ended = terminal.end()
        assert (ended.code, terminal.cursor_is_shown) == (0, True)
        assert terminal.shown.count("It is sunny in Oslo, and it will stay so.") == 1
        assert ended.text.count("I should look it up.") > 2  # it was drawn again and again


def test_a_run_that_plays_can_be_left(desk: Desk) -> None:
    with desk.terminal("replay", "last", "--speed", "0.001") as terminal:
        terminal.wait_until(lambda: not terminal.cursor_is_shown, "the drawing begun")
        terminal.type(CTRL_C)
        assert terminal.end(10).code == 130
        assert terminal.cursor_is_shown
        assert terminal.shown.endswith("partita: interrupted")


def place(terminal: Terminal) -> str:
    return (terminal.shown.split(maxsplit=1) or [""])[0]


def go(terminal: Terminal, key: str, to: str) -> None:
    terminal.type(key)
    terminal.wait_until(lambda: place(terminal) == to and "q leave" in terminal.shown, f"{key!r} → {to}")


def test_a_run_is_stepped_through_with_keys(desk: Desk) -> None:
    with desk.terminal("replay", "last", "--step") as terminal:
        terminal.wait_for("q leave")
        first, last = place(terminal).split("/")
        assert first == "0"
        go(terminal, "\r", f"1/{last}")
        begun = terminal.shown
        go(terminal, DOWN, f"3/{last}")  # what lies between is a note of ours
        go(terminal, UP, f"1/{last}")
        assert terminal.shown == begun
        go(terminal, "G", f"{last}/{last}")
        assert "It is sunny in Oslo" in terminal.shown
        terminal.resize(60, 30)
        go(terminal, "g", f"0/{last}")
        go(terminal, "x", f"0/{last}")  # no key: nothing happens
        assert max(map(len, terminal.shown.splitlines())) <= 60
        terminal.type("q")
        assert terminal.end().code == 0


def test_keys_that_are_pressed_quickly_are_all_taken(desk: Desk) -> None:
    with desk.terminal("replay", "last", "--step") as terminal:
        terminal.wait_for("q leave")
        last = place(terminal).split("/")[1]
        terminal.type("\r" + DOWN + "x" + UP)
        terminal.wait_until(lambda: place(terminal) == f"1/{last}", "the first chunk")
        terminal.type("Gq")
        assert terminal.end(10).code == 0
        assert place(terminal) == f"{last}/{last}"


def test_ctrl_c_leaves_the_steps(desk: Desk) -> None:
    with desk.terminal("replay", "last", "--step") as terminal:
        terminal.wait_for("q leave")
        terminal.type(CTRL_C)
        assert terminal.end(10).code == 0


def test_what_is_appended_to_a_session_is_told(desk: Desk) -> None:
    path = desk.folder / "followed" / f"{SESSION}.jsonl"
    path.parent.mkdir()
    talk = gardening()
    path.write_bytes(b"".join(talk.lines().splitlines(keepends=True)[:4]))
    with desk.terminal("watch", "followed") as terminal:
        terminal.wait_for("1 files, 3 new messages")
        talk.append(path, 4)
        terminal.wait_until(lambda: terminal.shown.count(" new messages, ") > 1, "the new lines")
        terminal.type(CTRL_C)
        assert terminal.end(20).code == 0
        assert "Traceback" not in terminal.shown


def address(terminal: Terminal) -> str:
    """The address that a server prints, with its token."""
    terminal.wait_for("/api/docs)")
    return terminal.shown.partition("Partita is at ")[2].split()[0]


def client_at(address: str) -> httpx.Client:
    """A client that has the token of an address."""
    url, _, token = address.partition("/?token=")
    return httpx.Client(base_url=url, headers={"authorization": f"Bearer {token}"}, timeout=30)


def test_a_server_is_left_with_one_ctrl_c(desk: Desk) -> None:
    with desk.terminal("serve", "--port", "0") as terminal:
        with client_at(address(terminal)) as client:
            assert client.get("/api/threads").status_code == 200
        terminal.type(CTRL_C)
        assert terminal.end(20).code == 0
        assert terminal.shown.endswith("^C")  # and nothing after it


def test_a_server_with_a_run_at_work_is_left_at_once_with_two(desk: Desk) -> None:
    with (
        desk.terminal("serve", "--port", "0", "--no-import") as terminal,
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
    (run,) = desk.piped("runs", "--thread", "c", "--json").end().output.splitlines()
    assert b'"status":"interrupted"' in run


@pytest.mark.parametrize("desktop", [True, False], ids=["on a desktop", "elsewhere"])
def test_alone_it_serves_and_opens_a_browser_where_one_is_seen(tmp_path: Path, *, desktop: bool) -> None:
    desk = Desk(tmp_path)
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {tmp_path}/opened\n')
    browser.chmod(0o755)
    given = {"DISPLAY": ":0", "BROWSER": f"{browser} %s"}
    if desktop:
        desk.environment = {name: value for name, value in desk.environment.items() if name != "CI"}
    with desk.terminal(environment=given) as terminal:
        url = address(terminal)
        opened = tmp_path / "opened"
        patience = time.monotonic() + 10
        while desktop and not opened.exists() and time.monotonic() < patience:
            time.sleep(0.05)
        terminal.type(CTRL_C)
        assert terminal.end(20).code == 0
    assert (opened.read_text().strip() if opened.exists() else None) == (url if desktop else None)


@pytest.mark.parametrize("key", [CTRL_C, CTRL_D], ids=["Ctrl-C", "Ctrl-D"])
def test_mcp_in_a_terminal_explains_itself(desk: Desk, key: str) -> None:
    with desk.terminal("mcp") as terminal:
        terminal.wait_for("Agents start this command")
        terminal.type(HELLO.decode().splitlines()[0] + "\n")
        terminal.wait_for('"serverInfo"')
        terminal.type(key)
        assert terminal.end(20).code == 0


def test_a_bar_comes_after_a_second_and_goes(desk: Desk) -> None:
    with desk.terminal("migrate", "--rate", "50", "--batch-size", "5") as terminal:
        terminal.wait_until(
            lambda: "looking at messages" in terminal.shown and "%" in terminal.shown, "a bar"
        )
        ended = terminal.end()
        assert ended.code == 0
        assert "looking at messages" not in terminal.shown
        assert "done" in terminal.shown
        assert terminal.cursor_is_shown


def test_the_bar_of_an_import_that_had_to_wait(desk: Desk) -> None:
    with closing(sqlite3.connect(desk.folder / "store.db")) as other:
        other.execute("BEGIN IMMEDIATE")
        with desk.terminal("import", "logs", "--workers", "1") as terminal:
            time.sleep(1.5)
            other.rollback()
            assert terminal.end().code == 0
            assert b"MB/s" in terminal.sent.partition(b"3/3 files")[2]
            assert "reading" not in terminal.shown
            assert "3 with news" in terminal.shown


def test_a_bar_that_is_interrupted_goes_too(desk: Desk) -> None:
    with desk.terminal("migrate", "--rate", "10", "--batch-size", "5") as terminal:
        terminal.wait_for("looking at messages")
        terminal.type(CTRL_C)
        assert terminal.end(20).code == 130
        assert terminal.cursor_is_shown
        assert terminal.shown.splitlines()[-1] == "partita: interrupted"


def test_the_tour_is_drawn(desk: Desk) -> None:
    with desk.terminal("tour", rows=60) as terminal:
        terminal.wait_until(lambda: not terminal.cursor_is_shown, "the drawing begun")
        terminal.wait_for("3. Now with your own")
        assert terminal.end().code == 0
        assert terminal.cursor_is_shown


def test_a_window_that_is_closed_ends_a_server_in_order(desk: Desk) -> None:
    with (
        desk.terminal("serve", "--port", "0", "--no-import") as terminal,
        client_at(address(terminal)) as client,
        client.stream("POST", "/api/chat", json=CHAT) as answer,
    ):
        for text in answer.iter_text():
            if "text-delta" in text:
                break
        assert terminal.hang_up() == 0
    (run,) = desk.piped("runs", "--thread", "c", "--json").end().output.splitlines()
    assert b'"status":"interrupted"' in run


def test_who_waits_for_a_lock_need_not_wait_any_more(desk: Desk) -> None:
    with closing(sqlite3.connect(desk.folder / "store.db")) as other:
        other.execute("BEGIN IMMEDIATE")
        process = desk.piped("fork", "moon", "last")
        time.sleep(0.5)
        process.process.send(signal.SIGINT)
        began = time.monotonic()
        ended = process.end(20)
        assert (ended.code, ended.talk) == (130, b"partita: interrupted\n")
        assert time.monotonic() - began < 8
