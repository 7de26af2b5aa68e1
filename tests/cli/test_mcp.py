"""`partita mcp` as agents start it."""

import contextlib
import signal
import subprocess
import sys

import pytest
from click.testing import CliRunner, Result

from partita.cli.main import cli
from partita.types.json import JsonObject, dumps, loads
from tests.cli.sample_store import CLOCK, add_threads, fill

# `stdio_client` keeps the standard error of the time of its import, and `CliRunner` closes its own.
with contextlib.redirect_stderr(sys.__stderr__):
    import mcp  # noqa: F401

HELLO: JsonObject = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


def call(id: int, tool: str, **arguments: object) -> JsonObject:
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("store") / "store.db")
    fill(path, add_threads)
    return path


def run(store: str, *lines: JsonObject | bytes, options: tuple[str, ...] = ()) -> Result:
    text = b"".join((one if isinstance(one, bytes) else dumps(one)) + b"\n" for one in lines)
    result = CliRunner().invoke(cli, ["mcp", "--store", store, *options], input=text)
    assert result.exit_code == 0, result.stderr
    return result


def responses(store: str, *lines: JsonObject, options: tuple[str, ...] = ()) -> dict[int, JsonObject]:
    """The responses by id."""
    lines_out = run(store, *lines, options=options).stdout.splitlines()
    return {response["id"]: response for response in map(loads, lines_out)}


def test_every_request_gets_its_response_before_the_end(store: str) -> None:
    found = responses(store, HELLO, call(1, "list_sessions"), call(2, "search_sessions", query="linker"))
    assert found[0]["result"]["serverInfo"]["name"] == "partita"
    assert len(found[1]["result"]["structuredContent"]["sessions"]) == 2
    assert "The **linker**." in found[2]["result"]["content"][0]["text"]


def test_a_cancelled_request_does_not_delay_the_end(store: str) -> None:
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    assert 0 in responses(store, HELLO, call(1, "list_sessions"), cancel)


def test_an_empty_input_has_no_responses(store: str) -> None:
    assert responses(store) == {}


@pytest.mark.parametrize("options", [("--project", "/home/ada/clock"), ("--agent", "claude-code")])
def test_options_limit_the_sessions(store: str, options: tuple[str, ...]) -> None:
    found = responses(store, HELLO, call(1, "list_sessions"), options=options)
    assert [one["id"] for one in found[1]["result"]["structuredContent"]["sessions"]] == [CLOCK]


def test_lines_that_are_too_long_or_not_json_are_skipped(
    store: str, caplog: pytest.LogCaptureFixture
) -> None:
    result = run(store, HELLO, b"x" * (9 * 1024 * 1024), b"", b"{", b'"\xff"', call(1, "list_sessions"))
    assert [loads(line)["id"] for line in result.stdout.splitlines()] == [0, 1]
    assert "a line with more than 4194304 bytes was skipped" in caplog.text


WITHOUT_EXTRA = """
import importlib.abc, sys

class Blocked(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in ("mcp", "mcp_types"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocked())
from partita.__main__ import main
main()
"""


def test_without_the_extra_the_error_says_how_to_install_it(store: str) -> None:
    command = [sys.executable, "-c", WITHOUT_EXTRA, "mcp", "--store", store]
    done = subprocess.run(command, input=dumps(HELLO), capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (1, b"")
    error = done.stderr.decode()
    assert "partita mcp needs partita[mcp], which is not installed" in error
    assert "pip install 'partita[mcp]'" in error


def test_other_commands_do_not_import_the_package(store: str) -> None:
    for arguments in (["--help"], ["mcp", "--help"], ["threads", "--store", store]):
        command = [sys.executable, "-c", WITHOUT_EXTRA, *arguments]
        subprocess.run(command, capture_output=True, check=True)


def start(store: str) -> "subprocess.Popen[bytes]":
    """The server in a new interpreter, which has received the handshake."""
    command = [sys.executable, "-m", "partita", "mcp", "--store", store]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(dumps(HELLO) + b"\n")
    process.stdin.flush()
    return process


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("calls", [0, 50], ids=["idle", "while tools run"])
def test_a_signal_ends_the_server_with_exit_code_0(store: str, ending: signal.Signals, calls: int) -> None:
    with start(store) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        assert loads(process.stdout.readline())["id"] == 0
        for number in range(calls):
            process.stdin.write(dumps(call(number + 1, "list_sessions")) + b"\n")
        process.stdin.flush()
        process.send_signal(ending)
        assert process.wait(20) == 0
        assert process.stdout.read() == b"" or calls
        assert process.stderr.read() == b""


def test_all_of_many_requests_get_their_responses_before_the_end(store: str) -> None:
    calls = [call(number, "list_sessions", limit=1) for number in range(1, 101)]
    assert responses(store, HELLO, *calls).keys() == set(range(101))


def test_the_server_ends_when_its_output_is_closed(store: str) -> None:
    with start(store) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        for number in range(50):
            process.stdin.write(dumps(call(number + 1, "list_sessions")) + b"\n")
        process.stdin.flush()
        assert process.wait(20) == 0
        assert process.stderr.read() == b""
