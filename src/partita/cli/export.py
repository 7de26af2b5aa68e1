"""`partita export`: write threads to files, with secrets replaced."""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from .blocking import Wait, opened_store
from .completion import Items, complete_threads, complete_written_formats, matching
from .options import (
    agent_option,
    branch_option,
    internal_option,
    is_given,
    losses_option,
    project_option,
    replace_option,
    resource_option,
    since_option,
    store_option,
    to_option,
    until_option,
)
from .output import Bar, print_notice

if TYPE_CHECKING:  # imported when the command runs
    from partita.cli.export_files import Destination, ExportReporter, FileOptions
    from partita.store.store import Store
    from partita.store.values import ThreadFilter
    from partita.types.threads import Thread


def complete_export_formats(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """Return the names of the formats that can be written."""
    from partita.cli.export_files import FILE_FORMATS, RAW

    formats = complete_written_formats(ctx, param, incomplete)
    known = {one.value for one in formats}
    others = matching(((name, None) for name in (*FILE_FORMATS, RAW) if name not in known), incomplete)
    return [*others, *formats]


@click.command(
    short_help="Write threads to files, with secrets replaced.",
    epilog="""\b
Examples:
  partita export last -o session.html         one self-contained page
  partita export --project . --since 7d -o week.html
                                              several, with an index
  partita export --all --to markdown -o shared/
                                              a file for each thread
  partita export last | less                  Markdown
  partita export 0198a3c2 --leave-out tool-outputs -o messages.json
  partita export 0198a3c2 --to claude-code-log -o session.jsonl
  partita export --all --to raw -o logs/      the agents' logs, byte for byte
""",
)
@click.argument("threads", nargs=-1, metavar="[THREAD]…", shell_complete=complete_threads)
@store_option
@to_option(
    "html, markdown, json, jsonl, raw, or a format that `partita formats` lists as written. Default: by the"
    " extension of FILE (.html, .md, .json or .jsonl), else markdown.",
    completer=complete_export_formats,
)
@click.option(
    "-o",
    "--output",
    metavar="FILE|FOLDER/",
    help="Where to write. A folder receives one file per thread; one file with several threads has an index"
    " (.html) or their messages in order.",
)
@click.option("--all", "every", is_flag=True, help="All threads of the store.")
@agent_option
@project_option
@since_option
@until_option
@click.option(
    "--redact/--no-redact",
    default=True,
    show_default=True,
    help="Replace secrets with placeholders.",
)
@click.option(
    "--secret",
    "kinds",
    metavar="KIND",
    multiple=True,
    help="Also replace this kind of secret, such as email or home. Repeatable.",
)
@replace_option
@click.option(
    "--leave-out",
    metavar="KIND",
    multiple=True,
    help="Omit reasoning, tool-outputs, tool-calls, files, system or sub-agents. Repeatable.",
)
@branch_option
@internal_option
@click.option("--force", is_flag=True, help="Overwrite existing files.")
@click.option("--skip-existing", is_flag=True, help="Do not write threads that have a file already.")
@losses_option
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
    target: str | None,
    output: str | None,
    every: bool,
    agent: str | None,
    project: str | None,
    since: datetime | None,
    until: datetime | None,
    redact: bool,
    kinds: tuple[str, ...],
    replace: tuple[str, ...],
    leave_out: tuple[str, ...],
    branch: str | None,
    internal: bool,
    force: bool,
    skip_existing: bool,
    losses: bool,
    as_json: bool,
    resource: str | None,
) -> None:
    """Write each THREAD (an id, the beginning of one, or `last`) to a file, or a single one to stdout.

    The web UI shares the same files: known kinds of secrets are replaced, and stderr lists what was replaced,
    left out or lost. Read a file before you share it. The format raw is the agents' logs, byte for byte, with
    all secrets. `partita fixture` writes recordings for tests.

    A file that exists with the same content is left as it is. Another one is only replaced with --force.

    Exit code: 0, or 1 if one of several files exists with other content or could not be written.
    """
    from partita.cli.export_files import ExportReporter, file_options, find_destination, format_of
    from partita.store.values import ThreadFilter

    from .lookup import check_agent

    is_filtered = every or any(one is not None for one in (agent, project, since, until))
    if bool(threads) == is_filtered:
        raise click.UsageError("name threads, or select them: --all, --project, --agent, --since, --until")
    several = len(threads) != 1
    if output is None and (several or as_json):
        raise click.UsageError(
            "several threads require -o FOLDER/ or -o FILE.html" if several else "--json requires -o FILE"
        )
    if several and branch is not None:
        raise click.UsageError("--branch requires exactly one thread")
    if force and skip_existing:
        raise click.UsageError("--force and --skip-existing exclude each other")
    destination = find_destination(output, several=several)
    options = file_options(
        format_of(target, destination),
        destination.suffix,
        redact=redact if is_given(ctx, "redact") else None,
        kinds=kinds,
        replace=replace,
        leave_out=leave_out,
        branch=branch,
        internal=internal,
    )
    with opened_store(url, resource) as (store, wait):
        wait(check_agent(store, agent))
        reporter = ExportReporter(as_json=as_json, several=several, every_loss=losses)
        saving = _Saving(store, wait, options, destination, reporter, force, skip_existing)
        if several:
            selected = ThreadFilter(agent=agent, project=project, since=since, until=until)
            saving.save_all(threads or selected)
        else:
            saving.save_one(threads[0])
        reporter.finish()
    ctx.exit(1 if reporter.failed else 0)


class _Saving(NamedTuple):
    """What is saved, and where."""

    store: "Store"
    wait: Wait
    options: "FileOptions"
    destination: "Destination"
    reporter: "ExportReporter"
    force: bool
    skip_existing: bool

    def save_one(self, given: str) -> None:
        """Save a thread to stdout or a file."""
        from partita.cli.export_files import make_file, print_file

        from .lookup import find_thread

        thread = self.wait(find_thread(self.store, given))
        if self.destination.path is not None:
            self._save(self.store, thread, self.destination.path)
            return
        file = make_file(self.store, self.wait, thread, self.options)
        print_file(file)
        if file.agents:
            file.notices.append(f"{len(file.agents)} sub-agents are left out; -o FILE writes them beside it")
        self.reporter.report(file, None, "written")

    def _save(self, store: "Store", thread: "Thread", path: Path) -> None:
        """Save a thread to a file, or to its file in a folder."""
        from partita.cli.export_files import ExportedFile, existing_file, file_name, make_file, save_file

        if self.skip_existing:
            is_folder = self.destination.is_folder
            existing = existing_file(path, thread, self.options) if is_folder else path
            if existing is not None and existing.exists():
                self.reporter.report(ExportedFile(thread, self.options, "", "", ()), existing, "skipped")
                return
        file = make_file(store, self.wait, thread, self.options)
        if self.destination.is_folder:
            path /= file_name(file)
        is_skipped = self.skip_existing and path.exists()
        outcome = "skipped" if is_skipped else save_file(file, path, force=self.force)
        self.reporter.report(file, path, outcome)

    def save_all(self, selected: "tuple[str, ...] | ThreadFilter") -> None:
        """Save several threads. A failure is reported, and the others are still saved."""
        from partita.cli.export_files import find_threads, list_threads, save_threads
        from partita.errors import ConflictError, PartitaError

        path = self.destination.path
        assert path is not None, "several threads have a file or a folder"
        threads = (
            find_threads(self.store, self.wait, selected)
            if isinstance(selected, tuple)
            else list_threads(self.store, self.wait, selected)
        )
        if not self.destination.is_folder and threads:
            if self.skip_existing and path.exists():
                print_notice(f"{path} exists and was skipped")
            else:
                save_threads(
                    self.store, self.wait, threads, self.options, path, self.reporter, force=self.force
                )
            return
        with Bar("writing threads") as bar:
            for number, thread in enumerate(threads, start=1):
                try:
                    self._save(self.store.scoped(thread.resource_id or ""), thread, path)
                except ConflictError as error:
                    self.reporter.report_existing(thread, error)
                except PartitaError as error:
                    self.reporter.report_failure(thread, error)
                bar(number, len(threads))


COMMAND = export
