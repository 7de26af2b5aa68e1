"""`partita backup`: a whole store as one file, and back."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from partita.cli.blocking import run_async

from .options import store_option
from .output import Bar, print_json, print_notice

if TYPE_CHECKING:  # the store is loaded when a command needs it
    from partita.store.backup.backup import BackupReport

FILE = click.Path(path_type=Path)
TOLD = ("threads", "messages", "runs", "blobs")


@click.command(
    short_help="Copy a whole store to one file, and back.",
    epilog="""\b
Examples:
  partita backup                         to a file here, named by the time
  partita backup /mnt/backups/partita.backup --force
  partita backup --check partita.backup  is all of it as it was written?
  partita backup --restore partita.backup --store sqlite:///NEW.db
  partita backup --restore partita.backup --store postgresql://HOST/EMPTY
""",
)
@click.argument("file", type=FILE, required=False)
@store_option
@click.option("--restore", metavar="FILE", type=FILE, help="Bring a backup into an empty store.")
@click.option("--check", "checked", metavar="FILE", type=FILE, help="Tell whether a backup is whole.")
@click.option("--force", is_flag=True, help="Write over FILE if it is there.")
@click.option("--json", "as_json", is_flag=True, help="What the backup holds, as JSON.")
def backup(
    *,
    file: Path | None,
    url: str | None,
    restore: Path | None,
    checked: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Copy all of a store to FILE while others write: threads, messages, runs with their logs, blobs, keys.

    What was acknowledged before the command began is in it, as of one moment. The file is compressed, holds
    everything (no secret is taken out), and is read again before it gets its name. A backup of either engine
    can be restored into either.
    """
    if sum(one is not None for one in (file, restore, checked)) > 1:
        raise click.UsageError("FILE, --restore and --check exclude each other")
    if restore is not None:
        _tell(_restored(url, restore), "restored", as_json=as_json)
    elif checked is not None:
        _tell(_checked(checked), "whole", as_json=as_json)
    else:
        report = _made(url, _target(file), force=force)
        _tell(report, "written", as_json=as_json)
        if not as_json:
            click.echo(str(report.path))


def _target(file: Path | None) -> Path:
    """The file that is meant; in a folder, one that is named by the time."""
    if file is not None and not file.is_dir():
        return file
    return (file or Path()) / f"partita-{datetime.now(UTC):%Y-%m-%d-%H%M%S}.backup"


def _made(url: str | None, target: Path, *, force: bool) -> "BackupReport":
    from partita.errors import NotFoundError
    from partita.store.backup.backup import create_backup
    from partita.store.connection import open_store
    from partita.store.engines.location import locate

    path = locate(url).path
    if path is not None and not path.exists():
        raise NotFoundError("there is no store to copy", where=str(path), hint="--store URL names another")

    async def work() -> "BackupReport":
        async with open_store(url) as store:
            with Bar("copying rows") as bar:
                return await create_backup(store, target, force=force, progress=bar)

    return run_async(work())


def _restored(url: str | None, source: Path) -> "BackupReport":
    from partita.store.backup.backup import open_backup
    from partita.store.backup.restore import restore_backup
    from partita.store.connection import open_store

    with open_backup(source):
        pass  # before a store is made for it

    async def work() -> "BackupReport":
        async with open_store(url) as store:
            with Bar("restoring") as bar:
                return await restore_backup(store, source, progress=bar)

    return run_async(work())


def _checked(source: Path) -> "BackupReport":
    from partita.store.backup.backup import check_backup

    with Bar("reading") as bar:
        return check_backup(source, bar)


def _tell(report: "BackupReport", what: str, *, as_json: bool) -> None:
    from partita.views.text import counted, size_of

    if as_json:
        print_json(report.to_json())
        return
    told = ", ".join(counted(report.rows.get(name, 0), name.removesuffix("s")) for name in TOLD)
    print_notice(f"{what}: {told}; {size_of(report.size)}, made {report.made_at} by Partita {report.partita}")
    if report.unfindable:
        print_notice(
            f"{counted(report.unfindable, 'message')} cannot be read, and so cannot be searched:"
            " partita doctor tells more"
        )


COMMAND = backup
