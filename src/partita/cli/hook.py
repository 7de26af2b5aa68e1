"""`partita hook`: an agent calls it when it stops, and its session is stored."""

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import click
import msgspec

from partita.errors import PartitaError
from partita.types.json import is_object

from .options import store_option

FINISHED: Final[Mapping[str, frozenset[str]]] = {
    # https://docs.claude.com/en/docs/claude-code/hooks
    "claude-code": frozenset({"Stop", "StopFailure", "SessionEnd"}),
    # https://github.com/openai/codex/blob/main/docs/config.md#notify
    "codex": frozenset({"agent-turn-complete", "Stop", "SessionEnd"}),
    # https://geminicli.com/docs/hooks/reference
    "gemini-cli": frozenset({"AfterAgent", "SessionEnd"}),
}
"""By agent: the events after which it does nothing until the next prompt."""

EXAMPLE = """\b
In Claude Code's settings.json:
  {"hooks": {"Stop": [{"hooks": [
    {"type": "command", "command": "partita hook claude-code"}]}]}}
SubagentStop, SessionEnd and PreCompact work in the same way.
\b
In Codex's config.toml:
  notify = ["partita", "hook", "codex"]
\b
In Gemini CLI's settings.json:
  {"hooks": {"AfterAgent": [{"hooks": [
    {"type": "command", "command": "partita hook gemini-cli"}]}]}}
SessionEnd and PreCompress work in the same way.
\b
Examples:
  echo '{"transcript_path": "session.jsonl"}' | partita hook claude-code
"""


class Notice(NamedTuple):
    """What an agent reports: the file of its session, and whether it is done."""

    transcript: Path
    finished: bool


@click.command(short_help="Store a session when its agent stops (called by the agent).", epilog=EXAMPLE)
@click.argument("agent", type=click.Choice(list(FINISHED)))
@click.argument("notice", required=False)
@store_option
@click.option("--resource", metavar="ID", help="Whose the thread becomes.")
@click.option("--strict", is_flag=True, help="Exit with 1 when something goes wrong; else the agent goes on.")
@click.pass_context
def hook(
    ctx: click.Context, *, agent: str, notice: str | None, url: str | None, resource: str | None, strict: bool
) -> None:
    """Store the session that an agent names in NOTICE (as Codex does) or on standard input, as JSON.

    After an event that ends a turn, the session's last run is completed. Errors are printed to standard
    error. The exit code is then 1 with --strict, else 0: an archive must never stop an agent from working.
    """
    try:
        named = _notice(agent, sys.stdin.buffer.read() if notice is None else notice.encode())
        problems = _store(named, url, resource or _resource())
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


def _notice(agent: str, data: bytes) -> Notice:
    """The session file that a hook's input names, by its path or by the id of the session."""
    try:
        given: Any = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        given = None
    fields = given if is_object(given) else {}
    event = fields.get("hook_event_name") or fields.get("type")
    finished = not isinstance(event, str) or event in FINISHED[agent]
    path = fields.get("transcript_path")
    if isinstance(path, str) and path:
        return Notice(Path(path).expanduser(), finished)
    session = fields.get("thread-id") or fields.get("session_id")
    if not isinstance(session, str) or not session:
        raise PartitaError(
            "the input names no session",
            where="transcript_path",
            hint="this command is called by an agent's hook, which gives it JSON",
        )
    return Notice(_log_of(agent, session), finished)


def _log_of(agent: str, session: str) -> Path:
    """The log of a session in the places of its agent; the one that was written to last."""
    from partita.logs.files import discover

    # Gemini CLI names a file by the beginning of the session's id.
    names = {session, session[:8]} if agent == "gemini-cli" else {session}
    found = [
        file
        for file in discover(agents=[agent])
        if file.kind != "subagent"
        and (file.session in names or file.path.name.partition(".")[0].endswith(tuple(names)))
    ]
    if not found:
        raise PartitaError(
            f"no log of session {session!r} was found",
            hint="`partita import --agent` lists the places; CODEX_HOME and GEMINI_CLI_HOME name others",
        )
    return max(found, key=lambda file: file.mtime_ns).path


def _store(notice: Notice, url: str | None, resource: str | None) -> list[str]:
    """Import a session with its sub-agents; returns what went wrong."""
    from partita.importers.logs.importer import import_logs
    from partita.importers.logs.watch import sessions_of
    from partita.logs.files import find_logs
    from partita.store.connection import open_store

    found = find_logs([notice.transcript])
    files = sessions_of([notice.transcript]) if found.files else []

    async def work() -> list[str]:
        async with open_store(url) as store:
            report = await import_logs(
                store, files or found.files, resource_id=resource, finished=notice.finished
            )
            return [f"{path}: {what}" for path, each in report.problems.items() for what in each]

    return [*map(str, found.problems), *asyncio.run(work())]


COMMAND = hook
