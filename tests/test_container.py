"""The container file, checked without an engine: the copied files exist, and the server is healthy."""

import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ADDRESS = re.compile(r"Partita is at (http://\S+)")


def instructions() -> list[tuple[str, str]]:
    """Return every instruction of the file with its arguments, in order."""
    text = re.sub(r"\\\n\s*", " ", (ROOT / "Containerfile").read_text())
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in lines)]


def last(name: str) -> str:
    return [rest for word, rest in instructions() if word == name][-1]


def command_of(text: str) -> list[str]:
    """Return a command in JSON form, with programs of this environment instead of those of the image."""
    words: list[str] = json.loads(text[text.index("[") :])
    folder = Path(sys.executable).parent
    return [str(folder / words[0]), *words[1:]]


def copied() -> list[str]:
    return [
        source
        for word, rest in instructions()
        if word == "COPY" and "--from" not in rest
        for source in shlex.split(rest)[:-1]
    ]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
    return port


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Return the environment of the image, except for its folder and allowed host names."""
    image = dict(pair.split("=", 1) for pair in shlex.split(last("ENV")))
    here = {"PARTITA_HOST": "127.0.0.1", "PARTITA_PORT": str(free_port()), "HOME": str(tmp_path)}
    assert image.keys() >= {"PARTITA_HOST", "PARTITA_PORT", "PARTITA_STORE"}
    store = image["PARTITA_STORE"].replace("/data", str(tmp_path))
    return {**os.environ, **image, **here, "PARTITA_STORE": store}


@contextmanager
def started(environment: dict[str, str]) -> Generator[subprocess.Popen[str], None, None]:
    command = command_of(last("CMD"))
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert ADDRESS.match(process.stdout.readline())
            yield process
        finally:
            process.kill()


def is_healthy(environment: dict[str, str]) -> bool:
    check = command_of(last("HEALTHCHECK"))
    return subprocess.run(check, env=environment, capture_output=True, check=False).returncode == 0


def test_all_copied_files_exist_and_are_sent_to_the_builder() -> None:
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    kept = [line.removeprefix("!") for line in ignored if line.startswith("!")]
    for source in copied():
        assert (ROOT / source).exists(), source
        assert any(fnmatch(source, name) or source.startswith(f"{name}/") for name in kept), source


def test_the_started_server_is_healthy_until_it_is_stopped(
    environment: dict[str, str], tmp_path: Path
) -> None:
    assert not is_healthy(environment)
    with started(environment) as process:
        assert is_healthy(environment)
        process.send_signal(signal.SIGTERM)
        process.wait(20)
    assert not is_healthy(environment)
    assert (tmp_path / "partita.db").exists()
