"""`partita resume`: continue a session in the agent that recorded it."""

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from partita.errors import NotFoundError, PartitaError

from .blocking import opened_store
from .completion import complete_threads
from .options import resource_option, store_option
from .output import print_notice

if TYPE_CHECKING:  # imported when the command runs
    from partita.store.store import Store
    from partita.types.threads import Thread


class Resumable(NamedTuple):
    """A session that its agent can continue: the command, the project's folder, and the session's file."""

    agent: str
    session: str
    command: tuple[str, ...]
    folder: Path | None
    file: Path | None

    def for_shell(self) -> str:
        """Return the command for a shell in any folder."""
        text = shlex.join(self.command)
        if self.folder is None or self.folder == Path.cwd():
            return text
        return f"cd {shlex.quote(str(self.folder))} && {text}"


@click.command(
    short_help="Continue a session in its agent.",
    epilog="""\b
Examples:
  partita resume last                   print the command
  partita resume last --run             run it in the session's folder
  eval "$(partita resume 0198a3c2)"     the same
""",
)
@click.argument("thread", shell_complete=complete_threads)
@click.option("--run", "runs", is_flag=True, help="Run the command, in the folder of the session's project.")
@store_option
@resource_option
@click.option("--json", "as_json", is_flag=True, help="Print the command and its folder as JSON.")
def resume(*, thread: str, runs: bool, url: str | None, resource: str | None, as_json: bool) -> None:
    """Print the agent's own command that resumes the session THREAD (an id, the beginning of one, or `last`).

    This works for sessions of agents that can resume one by its id, such as `claude --resume ID`. To continue
    a thread in another agent, write it as a session of that agent with `partita export`.
    """
    if runs and as_json:
        raise click.UsageError("--run and --json exclude each other")
    from .lookup import find_thread

    with opened_store(url, resource) as (store, wait):
        found = wait(_resumable(store, wait(find_thread(store, thread))))
    if found.file is not None and not found.file.exists():
        print_notice(f"the file of the session no longer exists: {found.file}")
    if runs:
        _run(found)
    if found.folder is not None and not found.folder.is_dir():
        print_notice(f"the folder of the project no longer exists: {found.folder}")
    if as_json:
        from .output import print_json

        print_json(
            {
                "agent": found.agent,
                "session": found.session,
                "command": list(found.command),
                "folder": None if found.folder is None else str(found.folder),
            }
        )
    else:
        click.echo(found.for_shell())


async def _resumable(store: "Store", thread: "Thread") -> Resumable:
    """Return how to resume the session of a thread; raises if it is not one, or if its agent cannot."""
    from partita.logs.sources.registry import SOURCES

    metadata = thread.metadata or {}
    agent, session = thread.agent or "", metadata.get("sessionId")
    parent = metadata.get("parentThreadId")
    files = [one.path for one in await store.sources.list(thread_id=thread.id)]
    if not isinstance(session, str):
        session = await _session_of_run(store, thread.id) or (thread.id if files else None)
    if session is None or agent not in SOURCES:
        raise PartitaError(
            f"thread {thread.id!r} is not a session of an agent that can resume it",
            hint=f"`partita export {thread.id} --to codex` writes it as a session of another agent",
        )
    template = SOURCES[agent].resume
    if parent or not template:
        raise PartitaError(
            f"{thread.id!r} is a session of a sub-agent" if parent else f"{agent} cannot resume a session",
            hint=f"resume its session: partita resume {parent}" if parent else "",
        )
    folder = None if thread.project is None else Path(thread.project)
    command = tuple(word.replace("{session}", session) for word in template)
    return Resumable(agent, session, command, folder, Path(files[0]) if files else None)


async def _session_of_run(store: "Store", thread_id: str) -> str | None:
    """Return the session of the newest run of a thread that an agent served by Partita answered."""
    from partita.store.bulk.agent_sessions import AGENT_SESSION
    from partita.store.values import RunFilter

    for run in await store.runs.list(RunFilter(thread_id=thread_id)):
        session = (run.metadata or {}).get(AGENT_SESSION)
        if isinstance(session, str):
            return session
    return None


def _run(found: Resumable) -> None:
    """Run the command instead of this process, or as a child where processes cannot be replaced."""
    from shutil import which

    if found.folder is not None and not found.folder.is_dir():
        raise NotFoundError(
            "the folder of the project no longer exists",
            where=str(found.folder),
            hint=f"in another folder, run: {shlex.join(found.command)}",
        )
    program = which(found.command[0])
    if program is None:
        raise NotFoundError(f"{found.command[0]} was not found on PATH", hint=f"install {found.agent}")
    if found.folder is not None:
        os.chdir(found.folder)
    print_notice(shlex.join(found.command))
    sys.stdout.flush()
    if os.name == "nt":
        import subprocess

        sys.exit(subprocess.call([program, *found.command[1:]]))
    os.execv(program, found.command)


COMMAND = resume
