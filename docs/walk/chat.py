"""Uses the chat of the guide in a real browser."""

import socket
import subprocess
from pathlib import Path

from .clean_machine import CleanMachine
from .progress import StepError, report

PORTS = (3000, 8000)
"""The ports in the guide."""


def check_ports() -> None:
    """Fail early if the ports of the guide are in use."""
    for port in PORTS:
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                raise StepError(f"port {port} is in use; the guide needs {' and '.join(map(str, PORTS))}")


def check_chat(machine: CleanMachine, page: Path) -> None:
    """Send messages, approve a call, reload and stop, and check what the page shows."""
    report("  in Chromium:")
    script = machine.clone / "docs" / "walk" / "chat.mjs"
    result = subprocess.run(
        ["node", str(script), "http://localhost:3000"],
        env=machine.environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    for line in result.stdout.splitlines():
        report(f"  {line}")
    if result.returncode != 0:
        raise StepError(f"{page.name}: the chat does not work as described\n{result.stderr}")
