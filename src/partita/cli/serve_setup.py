"""Agents as `partita serve --agent` names them."""

import asyncio
import os
import re
import secrets
import stat
import sys
from collections.abc import Sequence
from contextlib import suppress
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from partita.errors import AgentError

# The sessions of agents, brought in and followed beside a server.

if TYPE_CHECKING:  # the server is loaded when the command is run
    from partita.importers.logs.plan import LogImportReport, Progress
    from partita.logs.sources.source import LogFile
    from partita.server.app_state import AppState
    from partita.server.runner import Work


def sessions_here() -> "tuple[LogFile, ...]":
    """The logs that agents left on this machine."""
    from .import_logs import find

    return find((), ())[0]


async def following(state: "AppState") -> None:
    """Bring in what is there, then every new line within a second."""
    from partita.errors import PartitaError
    from partita.importers.logs.watch import watch_logs
    from partita.importers.logs.workers import Workers
    from partita.logs.files import roots

    from .import_logs import LogBar

    telling = _Telling(state)
    try:
        with Workers() as pool, LogBar() as bar:

            def show(done: "Progress") -> None:
                telling.progress(done)
                if not telling.told:
                    bar.show(done)

            await watch_logs(
                state.store,
                sessions_here,
                list(roots()),
                workers=pool,
                on_import=telling.report,
                on_progress=show,
            )
    except PartitaError as error:  # the server goes on without them
        state.progress.update("failed")
        click.echo(f"The sessions of agents could not be brought in: {error}", err=True)


def together(*works: "Work") -> "Work | None":
    """Works side by side, as one."""
    if not works:
        return None

    async def work(state: "AppState") -> None:
        await asyncio.gather(*(each(state) for each in works))

    return work


class _Telling:
    """Says on the terminal what the first look brought, and on the page how far each one is."""

    def __init__(self, state: "AppState") -> None:
        self._state = state
        self.told = False

    def progress(self, done: "Progress") -> None:
        """So far."""
        self._state.progress.update(
            "reading", files=done.files, all_files=done.all_files, messages=done.messages
        )

    def report(self, report: "LogImportReport") -> None:
        """It is done."""
        counts = report.counts
        self._state.progress.update(
            "done",
            files=report.files,
            all_files=report.files,
            sessions=counts.new_threads,
            messages=counts.new,
        )
        if self.told:
            return
        self.told = True
        brought = f"{counts.new_threads:,} new sessions, {counts.new:,} new messages"
        click.echo(f"{report.files:,} logs of agents were looked at: {brought}.", err=True)


# Something to look at, for a store that has nothing.

if TYPE_CHECKING:  # the server is loaded when the command is run
    from partita.server.app_state import AppState


class Examples:
    """A few conversations, and a few turns of the demo agents that are taken while one looks on."""

    def __init__(self) -> None:
        self._wanted = False

    async def put_in(self, state: "AppState") -> None:
        """The conversations, if there are none."""
        if await state.store.threads.count():
            return
        from partita.demo.archive import load_archive

        self._wanted = True
        count = await load_archive(state.store)
        click.echo(f"The store was empty: {count} examples are in it now.", err=True)

    async def act(self, state: "AppState") -> None:
        """The turns, if the conversations were put in just now."""
        if self._wanted:
            from partita.demo.turns import take_turns

            await take_turns(state.session, state.agents.by_name)


# The token of a server without keys: other users of this machine can connect to it, but do not know it.
#
# It is kept in a file that only its owner can read, one for each port: so an open tab of a browser still
# works after a restart, and programs of the same user can read it.

TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{43}")


def token_for(port: int) -> str:
    """The token of the server at a port: the one in its file, or a new one, which is then written there."""
    path = token_file(port)
    known = _read(path)
    if known is not None:
        return known
    token = secrets.token_urlsafe(32)
    with suppress(OSError):  # without the file, the address that is printed has it
        _write(path, token)
    return token


def token_file(port: int) -> Path:
    """The file that holds the token of the server at a port."""
    from platformdirs import user_state_path

    return user_state_path("partita", appauthor=False) / f"token-{port}"


def _read(path: Path) -> str | None:
    """The token in a file that only this user can read; `None` for any other file."""
    try:
        with path.open("rb") as file:
            found = os.fstat(file.fileno())
            text = file.read(100).decode("ascii", "replace").strip()
    except OSError:
        return None
    if os.name == "posix" and (found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077):
        return None
    return text if TOKEN.fullmatch(text) else None


def _write(path: Path, token: str) -> None:
    """Write a token, never into a file that is there already and that others may have open."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    new = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(f"{token}\n")
    new.replace(path)


if TYPE_CHECKING:  # the runtime is loaded when a command needs it
    from partita.runtime.service import AgentService

DEMO = "demo"


def agents_of(names: Sequence[str]) -> "dict[str, AgentService]":
    """The agents of these names, by what they are called; all that are known when none is named."""
    if not names:
        return all_agents()
    found: dict[str, AgentService] = {}
    for name in names:
        agent = agent_of(name)
        found[name if agent.name in found else agent.name] = agent
    return found


def all_agents() -> "dict[str, AgentService]":
    """The demo agents, then every agent that can be asked here, then those that lack something."""
    from partita.demo.agent import demo_agent
    from partita.demo.network import demo_network
    from partita.runtime.registry import known_agents

    demos = (demo_agent(), demo_network())
    return {agent.name: agent for agent in demos} | known_agents()


def agent_of(name: str) -> "AgentService":
    """The agent of one name: one that `partita agents` lists, of another package, or `module:attribute`."""
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

    return as_agent(_attribute(name, kind, rest))


def _attribute(name: str, module_name: str, path: str) -> Any:
    """What stands in a module: of this folder, too."""
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        found: Any = import_module(module_name)
    except Exception as error:
        if not _is_missing(error, module_name):
            raise _broken(name, error) from error
        from partita.runtime.registry import agent_names

        raise AgentError(
            f"no agent and no module {module_name!r}",
            where=name,
            hint=f"name a module that Python finds from here, or one of {_near(module_name, agent_names())}",
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


def _broken(name: str, error: Exception) -> AgentError:
    """What went wrong in a module of the user's, and on which line."""
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


def _near(word: str, known: Sequence[str]) -> str:
    return ", ".join(get_close_matches(word, known) or known)
