"""Uses the web apps of the guides in a real browser."""

import socket
import subprocess
from pathlib import Path

from .clean_machine import CleanMachine
from .progress import StepError, report

PORTS = (3000, 8000)
"""The ports in the guides."""


def check_ports() -> None:
    """Fail early if the ports of the guides are in use."""
    for port in PORTS:
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                raise StepError(f"port {port} is in use; the guides need {' and '.join(map(str, PORTS))}")


def check_chat(machine: CleanMachine, page: Path) -> None:
    """Send messages, approve a call, reload and stop, and check what the web app shows."""
    _run_script(machine, page, "chat.mjs", "http://localhost:3000")


def check_quick_start(machine: CleanMachine, page: Path) -> None:
    """Send a message at both addresses of the web app, and check that the response is shown."""
    _run_script(machine, page, "quick_start.mjs", "http://localhost:3000", "http://127.0.0.1:3000")


def _run_script(machine: CleanMachine, page: Path, name: str, *addresses: str) -> None:
    report("  in Chromium:")
    script = machine.clone / "docs" / "walk" / name
    result = subprocess.run(
        ["node", str(script), *addresses],
        env=machine.environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    for line in result.stdout.splitlines():
        report(f"  {line}")
    if result.returncode != 0:
        raise StepError(f"{page.name}: the web app does not work as described\n{result.stderr}")
