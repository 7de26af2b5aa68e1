"""`partita export`: write threads to files, with secrets replaced."""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .blocking import Wait, opened_store
from .completion import Items, complete_threads, matching
from .options import (
    agent_option,
    branch_option,
    internal_option,
    project_option,
    resource_option,
    since_option,
    store_option,
    until_option,
)

if TYPE_CHECKING:  # imported when the command runs
    from partita.cli.export_files import ExportReporter, FileOptions
    from partita.store.store import Store
    from partita.store.values import ThreadFilter

FORMAT_BY_SUFFIX = {".html": "html", ".htm": "html", ".jsonl": "jsonl", ".json": "fixture"}
DEFAULT_FORMAT = "markdown"
FILE_FORMATS = ("html", "markdown", "jsonl", "fixture", "raw")


def complete_export_formats(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """Return the names of the formats that can be written."""
    from partita.formats.registry import all_formats

    writable = [(name, one.title) for name, one in all_formats().items() if one.dump is not None]
    return matching([*((name, None) for name in FILE_FORMATS), *writable], incomplete)


@click.command(
    short_help="Write threads to files, with secrets replaced.",
    epilog="""\b
Examples:
  partita export last -o session.html         one self-contained page
  partita export last --format markdown | less
  partita export 0198a3c2 --format jsonl --leave-out tool-outputs > talk.jsonl
  partita export 0198a3c2 --format claude-code-log -o session.jsonl
  partita export --project . --since 7d --format html -o shared/
  partita export --all --format raw -o logs/  the agents' logs, byte for byte
""",
)
@click.argument("threads", nargs=-1, metavar="[THREAD]…", shell_complete=complete_threads)
@store_option
@click.option(
    "--format",
    "format_name",
    metavar="NAME",
    shell_complete=complete_export_formats,
    help="html, markdown, jsonl, fixture, raw, or a format that `partita formats` lists as written."
    " Default: by the suffix of FILE, else markdown.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE|FOLDER",
    help="Where to write. For several threads, a folder that receives one file per thread.",
)
@click.option("--all", "every", is_flag=True, help="All threads of the store.")
@agent_option
@project_option
@since_option
@until_option
@click.option(
    "--redact/--no-redact", default=None, help="Replace secrets with placeholders. Default: --redact."
)
@click.option(
    "--secret",
    "kinds",
    metavar="KIND",
    multiple=True,
    help="Also replace this kind of secret, such as email or home. Repeatable.",
)
@click.option("--also", metavar="TEXT", multiple=True, help="Also replace this text. Repeatable.")
@click.option(
    "--leave-out",
    metavar="KIND",
    multiple=True,
    help="Omit reasoning, tool-outputs, tool-calls, files, system or sub-agents. Repeatable.",
)
@branch_option
@internal_option
@click.option("--force", is_flag=True, help="Overwrite existing files.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print a report, one JSON object per thread. Requires -o."
)
@resource_option
@click.pass_context
def export(
    ctx: click.Context,
    *,
    threads: tuple[str, ...],
    url: str | None,
    format_name: str | None,
    output: str | None,
    every: bool,
    agent: str | None,
    project: str | None,
    since: datetime | None,
    until: datetime | None,
    redact: bool | None,
    kinds: tuple[str, ...],
    also: tuple[str, ...],
    leave_out: tuple[str, ...],
    branch: str | None,
    internal: bool,
    force: bool,
    as_json: bool,
    resource: str | None,
) -> None:
    """Write each THREAD (an id, the beginning of one, or `last`) to a file, or a single one to stdout.

    The web UI shares the same files: known kinds of secrets are replaced, and stderr lists what was replaced,
    left out or lost. Read a file before you share it. The format raw is the agents' logs, byte for byte, with
    all secrets.

    Exit code: 0, or 1 if one of several files exists or could not be written.
    """
    from partita.cli.export_files import ExportReporter, file_options
    from partita.store.values import ThreadFilter

    is_filtered = every or any(one is not None for one in (agent, project, since, until))
    if bool(threads) == is_filtered:
        raise click.UsageError("name threads, or select them: --all, --project, --agent, --since, --until")
    several = len(threads) != 1
    if output is None and (several or as_json):
        raise click.UsageError("several threads require -o FOLDER" if several else "--json requires -o FILE")
    if several and branch is not None:
        raise click.UsageError("--branch requires exactly one thread")
    name = format_name or FORMAT_BY_SUFFIX.get(Path(output or "").suffix.lower(), DEFAULT_FORMAT)
    options = file_options(
        name, redact=redact, kinds=kinds, also=also, leave_out=leave_out, branch=branch, internal=internal
    )
    with opened_store(url, resource) as (store, wait):
        reporter = ExportReporter(as_json=as_json, several=several)
        if several:
            assert output is not None, "checked above"
            selected = threads or ThreadFilter(agent=agent, project=project, since=since, until=until)
            _write_all(store, wait, selected, options, Path(output), reporter, force=force)
        else:
            _write_one(store, wait, threads[0], options, output, reporter, force=force)
        reporter.finish()
    ctx.exit(1 if reporter.failed else 0)


def _write_one(
    store: "Store",
    wait: Wait,
    given: str,
    options: "FileOptions",
    output: str | None,
    reporter: "ExportReporter",
    *,
    force: bool,
) -> None:
    from partita.cli.export_files import file_name, make_file, print_file, save_file

    from .lookup import find_thread

    thread = wait(find_thread(store, given))
    file = make_file(store, wait, thread, options)
    if output is None:
        print_file(file)
        reporter.report(file, None)
        return
    path = Path(output)
    if output.endswith(("/", "\\")) or path.is_dir():
        path /= file_name(file)
    save_file(file, path, force=force)
    reporter.report(file, path)


def _write_all(
    store: "Store",
    wait: Wait,
    selected: "tuple[str, ...] | ThreadFilter",
    options: "FileOptions",
    folder: Path,
    reporter: "ExportReporter",
    *,
    force: bool,
) -> None:
    """Write a file for each thread. A failure is reported, and the other files are still written."""
    from partita.cli.export_files import file_name, find_threads, list_threads, make_file, save_file
    from partita.errors import PartitaError, StoreError

    from .output import Bar

    if folder.exists() and not folder.is_dir():
        raise StoreError("not a folder", where=str(folder), hint="several threads need a folder")
    threads = (
        find_threads(store, wait, selected)
        if isinstance(selected, tuple)
        else list_threads(store, wait, selected)
    )
    with Bar("writing threads") as bar:
        for number, thread in enumerate(threads, start=1):
            try:
                file = make_file(store.scoped(thread.resource_id or ""), wait, thread, options)
                path = folder / file_name(file)
                save_file(file, path, force=force)
            except PartitaError as error:
                reporter.report_failure(thread, error)
            else:
                reporter.report(file, path)
            bar(number, len(threads))


COMMAND = export
