"""`partita export`: threads as files to keep, to read or to hand on, without their secrets."""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .blocking import Wait, opened_store
from .completion import Items, complete_threads, matching
from .options import (
    agent_option,
    project_option,
    resource_option,
    since_option,
    store_option,
    until_option,
)

if TYPE_CHECKING:  # the store and the server's parts are loaded when a command needs them
    from partita.cli.export_files import Filter, Talk, Wanted
    from partita.store.store import Store

BY_ENDING = {".html": "html", ".htm": "html", ".jsonl": "jsonl", ".json": "fixture"}
OTHERWISE = "markdown"
SHARED = ("html", "markdown", "jsonl", "fixture", "raw")


def formats(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """The names of what can be written."""
    from partita.formats.registry import all_formats

    writable = [(name, one.title) for name, one in all_formats().items() if one.dump is not None]
    return matching([*((name, None) for name in SHARED), *writable], incomplete)


@click.command(
    short_help="Write threads to files, without their secrets.",
    epilog="""\b
Examples:
  partita export last -o talk.html            one page that needs nothing else
  partita export last --format markdown | less
  partita export 0198a3c2 --format jsonl --leave-out tool-outputs > talk.jsonl
  partita export 0198a3c2 --format claude-code-log -o session.jsonl
  partita export --project . --since 7d --format html -o shared/
  partita export --all --format raw -o logs/  what agents wrote, byte for byte
""",
)
@click.argument("threads", nargs=-1, metavar="[THREAD]…", shell_complete=complete_threads)
@store_option
@click.option(
    "--format",
    "format_name",
    metavar="NAME",
    shell_complete=formats,
    help="html, markdown, jsonl, fixture, raw, or a format that `partita formats` says can be written;"
    " without it by the ending of FILE, else markdown.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE|FOLDER",
    help="Where to write; of several threads, a folder that gets one file each.",
)
@click.option("--all", "every", is_flag=True, help="All threads of the store.")
@agent_option
@project_option
@since_option
@until_option
@click.option(
    "--redact/--no-redact", default=None, help="Replace secrets by marks. This is done unless you say no."
)
@click.option(
    "--secret",
    "kinds",
    metavar="KIND",
    multiple=True,
    help="Also look for this kind, such as email or home; may be given again.",
)
@click.option("--also", metavar="TEXT", multiple=True, help="Replace this text, too; may be given again.")
@click.option(
    "--leave-out",
    metavar="KIND",
    multiple=True,
    help="reasoning, tool-outputs, tool-calls, files, system or sub-agents; may be given again.",
)
@click.option("--branch", metavar="MESSAGE", help="The branch through this message, not the active one.")
@click.option("--internal", is_flag=True, help="Also notices and turns that are hidden otherwise.")
@click.option("--force", is_flag=True, help="Write over files that are there.")
@click.option(
    "--json", "as_json", is_flag=True, help="What was done, a JSON object for each thread; needs -o."
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
    """Write each THREAD (an id, the beginning of one, or `last`) as a file, or one of them to stdout.

    The files are those that the page shares: secrets that are known by how they look are replaced, and what
    was replaced, left out or lost is told on stderr. Look at a file before you hand it on. The format raw is
    what agents wrote, byte for byte, secrets and all.

    Exit code: 0, or 1 when one of several files could not be written or was there already.
    """
    from partita.cli.export_files import Filter, wanted_file

    chosen = Filter(agent, project, since, until, every=every)
    if bool(threads) == bool(chosen):
        raise click.UsageError("name threads, or choose them: --all, --project, --agent, --since, --until")
    several = len(threads) != 1
    if output is None and (several or as_json):
        raise click.UsageError("-o says where files go" if several else "--json needs -o FILE")
    if several and branch is not None:
        raise click.UsageError("--branch is of one thread")
    name = format_name or BY_ENDING.get(Path(output or "").suffix.lower(), OTHERWISE)
    wanted = wanted_file(
        name, redact=redact, kinds=kinds, also=also, leave_out=leave_out, branch=branch, internal=internal
    )
    with opened_store(url, resource) as (store, wait):
        from partita.cli.export_files import Talk

        talk = Talk(as_json=as_json, several=several)
        if several:
            assert output is not None, "asked above"
            _write_all(store, wait, threads or chosen, wanted, Path(output), talk, force=force)
        else:
            _write_one(store, wait, threads[0], wanted, output, talk, force=force)
        talk.end()
    ctx.exit(1 if talk.failed else 0)


def _write_one(
    store: "Store",
    wait: Wait,
    given: str,
    wanted: "Wanted",
    output: str | None,
    talk: "Talk",
    *,
    force: bool,
) -> None:
    from partita.cli.export_files import file_name, make_file, print_file, save_file

    from .lookup import find_thread

    thread = wait(find_thread(store, given))
    made = make_file(store, wait, thread, wanted)
    if output is None:
        print_file(made)
        talk.about(made, None)
        return
    path = Path(output)
    if output.endswith(("/", "\\")) or path.is_dir():
        path /= file_name(thread, made)
    save_file(made, path, force=force)
    talk.about(made, path)


def _write_all(
    store: "Store",
    wait: Wait,
    chosen: "tuple[str, ...] | Filter",
    wanted: "Wanted",
    folder: Path,
    talk: "Talk",
    *,
    force: bool,
) -> None:
    """A file for each thread; one that cannot be written is told, and the others go on."""
    from partita.cli.export_files import chosen_threads, file_name, make_file, save_file, threads_named
    from partita.errors import PartitaError, StoreError

    from .output import Bar

    if folder.exists() and not folder.is_dir():
        raise StoreError("this is no folder", where=str(folder), hint="several threads go to a folder")
    some = (
        threads_named(store, wait, chosen)
        if isinstance(chosen, tuple)
        else chosen_threads(store, wait, chosen)
    )
    with Bar("writing threads") as bar:
        for number, thread in enumerate(some, start=1):
            try:
                made = make_file(store.scoped(thread.resource_id or ""), wait, thread, wanted)
                path = folder / file_name(thread, made)
                save_file(made, path, force=force)
            except PartitaError as error:
                talk.failure(thread, error)
            else:
                talk.about(made, path)
            bar(number, len(some))


COMMAND = export
