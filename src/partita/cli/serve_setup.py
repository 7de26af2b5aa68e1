"""What `partita serve` sets up: the agents, the import of sessions, the demo data, and the token."""

import asyncio
import os
import re
import secrets
import socket
import stat
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import click

from partita.errors import AgentError
from partita.types.json import dumps, is_object, loads

if TYPE_CHECKING:  # imported when the command runs
    from partita.importers.logs.plan import LogImportReport, Progress
    from partita.logs.sources.source import LogFile
    from partita.runtime.service import AgentService
    from partita.server.app_state import AppState
    from partita.server.runner import Work

DEMO = "demo"


def find_sessions() -> "tuple[LogFile, ...]":
    """Return the logs of agents on this machine, in the scope of the settings."""
    from partita.importers.logs.locations import configured_scope

    return configured_scope().search().files


async def import_sessions(state: "AppState") -> None:
    """Import all sessions of this machine, then every new line within a second."""
    from partita.errors import PartitaError

    from .import_logs import LogBar

    reporter = _ImportReporter()
    try:
        with LogBar() as bar:

            def show(done: "Progress") -> None:
                if not reporter.has_reported:
                    bar.show(done)

            await state.log_import.follow(on_progress=show, on_import=reporter.report)
    except PartitaError as error:  # the server continues without the import
        click.echo(f"The sessions of agents could not be imported: {error}", err=True)


def run_all(*works: "Work") -> "Work | None":
    """Return one background task that runs these concurrently; `None` if there are none."""
    if not works:
        return None

    async def work(state: "AppState") -> None:
        await asyncio.gather(*(each(state) for each in works))

    return work


class _ImportReporter:
    """Reports the first import on the terminal."""

    def __init__(self) -> None:
        self.has_reported = False

    def report(self, report: "LogImportReport") -> None:
        """Show the result of an import."""
        if self.has_reported:
            return
        self.has_reported = True
        counts = report.counts
        imported = f"{counts.new_threads:,} new sessions, {counts.new:,} new messages"
        click.echo(f"Imported {report.files:,} logs of agents: {imported}.", err=True)


class DemoData:
    """Adds demo threads to an empty store, then runs the demo agents for a few more."""

    def __init__(self) -> None:
        self._was_added = False

    async def add_threads(self, state: "AppState") -> None:
        """Add the demo threads if the store is empty."""
        if await state.store.threads.count():
            return
        from partita.demo.archive import load_archive

        self._was_added = True
        count = await load_archive(state.store)
        click.echo(f"The store was empty: added {count} demo threads.", err=True)

    async def run_agents(self, state: "AppState") -> None:
        """Run the demo agents if demo threads were added."""
        if self._was_added:
            from partita.demo.turns import run_turns

            await run_turns(state.session, state.agents.by_name)


# The token of a server without keys. Other users of this machine can connect, but do not know the token.
#
# It is stored in a file per port that only its owner can read. So an open browser tab still works after a
# restart, and programs of the same user can read it.

TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{43}")


def token_for(port: int) -> str:
    """Return the token for a port from its file; if there is none, create and store it."""
    path = _token_file(port)
    known = _read_token(path)
    if known is not None:
        return known
    token = secrets.token_urlsafe(32)
    with suppress(OSError):  # the printed address contains it, too
        _write_private(path, token)
    return token


def _state_folder() -> Path:
    from platformdirs import user_state_path

    return user_state_path("partita", appauthor=False)


def _token_file(port: int) -> Path:
    return _state_folder() / f"token-{port}"


def _read_token(path: Path) -> str | None:
    text = _read_private(path)
    return text if text is not None and TOKEN.fullmatch(text) else None


def _read_private(path: Path) -> str | None:
    """Return the text of a file; `None` if the file does not exist or other users can read it."""
    try:
        with path.open("rb") as file:
            found = os.fstat(file.fileno())
            text = file.read(4096).decode("utf-8", "replace").strip()
    except OSError:
        return None
    if os.name == "posix" and (found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077):
        return None
    return text


def _write_private(path: Path, text: str) -> None:
    """Write a text to a new file: others may have an existing one open."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    new = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(f"{text}\n")
    new.replace(path)


# Running servers. Each has a file with its address, its token and its store, which only its owner can read.


@contextmanager
def announce(address: str, url: str | None) -> Iterator[None]:
    """Let other commands find this server while it runs. `address` is that of the web UI, with its token."""
    path = _state_folder() / f"server-{os.getpid()}"
    with suppress(OSError):  # the address was printed, too
        _write_private(path, dumps({"address": address, "store": store_name(url)}).decode())
    try:
        yield
    finally:
        with suppress(OSError):
            path.unlink()


def find_server(url: str | None) -> str | None:
    """Return the address of the web UI of a running server of a store; `None` if there is none."""
    for path in sorted(_state_folder().glob("server-*")):
        found = loads(_read_private(path) or "null")
        if is_object(found) and found.get("store") == store_name(url):
            address = str(found.get("address"))
            if _is_reachable(address):
                return address
    return None


def _is_reachable(address: str) -> bool:
    """Whether a server accepts connections. One that was killed has left its file."""
    parts = urlsplit(address)
    try:
        with socket.create_connection((parts.hostname or "", parts.port or 80), timeout=1):
            return True
    except OSError:
        return False


def store_name(url: str | None) -> str:
    """Return the path of a store, or its URL without the password."""
    from partita.store.engines.location import locate, without_password

    location = locate(url)
    if location.path is not None:
        return str(location.path.resolve())
    return without_password(location.url) if location.url else f"memory:{os.getpid()}"


def with_fragment(address: str, fragment: str) -> str:
    """Return the address of a place in the web UI."""
    return f"{address}{'/' if fragment and not urlsplit(address).path else ''}{fragment}"


DISPLAYS: Final = ("DISPLAY", "WAYLAND_DISPLAY")


def open_browser(address: str) -> None:
    """Open the browser if there is a desktop. Without one, a text browser may block the terminal."""
    if "SSH_CONNECTION" in os.environ or "CI" in os.environ:
        return
    if sys.platform in ("darwin", "win32") or any(name in os.environ for name in DISPLAYS):
        import webbrowser

        webbrowser.open(address)


def find_agents(names: Sequence[str]) -> "dict[str, AgentService]":
    """Return the agents that `--agent` names, by name.

    Without names: the demo agents, then the agents that can run here, then the others.
    """
    if not names:
        from partita.demo.agent import demo_agent
        from partita.demo.network import demo_network
        from partita.runtime.registry import known_agents

        return {agent.name: agent for agent in (demo_agent(), demo_network())} | known_agents()
    found: dict[str, AgentService] = {}
    for name in names:
        agent = find_agent(name)
        found[name if agent.name in found else agent.name] = agent
    return found


def find_agent(name: str) -> "AgentService":
    """Return an agent by its name: one of `partita agents`, of another package, or `module:attribute`."""
    from partita.runtime.registry import KNOWN_AGENTS, NamedAgent, agent_names, get_agent

    kind, colon, rest = name.partition(":")
    if name == DEMO:
        from partita.demo.agent import demo_agent

        return demo_agent()
    known = next((one for one in KNOWN_AGENTS if one.name == name), None)
    if known is not None:
        return NamedAgent(name, get_agent(known.agent), known.description)
    if not colon or kind in agent_names():
        return get_agent(name)
    from partita.runtime.adapters.as_agent import as_agent

    return as_agent(_load_attribute(name, kind, rest))


def _load_attribute(name: str, module_name: str, path: str) -> Any:
    """Return an attribute of a module, which may be in the current folder."""
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        found: Any = import_module(module_name)
    except Exception as error:
        if not _is_missing(error, module_name):
            raise _import_error(name, error) from error
        from partita.runtime.registry import agent_names

        raise AgentError(
            f"there is no agent or module {module_name!r}",
            where=name,
            hint=f"use a module on the Python path, or one of {_similar(module_name, agent_names())}",
        ) from None
    for step in path.split("."):
        if not hasattr(found, step):
            raise AgentError(f"{module_name} has no {path!r}", where=name, hint="name it as module:attribute")
        found = getattr(found, step)
    return found


def _is_missing(error: Exception, module_name: str) -> bool:
    """Whether the module itself was not found, rather than something that it needs."""
    missing = error.name if isinstance(error, ModuleNotFoundError) else None
    return missing is not None and f"{module_name}.".startswith(f"{missing}.")


def _import_error(name: str, error: Exception) -> AgentError:
    """Return the error for a module that raised an exception, with the line."""
    from traceback import extract_tb

    place = extract_tb(error.__traceback__)[-1]
    line = (
        (error.filename, error.lineno) if isinstance(error, SyntaxError) else (place.filename, place.lineno)
    )
    return AgentError(
        f"{name} cannot be loaded: {type(error).__name__}: {error}",
        where=f"{line[0]}:{line[1]}",
        hint="PARTITA_TRACEBACK=1 shows the traceback",
    )


def _similar(name: str, known: Collection[str]) -> str:
    return ", ".join(get_close_matches(name, known) or known)
