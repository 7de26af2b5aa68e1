"""`partita serve`."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner

from partita.cli.main import cli
from partita.cli.serve_setup import find_agent, find_agents
from partita.errors import AgentError
from partita.runtime.scripted import ScriptedService
from partita.types.json import dumps, loads
from tests.processes import Piped, Terminal
from tests.tables import each_row

SESSION = [
    {
        "type": "user",
        "uuid": "u1",
        "parentUuid": None,
        "sessionId": "5d0e3d0c-5d6e-4a5c-9a43-0d2f3f6f0a01",
        "timestamp": "2026-03-01T09:00:00.000Z",
        "cwd": "/home/kari/lamp",
        "version": "2.0.0",
        "message": {"role": "user", "content": "Is the lamp lit?"},
    }
]


class Server:
    """The server in a process, in an otherwise empty home directory."""

    def __init__(self, home: Path, *arguments: str, as_default: bool = False, **environment: str) -> None:
        given = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "PARTITA_STORE": str(home / "store.db"),
            **environment,
        }
        self._process: Terminal | Piped
        if as_default:
            self._process = Terminal(*arguments, environment=given, folder=home, columns=200)
            self._process.wait_for("/api/docs)")
            self.line = self._process.shown.strip().splitlines()[-1]
        else:
            self._process = Piped("serve", *arguments, environment=given, folder=home, given=None)
            self._process.wait_for(b"/api/docs)\n")
            self.line = self._process.written.decode().strip()
        self.address = self.line.removeprefix("Partita is at ").partition(" ")[0]
        self.url, _, self.token = self.address.partition("/?token=")
        headers = {"authorization": f"Bearer {self.token}"} if self.token else {}
        self.client = httpx.Client(base_url=self.url, headers=headers, timeout=30, verify=False)

    def stop(self) -> tuple[int, str]:
        self._process.process.send(signal.SIGTERM)
        ended = self._process.end(30)
        return ended.code, ended.talk.decode()

    def close(self) -> None:
        self.client.close()
        if isinstance(self._process, Terminal):
            self._process.__exit__()
        else:
            self._process.process.send(signal.SIGKILL)
            self._process.end(30)


@pytest.fixture
def running() -> Iterator[list[Server]]:
    servers: list[Server] = []
    yield servers
    for server in servers:
        server.close()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as one:
        port: int = one.getsockname()[1]
        return port


def threads(server: Server) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = server.client.get("/api/threads").json()["items"]
    return items


def test_empty_store_has_demo_data_and_the_demo_agent(tmp_path: Path, running: list[Server]) -> None:
    server = Server(tmp_path, "--port", "0", "--log-level", "info", PARTITA_LOG_FORMAT="json")
    running.append(server)
    assert (
        server.line == f"Partita is at {server.url}/?token={server.token} (API docs: {server.url}/api/docs)"
    )
    assert {"A picnic that must not get wet", "Lamp oil, and who may order it"} <= {
        thread["title"] for thread in threads(server)
    }
    chat = {"id": "c", "messages": [{"id": "u", "role": "user", "parts": [{"type": "text", "text": "fail"}]}]}
    response = server.client.post("/api/chat", json=chat, headers={"x-request-id": "req-1"})
    assert "the script says that this one fails" in response.text
    code, talk = server.stop()
    assert code == 0
    assert "The store was empty: added" in talk
    log = [loads(line.encode()) for line in talk.splitlines() if line.startswith("{")]
    (failed,) = [line for line in log if line["level"] == "error"]
    assert failed["run_id"] == response.headers["x-partita-run-id"]
    assert (failed["request_id"], failed["thread_id"]) == ("req-1", "c")
    assert [line["message"] for line in log][-2:] == ["closing", "closed"]
    assert any(line["message"].startswith("shutting down") for line in log)
    again = Server(tmp_path, "--port", "0")
    running.append(again)
    assert "c" in {thread["id"] for thread in threads(again)}  # the thread is still there
    assert again.stop() == (0, "")


def test_token_is_required_and_kept_after_a_restart(tmp_path: Path, running: list[Server]) -> None:
    port = str(free_port())
    first = Server(tmp_path, "--port", port, "--no-import", "--no-demo")
    running.append(first)
    assert httpx.get(f"{first.url}/api/threads").status_code == 401
    assert threads(first) == []
    file = tmp_path / ".local" / "state" / "partita" / f"token-{port}"
    if sys.platform == "linux":
        assert file.read_text().strip() == first.token
        assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o077) == (0o600, 0)
    with httpx.Client(base_url=first.url, follow_redirects=True) as browser:
        assert browser.get(first.address).status_code == 200
        assert browser.get("/api/threads").status_code == 200
        first.stop()
        running.append(Server(tmp_path, "--port", port, "--no-import", "--no-demo"))
        assert browser.get("/api/threads").status_code == 200, "an open tab still works"


@pytest.mark.skipif(sys.platform != "linux", reason="the folder is elsewhere")
def test_token_in_a_readable_file_is_replaced(tmp_path: Path, running: list[Server]) -> None:
    port = str(free_port())
    file = tmp_path / ".local" / "state" / "partita" / f"token-{port}"
    file.parent.mkdir(parents=True)
    file.write_text("a" * 43)
    file.chmod(0o644)
    server = Server(tmp_path, "--port", port, "--no-import", "--no-demo")
    running.append(server)
    assert server.token != "a" * 43
    assert (file.read_text().strip(), file.stat().st_mode & 0o777) == (server.token, 0o600)


def test_token_can_be_disabled(tmp_path: Path, running: list[Server]) -> None:
    server = Server(tmp_path, "--port", "0", "--no-import", "--no-demo", "--no-token")
    running.append(server)
    assert server.line == f"Partita is at {server.url} (API docs: {server.url}/api/docs)"
    assert threads(server) == []
    assert not list((tmp_path / ".local" / "state").glob("**/token-*"))


def test_address_is_printed_as_json_when_the_server_is_ready(tmp_path: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PARTITA_STORE": str(tmp_path / "s.db")}
    arguments = ("serve", "--json", "--port", "0", "--no-import", "--no-demo")
    process = Piped(*arguments, environment=environment, folder=tmp_path, given=None)
    process.wait_for(b"}\n")
    ready = loads(process.written)
    assert httpx.get(ready["url"], follow_redirects=True).status_code == 200
    assert ready["store"] == str((tmp_path / "s.db").resolve())
    os.kill(ready["pid"], signal.SIGTERM)
    assert process.end(30).code == 0


def with_session(home: Path) -> Path:
    folder = home / ".claude" / "projects" / "-home-kari-lamp"
    folder.mkdir(parents=True)
    lines = b"".join(dumps(line) + b"\n" for line in SESSION)
    log = folder / "5d0e3d0c-5d6e-4a5c-9a43-0d2f3f6f0a01.jsonl"
    log.write_bytes(lines)
    return log


def test_sessions_are_imported_instead_of_demo_data(tmp_path: Path, running: list[Server]) -> None:
    with_session(tmp_path)
    server = Server(tmp_path, "--port", "0")
    running.append(server)
    while not threads(server):  # until the timeout of the test
        time.sleep(0.05)
    (thread,) = threads(server)
    assert thread["agent"] == "claude-code"
    assert server.stop()[0] == 0


def test_new_lines_of_sessions_are_imported(tmp_path: Path, running: list[Server]) -> None:
    log = with_session(tmp_path)
    server = Server(tmp_path, "--port", "0")
    running.append(server)
    while not threads(server):
        time.sleep(0.05)
    more = {
        **SESSION[0],
        "uuid": "u2",
        "parentUuid": "u1",
        "message": {"role": "user", "content": "And now?"},
    }
    with log.open("ab") as file:
        file.write(dumps(more) + b"\n")
    while threads(server)[0]["messageCount"] < 2:  # until the timeout of the test
        time.sleep(0.05)


def test_server_is_the_default_command_on_a_terminal(tmp_path: Path, running: list[Server]) -> None:
    with_session(tmp_path)
    server = Server(tmp_path, as_default=True, PARTITA_PORT="0")
    running.append(server)
    assert server.url.startswith("http://127.0.0.1:")
    assert "<title>Partita" in server.client.get("/").text
    while not threads(server):
        time.sleep(0.05)
    assert server.stop()[0] == 0


def test_demo_data_has_a_pending_approval(tmp_path: Path, running: list[Server]) -> None:
    server = Server(tmp_path, "--port", "0")
    running.append(server)
    url = "/api/parts?thread=demo-postcard&states=approval-requested"
    while not server.client.get(url).json()["items"]:
        time.sleep(0.1)
    by_id = {thread["id"]: thread for thread in threads(server)}
    assert {"demo-team", "demo-tide", "demo-weather"} <= by_id.keys()


def test_demo_data_can_be_disabled(tmp_path: Path, running: list[Server]) -> None:
    server = Server(tmp_path, "--port", "0", "--no-demo")
    running.append(server)
    assert threads(server) == []


def test_import_of_sessions_can_be_disabled(tmp_path: Path, running: list[Server]) -> None:
    with_session(tmp_path)
    server = Server(tmp_path, "--port", "0", "--no-import")
    running.append(server)
    assert all(thread["metadata"].get("demo") for thread in threads(server))


def test_given_port_in_use_is_an_error(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        store = str(tmp_path / "s.db")
        result = CliRunner().invoke(cli, ["serve", "--port", port, "--store", store, "--no-import"])
    assert result.exit_code == 1
    assert f"port {port} is taken" in result.stderr
    assert "hint: choose another one with --port" in result.stderr


def test_default_port_in_use_is_replaced_by_the_next(
    tmp_path: Path,
) -> None:
    port = free_port()
    program = (
        "import partita.cli.serve as module\n"
        f"option = next(one for one in module.serve.params if one.name == 'port'); option.default = {port}\n"
        "from partita.cli.main import main; main()\n"
    )
    with socket.create_server(("127.0.0.1", port)):
        process = subprocess.Popen(
            [sys.executable, "-c", program, "serve", "--no-import"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PARTITA_STORE": str(tmp_path / "s.db")},
        )
        assert process.stdout is not None
        line = process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        _, talk = process.communicate(timeout=30)
    assert f":{port} " not in line
    assert f"Port {port} is in use" in talk


def test_other_hosts_require_keys(tmp_path: Path) -> None:
    result = CliRunner().invoke(cli, ["serve", "--host", "0.0.0.0", "--store", str(tmp_path / "s.db")])
    assert result.exit_code == 1
    assert "without keys, the server is for this machine only" in result.stderr
    assert "partita keys create" in result.stderr


def test_environment_sets_the_port(tmp_path: Path, running: list[Server]) -> None:
    port = free_port()
    server = Server(tmp_path, "--no-import", PARTITA_PORT=str(port))
    running.append(server)
    assert server.url == f"http://127.0.0.1:{port}"


def test_agents_are_found_by_name_or_in_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "turns.json"
    script.write_bytes(dumps({"scenes": []}))
    (tmp_path / "lamp_app.py").write_text(
        "async def keeper(ask):\n    yield 'Lit.'\n\nclass Agents:\n    one = keeper\n"
    )
    monkeypatch.chdir(tmp_path)
    assert isinstance(find_agent(f"scripted:{script}"), ScriptedService)
    assert find_agent("lamp_app:keeper").name == "keeper"
    assert find_agent("lamp_app:Agents.one").name == "keeper"
    assert list(find_agents([]))[:2] == ["demo", "demo-network"]
    assert list(find_agents(["demo", f"scripted:{script}", f"scripted:{script}"])) == [
        "demo",
        "scripted",
        f"scripted:{script}",
    ]


WRONG = {
    "lamp_app_that_is_not:agent": "there is no agent or module",
    "json:nothing": "has no 'nothing'",
    "json:decoder": "is not an agent",
    "antropic": "did you mean 'anthropic'",
}


@each_row(("name", "expected"), WRONG.items(), ids=WRONG)
def test_unknown_agent_is_an_error(name: str, expected: str) -> None:
    with pytest.raises(AgentError) as error:
        find_agent(name)
    assert expected in str(error.value)
