"""`partita import`: import the sessions of coding agents, the rows of another system, or messages."""

import click

from .completion import Items, complete_read_formats, matching
from .options import is_given, log_agents_option, losses_option, store_option
from .parameter_types import WholeNumber

SYSTEMS = ("mastra", "cherry", "smithers")
"""The systems whose rows can be imported. They are repeated here because the registry is slow to import."""

FOR_LOGS = ("agents", "workers")
FOR_ROWS = ("tables", "batch_size")
FOR_MESSAGES = ("thread", "thread_by")

DEMO_USAGE = "--demo can only be combined with --store and --json"
LOGS_USAGE = "--tables, --batch-size, --thread, --thread-by and --losses require --from"
MESSAGES_USAGE = "--from FORMAT requires exactly one file, without options for logs or rows"
ROWS_USAGE = "--from SYSTEM requires exactly one source, without --agent, --workers, --thread or --thread-by"


def _complete_sources(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """Return the values of `--from`: systems and formats."""
    return [
        *matching(((name, None) for name in SYSTEMS), incomplete),
        *complete_read_formats(ctx, param, incomplete),
    ]


@click.command(
    "import",
    short_help="Import agents' sessions, or data of other systems.",
    epilog="""\b
Examples:
  partita import                                    all sessions found here
  partita import ~/.claude/projects/-home-me-app    a folder, or single files
  partita import --agent codex                      sessions of one agent
  partita import --dry-run                          only show what is new
  partita import mastra.db --from mastra --dry-run  show what would change
  partita import postgresql://me@host/app --from mastra --tables my_schema
  partita import dump/ --from smithers --json       a folder of CSV, JSONL …
  partita import chats.jsonl --from ai-sdk-ui-v5 --thread-by chatId
  partita import --demo --store examples.db         demo data
""",
)
@click.argument("paths", nargs=-1, metavar="[PATH]…")
@click.option(
    "--from",
    "system",
    metavar="NAME",
    shell_complete=_complete_sources,
    help=f"The source: {', '.join(SYSTEMS)}, or a format of `partita formats`. Default: agents' logs.",
)
@store_option
@click.option(
    "--resource",
    metavar="ID",
    help="The owner of the imported threads. Default: the owner that messages and rows name.",
)
@log_agents_option
@click.option("--workers", metavar="N", type=WholeNumber(min=1), help="Logs: number of processes.")
@click.option("--tables", metavar="NAME", help="Rows: the schema or prefix of the tables.")
@click.option(
    "--batch-size",
    metavar="N",
    type=WholeNumber(min=1),
    default=200,
    show_default=True,
    help="Rows: messages per transaction.",
)
@click.option("--thread", metavar="ID", help="Messages: the thread to add them to.")
@click.option("--thread-by", metavar="NAME", help="Messages: the field with the thread id.")
@click.option("--dry-run", is_flag=True, help="Only show what would be imported.")
@losses_option
@click.option("--demo", is_flag=True, help="Import only the demo data that comes with Partita.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
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
    losses: bool,
    demo: bool,
    as_json: bool,
) -> None:
    """Import sessions and messages into the store.

    Without --from: the logs of Claude Code, Codex, Gemini CLI and OpenCode, from their default locations or
    from the given files and folders. Only new lines are read. Imported threads stay when their files are
    deleted. A damaged file does not stop the import of the others.

    With --from SYSTEM: the rows of another system. PATH is a SQLite file (which may be in use), a
    postgresql:// URL, or a dump: JSON, JSON lines, CSV with a header, or a folder of such files named after
    their tables. PATH is only read.

    With --from FORMAT: PATH is a file of messages or a recorded stream, also compressed. Their thread is the
    one that they name, or the one that --thread or --thread-by selects. Messages that name their owner
    (resourceId, resource_id) belong to it, unless --resource is given.

    Repeating an import adds only what is new.

    Exit code: 0 on success, 1 if something could not be imported.
    """
    if demo:
        from partita.cli.import_files import import_demo

        _refuse(
            ctx,
            DEMO_USAGE,
            "paths",
            "system",
            "resource",
            *FOR_LOGS,
            *FOR_ROWS,
            *FOR_MESSAGES,
            "dry_run",
            "losses",
        )
        code = import_demo(url=url, as_json=as_json)
    elif system is None:
        from partita.cli.import_logs import import_log_files

        _refuse(ctx, LOGS_USAGE, *FOR_ROWS, *FOR_MESSAGES, "losses")
        code = import_log_files(
            paths,
            url=url,
            resource=resource,
            agents=agents,
            workers=workers,
            dry_run=dry_run,
            as_json=as_json,
        )
    elif system not in SYSTEMS:
        from partita.cli.import_files import import_messages_file

        _refuse(ctx, MESSAGES_USAGE, *FOR_LOGS, *FOR_ROWS, unless=len(paths) == 1)
        code = import_messages_file(
            paths[0],
            system,
            url=url,
            resource=resource,
            thread=thread,
            thread_by=thread_by,
            dry_run=dry_run,
            every_loss=losses,
            as_json=as_json,
        )
    else:
        from partita.cli.import_files import import_rows_source

        _refuse(ctx, ROWS_USAGE, *FOR_LOGS, *FOR_MESSAGES, unless=len(paths) == 1)
        code = import_rows_source(
            paths[0],
            system,
            url=url,
            resource=resource,
            tables=tables,
            batch_size=batch_size,
            dry_run=dry_run,
            every_loss=losses,
            as_json=as_json,
        )
    ctx.exit(code)


def _refuse(ctx: click.Context, usage: str, *names: str, unless: bool = True) -> None:
    """Raise a usage error if one of these parameters was given on the command line."""
    if not unless or any(is_given(ctx, name) for name in names):
        raise click.UsageError(usage)


COMMAND = import_anything
