"""`partita resume`: continue a session in the agent that recorded it."""

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from partita.errors import NotFoundError

from .blocking import opened_store
from .completion import complete_threads
from .options import resource_option, store_option
from .output import print_notice

if TYPE_CHECKING:  # imported when the command runs
    from partita.importers.resume import Resumable


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
    from partita.importers.resume import resumable

    from .lookup import find_thread

    with opened_store(url, resource) as (store, wait):
        found = wait(resumable(store, wait(find_thread(store, thread))))
    if found.file is not None and not found.file.exists():
        print_notice(f"the file of the session no longer exists: {found.file}")
    if runs:
        _run(found)
    if found.folder is not None and not Path(found.folder).is_dir():
        print_notice(f"the folder of the project no longer exists: {found.folder}")
    if as_json:
        from .output import print_json

        print_json(
            {
                "agent": found.agent,
                "session": found.session,
                "command": list(found.command),
                "folder": found.folder,
            }
        )
    else:
        click.echo(_for_shell(found))


def _for_shell(found: "Resumable") -> str:
    """Return the command for a shell in any folder."""
    if found.folder is None or Path(found.folder) == Path.cwd():
        return found.text
    return f"cd {shlex.quote(found.folder)} && {found.text}"


def _run(found: "Resumable") -> None:
    """Run the command instead of this process, or as a child where processes cannot be replaced."""
    from shutil import which

    if found.folder is not None and not Path(found.folder).is_dir():
        raise NotFoundError(
            "the folder of the project no longer exists",
            where=found.folder,
            hint=f"in another folder, run: {found.text}",
        )
    program = which(found.command[0])
    if program is None:
        raise NotFoundError(f"{found.command[0]} was not found on PATH", hint=f"install {found.agent}")
    if found.folder is not None:
        os.chdir(found.folder)
    print_notice(found.text)
    sys.stdout.flush()
    if os.name == "nt":
        import subprocess

        sys.exit(subprocess.call([program, *found.command[1:]]))
    os.execv(program, found.command)


COMMAND = resume
