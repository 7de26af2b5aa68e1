"""`partita import`: the sessions of coding agents on this machine, rows of another system, or messages."""

import click

from .completion import Items, complete_formats, complete_log_agents, matching
from .options import is_given, store_option

SYSTEMS = ("mastra", "cherry", "smithers")
"""Whose rows can be brought in. The store knows them too, but takes a tenth of a second to be asked."""

FOR_LOGS = ("agents", "workers")
FOR_ROWS = ("tables", "batch_size")
FOR_MESSAGES = ("thread", "thread_by")

DEMO_ALONE = "--demo brings in the examples: of the others, only --store and --json fit"
NO_LOGS = "--dry-run, --tables, --batch-size and --thread are for rows: name a system with --from"
ONE_FILE = "with a format after --from, name one file, and only options that fit messages"
ONE_SOURCE = "with --from, name one source, and neither --agent, --workers nor --thread"


def _sources(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """What may be named with --from."""
    return [
        *matching(((name, None) for name in SYSTEMS), incomplete),
        *complete_formats(ctx, param, incomplete),
    ]


@click.command(
    "import",
    short_help="Bring in agents' sessions, or rows of other systems.",
    epilog="""\b
Examples:
  partita import                                    every session found here
  partita import ~/.claude/projects/-home-me-app    a folder, or single files
  partita import --agent codex                      one agent's
  partita import mastra.db --from mastra --dry-run  what would be done
  partita import postgresql://me@host/app --from mastra --tables my_schema
  partita import dump/ --from smithers --json       a folder of CSV, JSONL …
  partita import chats.jsonl --from ai-sdk-ui-v5 --thread-by chatId
  partita import --demo --store examples.db         examples to look at
""",
)
@click.argument("paths", nargs=-1, metavar="[PATH]…")
@click.option(
    "--from",
    "system",
    metavar="NAME",
    shell_complete=_sources,
    help=f"No logs, but rows of {', '.join(SYSTEMS)}, or messages in a format of `partita formats`.",
)
@store_option
@click.option(
    "--resource",
    metavar="ID",
    help="The owner of what is imported. Without it, messages and rows keep the owner that they name.",
)
@click.option(
    "--agent",
    "agents",
    multiple=True,
    metavar="NAME",
    shell_complete=complete_log_agents,
    help="Logs: only of this agent.",
)
@click.option("--workers", metavar="N", type=click.IntRange(min=1), help="Logs: how many processes read.")
@click.option("--tables", metavar="NAME", help="Rows: the schema or prefix of the tables.")
@click.option(
    "--batch-size",
    metavar="N",
    type=click.IntRange(min=1),
    default=200,
    show_default=True,
    help="Rows: messages a transaction.",
)
@click.option("--thread", metavar="ID", help="Messages: the thread that they go to.")
@click.option("--thread-by", metavar="NAME", help="Messages: the column that names their thread.")
@click.option("--dry-run", is_flag=True, help="Rows, messages: write nothing, and tell what would be done.")
@click.option("--demo", is_flag=True, help="A few conversations that come with Partita, and nothing else.")
@click.option("--json", "as_json", is_flag=True, help="The report as JSON.")
@click.pass_context
def import_anything(
    ctx: click.Context,
    *,
    paths: tuple[str, ...],
    system: str | None,
    url: str | None,
    resource: str | None,
    agents: tuple[str, ...],
    workers: int | None,
    tables: str | None,
    batch_size: int,
    thread: str | None,
    thread_by: str | None,
    dry_run: bool,
    demo: bool,
    as_json: bool,
) -> None:
    """Bring in what agents have said.

    Without --from: the logs of Claude Code, Codex, Gemini CLI and OpenCode, from where they keep them or from
    the files and folders that are named. Only what is new is read; what was read once stays, whatever happens
    to the files. A file that is broken does not stop the others.

    With --from: the rows of another system. PATH is a SQLite file (its program may be running), a
    postgresql:// URL, or a dump: JSON, JSON lines, CSV with a header, or a folder of such files named after
    their tables. It is never written to. Or --from names a format, and PATH is a file of messages in it, JSON
    or JSON lines, for threads that they name themselves or that --thread or --thread-by names. Messages that
    name their owner (resourceId, resource_id) belong to it, unless --resource names another.

    Done again it changes nothing, and adds what was added there.

    Exit code: 0 when all went well, 1 when something could not be brought in.
    """
    if demo:
        from partita.cli.import_files import import_demo

        _refuse(
            ctx, DEMO_ALONE, "paths", "system", "resource", *FOR_LOGS, *FOR_ROWS, *FOR_MESSAGES, "dry_run"
        )
        code = import_demo(url=url, as_json=as_json)
    elif system is None:
        from partita.cli.import_logs import import_log_files

        _refuse(ctx, NO_LOGS, *FOR_ROWS, *FOR_MESSAGES, "dry_run")
        code = import_log_files(
            paths, url=url, resource=resource, agents=agents, workers=workers, as_json=as_json
        )
    elif system not in SYSTEMS:
        from partita.cli.import_files import import_messages_file

        _refuse(ctx, ONE_FILE, *FOR_LOGS, *FOR_ROWS, unless=len(paths) == 1)
        code = import_messages_file(
            paths[0],
            system,
            url=url,
            resource=resource,
            thread=thread,
            thread_by=thread_by,
            dry_run=dry_run,
            as_json=as_json,
        )
    else:
        from partita.cli.import_files import import_rows_source

        _refuse(ctx, ONE_SOURCE, *FOR_LOGS, *FOR_MESSAGES, unless=len(paths) == 1)
        code = import_rows_source(
            paths[0],
            system,
            url=url,
            resource=resource,
            tables=tables,
            batch_size=batch_size,
            dry_run=dry_run,
            as_json=as_json,
        )
    ctx.exit(code)


def _refuse(ctx: click.Context, why: str, *names: str, unless: bool = True) -> None:
    """Say what is wrong where options stand on the command line that do not fit."""
    if not unless or any(is_given(ctx, name) for name in names):
        raise click.UsageError(why)


COMMAND = import_anything
