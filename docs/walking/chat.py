"""The chat of the guide, in a real browser."""

import socket
import subprocess
from pathlib import Path

from .stranger import Stranger
from .telling import Stumble, say

PORTS = (3000, 8000)
"""Those that the guide names."""


def check_ports() -> None:
    """Fail early when somebody else listens where the guide does."""
    for port in PORTS:
        with socket.socket() as asked:
            if asked.connect_ex(("127.0.0.1", port)) == 0:
                raise Stumble(f"port {port} is taken; the guide needs {' and '.join(map(str, PORTS))}")


def use_chat(stranger: Stranger, page: Path) -> None:
    """Ask, allow, reload, stop: what the page says that one sees."""
    say("  in Chromium:")
    driver = stranger.clone / "docs" / "walking" / "chat.mjs"
    result = subprocess.run(
        ["node", str(driver), "http://localhost:3000"],
        env=stranger.surroundings,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    for line in result.stdout.splitlines():
        say(f"  {line}")
    if result.returncode != 0:
        raise Stumble(f"{page.name}: the chat does not do what the page says\n{result.stderr}")
