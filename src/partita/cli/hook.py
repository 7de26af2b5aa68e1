"""`partita hook`: an agent calls it when it stops, and its session is stored."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import click
import msgspec

from partita.errors import PartitaError
from partita.types.json import is_object

from .options import store_option

EXAMPLE = """\b
In Claude Code's settings.json:
  {"hooks": {"Stop": [{"hooks": [
    {"type": "command", "command": "partita hook claude-code"}]}]}}
SubagentStop, SessionEnd and PreCompact work in the same way.
\b
Examples:
  echo '{"transcript_path": "session.jsonl"}' | partita hook claude-code
"""


@click.command(short_help="Store a session when its agent stops (called by the agent).", epilog=EXAMPLE)
@click.argument("agent", type=click.Choice(["claude-code"]))
@store_option
@click.option("--resource", metavar="ID", help="Whose the thread becomes.")
@click.option("--strict", is_flag=True, help="Exit with 1 when something goes wrong; else the agent goes on.")
@click.pass_context
def hook(ctx: click.Context, *, agent: str, url: str | None, resource: str | None, strict: bool) -> None:
    """Read what the agent says on standard input, and store the session that it names.

    What goes wrong is told on standard error. The exit code is then 1 with --strict, else 0: an archive must
    never stop an agent from working.
    """
    try:
        transcript = _transcript(sys.stdin.buffer.read())
        problems = _store(transcript, url, resource or _resource())
    except PartitaError as error:
        problems = [str(error)]
    for problem in problems:
        click.echo(f"partita hook: {problem}", err=True)
    ctx.exit(1 if problems and strict else 0)


def _resource() -> str | None:
    """Whose threads become, by the settings. They are read here, so that a mistake in them stops no agent."""
    from partita.config.config import Config

    found = Config().get("import.resource")
    return None if found is None else str(found)


def _transcript(data: bytes) -> Path:
    """The session file that a hook's input names."""
    try:
        told: Any = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        told = None
    path = told.get("transcript_path") if is_object(told) else None
    if not isinstance(path, str) or not path:
        raise PartitaError(
            "the input names no session",
            where="transcript_path",
            hint="this command is called by an agent's hook, which gives it JSON",
        )
    return Path(path).expanduser()


def _store(transcript: Path, url: str | None, resource: str | None) -> list[str]:
    """Bring in a session with its sub-agents; gives what went wrong."""
    from partita.logs.agents import agent_files
    from partita.logs.importing.runner import import_logs
    from partita.logs.places.finding import find_logs
    from partita.store.opening import open_store

    found = find_logs([transcript, *(file.path for file in agent_files(transcript))])

    async def work() -> list[str]:
        async with open_store(url) as store:
            report = await import_logs(store, found.files, resource_id=resource)
            return [f"{path}: {what}" for path, each in report.problems.items() for what in each]

    return [*map(str, found.problems), *asyncio.run(work())]


COMMAND = hook
