"""`partita import`: the sessions of coding agents on this machine, or the rows of another system."""

import click

SYSTEMS = ("mastra", "cherry", "smithers")
"""Whose rows can be brought in. The store knows them too, but takes a tenth of a second to be asked."""


@click.command(
    "import",
    short_help="Bring in agents' sessions, or rows of other systems.",
    epilog="""\b
Examples:
  partita import                                       all sessions of all agents on this machine
  partita import ~/.claude/projects/-home-me-app       one project's; a folder or single files
  partita import --agent codex                         one agent's
  partita import mastra.db --from mastra --dry-run     another system's rows: what would be done
  partita import postgresql://me@host/app --from mastra --tables my_schema
  partita import dump/ --from smithers --json          a folder of agents.csv, tool_calls.jsonl …
""",
)
@click.argument("paths", nargs=-1, metavar="[PATH]…")
@click.option("--from", "system", type=click.Choice(SYSTEMS), help="Whose rows they are: no logs.")
@click.option("--store", "url", metavar="URL", help="The store; without it $PARTITA_STORE, or your own file.")
@click.option("--resource", metavar="ID", help="Whose they become.")
@click.option("--agent", "agents", multiple=True, metavar="NAME", help="Logs: only of this agent.")
@click.option("--workers", type=click.IntRange(min=1), help="Logs: how many processes read.")
@click.option("--tables", metavar="NAME", help="Rows: the schema or prefix of the tables.")
@click.option(
    "--batch-size",
    type=click.IntRange(min=1),
    default=200,
    show_default=True,
    help="Rows: messages a transaction.",
)
@click.option("--dry-run", is_flag=True, help="Rows: write nothing, and tell what would be done.")
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
    dry_run: bool,
    as_json: bool,
) -> None:
    """Bring in what agents have said.

    Without --from: the logs of Claude Code, Codex, Gemini CLI and OpenCode, from where they keep them or from
    the files and folders that are named. Only what is new is read; what was read once stays, whatever happens
    to the files. A file that is broken does not stop the others.

    With --from: the rows of another system. PATH is a SQLite file (its program may be running), a
    postgresql:// URL, or a dump: JSON, JSON lines, CSV with a header, or a folder of such files named after
    their tables. It is never written to.

    Done again it changes nothing, and adds what was added there.

    Exit code: 0 when all went well, 1 when something could not be brought in.
    """
    if system is None:
        from .import_logs import run as run_logs

        if dry_run or tables:
            raise click.UsageError("--dry-run and --tables are for rows: name a system with --from")
        code = run_logs(paths, url=url, resource=resource, agents=agents, workers=workers, as_json=as_json)
    else:
        from .import_rows import run as run_rows

        if len(paths) != 1 or agents or workers:
            raise click.UsageError("with --from, name one source, and neither --agent nor --workers")
        code = run_rows(
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


COMMAND = import_anything
