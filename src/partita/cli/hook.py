"""`partita hook`: imports a session when the hook of its agent calls it."""

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click
import msgspec

from partita.errors import PartitaError
from partita.types.json import is_object

from .import_logs import print_problems
from .options import store_option
from .output import print_json_line

if TYPE_CHECKING:  # imported when the command runs
    from partita.importers.logs.plan import LogImportReport

FINISHED: Final[Mapping[str, frozenset[str]]] = {
    # https://docs.claude.com/en/docs/claude-code/hooks
    "claude-code": frozenset({"Stop", "StopFailure", "SessionEnd"}),
    # https://github.com/openai/codex/blob/main/docs/config.md#notify
    "codex": frozenset({"agent-turn-complete", "Stop", "SessionEnd"}),
    # https://geminicli.com/docs/hooks/reference
    "gemini-cli": frozenset({"AfterAgent", "SessionEnd"}),
}
"""The events of each agent after which it waits for the next prompt."""

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
    """The content of a hook call: the session file, and whether the turn has ended."""

    transcript: Path
    finished: bool


@click.command(short_help="Import a session when its agent stops (called by the agent).", epilog=EXAMPLE)
@click.argument("agent", type=click.Choice(list(FINISHED)))
@click.argument("notice", required=False)
@store_option
@click.option("--resource", metavar="ID", help="The owner of the thread.")
@click.option("--strict", is_flag=True, help="Exit with 1 on errors. Some agents then report a failed hook.")
@click.option("--json", "as_json", is_flag=True, help="Print what was imported as JSON. Agents may read it.")
@click.pass_context
def hook(
    ctx: click.Context,
    *,
    agent: str,
    notice: str | None,
    url: str | None,
    resource: str | None,
    strict: bool,
    as_json: bool,
) -> None:
    """Import the session that an agent names as JSON, in NOTICE (as Codex does) or on standard input.

    After an event that ends a turn, the last run of the session becomes completed. Errors are printed on
    standard error. The exit code is 0 even then, so that the agent is not blocked, unless --strict is given.
    """
    from partita.importers.logs.plan import LogImportReport

    try:
        named = _notice(agent, sys.stdin.buffer.read() if notice is None else notice.encode())
        report = _store(named, url, resource or _resource())
    except PartitaError as error:
        report = LogImportReport()
        report.problem(error.where, error)
    if as_json:
        print_json_line(report.to_json())
    print_problems(report.problems)
    ctx.exit(1 if report.failed and strict else 0)


def _resource() -> str | None:
    """Return the owner from the settings. They are read here so that their errors follow `--strict`, too."""
    from partita.config.config import Config

    found = Config().get("import.resource")
    return None if found is None else str(found)


def _notice(agent: str, data: bytes) -> Notice:
    """Return the session file that a hook's input names, by its path or by the id of the session."""
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
            hint="run this command from an agent's hook, which passes JSON",
        )
    return Notice(_log_of(agent, session), finished)


def _log_of(agent: str, session: str) -> Path:
    """Return the log of a session in the folders of its agent; of several, the one modified last."""
    from partita.logs.files import discover

    # Gemini CLI names a file after the beginning of the session's id.
    names = {session, session[:8]} if agent == "gemini-cli" else {session}
    found = [
        file
        for file in discover(agents=[agent])
        if file.kind != "subagent"
        and (file.session in names or file.path.name.partition(".")[0].endswith(tuple(names)))
    ]
    if not found:
        raise PartitaError(
            f"there is no log of session {session!r}",
            hint="`partita agents` lists the folders; set CODEX_HOME or GEMINI_CLI_HOME to use others",
        )
    return max(found, key=lambda file: file.mtime_ns).path


def _store(notice: Notice, url: str | None, resource: str | None) -> "LogImportReport":
    """Import a session with its sub-agents."""
    from partita.importers.logs.importer import import_logs
    from partita.importers.logs.watch import sessions_of
    from partita.logs.files import find_logs
    from partita.store.connection import open_store

    found = find_logs([notice.transcript])
    files = sessions_of([notice.transcript]) if found.files else []

    async def work() -> "LogImportReport":
        async with open_store(url) as store:
            return await import_logs(
                store, files or found.files, resource_id=resource, finished=notice.finished
            )

    report = asyncio.run(work())
    for problem in found.problems:
        report.problem(problem.where, problem)
    return report


COMMAND = hook
