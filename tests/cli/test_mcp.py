"""`partita mcp`, as an agent starts it."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from partita.cli.main import cli
from partita.types.json import JsonObject, dumps, loads
from tests.cli.view_store import CLOCK, fill, threads

HELLO: JsonObject = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}},
}


def call(id: int, tool: str, **given: object) -> JsonObject:
    return {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": given}}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("store") / "store.db")
    fill(path, threads)
    return path


def answers(store: str, *lines: JsonObject | bytes, options: tuple[str, ...] = ()) -> dict[int, JsonObject]:
    given = b"".join((one if isinstance(one, bytes) else dumps(one)) + b"\n" for one in lines)
    result = CliRunner().invoke(cli, ["mcp", "--store", store, *options], input=given)
    assert result.exit_code == 0, result.stderr
    return {reply["id"]: reply for reply in map(loads, result.stdout.splitlines())}


def test_every_request_is_answered_before_the_end(store: str) -> None:
    replies = answers(store, HELLO, call(1, "list_sessions"), call(2, "search_sessions", query="linker"))
    assert replies[0]["result"]["serverInfo"]["name"] == "partita"
    assert len(replies[1]["result"]["structuredContent"]["sessions"]) == 3
    assert "The **linker**." in replies[2]["result"]["content"][0]["text"]


def test_nothing_said_is_nothing_answered(store: str) -> None:
    assert answers(store) == {}


@pytest.mark.parametrize("options", [("--project", "/home/ada/clock"), ("--agent", "claude-code")])
def test_only_what_the_options_allow(store: str, options: tuple[str, ...]) -> None:
    replies = answers(store, call(1, "list_sessions"), options=options)
    assert [one["id"] for one in replies[1]["result"]["structuredContent"]["sessions"]] == [CLOCK]


def test_a_line_without_end_is_refused_and_the_next_one_answered(store: str) -> None:
    replies = answers(store, b"x" * (9 * 1024 * 1024), call(1, "list_sessions"))
    assert "more than" in replies[None]["error"]["message"]  # type: ignore[index] # no id could be read
    assert not replies[1]["result"]["isError"]


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_quietly(store: str, ending: signal.Signals, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "partita", "mcp", "--store", store]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(dumps(HELLO) + b"\n")
        process.stdin.flush()
        assert loads(process.stdout.readline())["id"] == 0
        process.send_signal(ending)
        assert process.wait(20) == 0
        assert process.stdout.read() == b""
        assert process.stderr is not None
        assert process.stderr.read() == b""


def test_it_ends_when_nobody_reads_its_answers(store: str) -> None:
    command = [sys.executable, "-m", "partita", "mcp", "--store", store]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        process.stdin.write(dumps(HELLO) + b"\n")
        process.stdin.flush()
        assert process.wait(20) == 0
        assert process.stderr.read() == b""
