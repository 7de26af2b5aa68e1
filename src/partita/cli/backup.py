"""`partita backup`: back up a store to one file, check the file, or restore it."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .blocking import opened_store, run_async
from .options import store_option
from .output import Bar, print_json, print_notice

if TYPE_CHECKING:  # imported when the command runs
    from partita.store.backup.backup import BackupReport

FILE = click.Path(path_type=Path)
SUMMARY_TABLES = ("threads", "messages", "runs", "blobs")


@click.command(
    short_help="Back up a store to one file, or restore it.",
    epilog="""\b
Examples:
  partita backup                         to a file here, named after the time
  partita backup /mnt/backups/partita.backup --force
  partita backup --check partita.backup  is the file complete and undamaged?
  partita backup --restore partita.backup --store sqlite:///NEW.db
  partita backup --restore partita.backup --store postgresql://HOST/EMPTY
""",
)
@click.argument("file", type=FILE, required=False)
@store_option
@click.option("--restore", metavar="FILE", type=FILE, help="Restore a backup into an empty store.")
@click.option("--check", "checked", metavar="FILE", type=FILE, help="Check that a backup is complete.")
@click.option("--force", is_flag=True, help="Overwrite FILE if it exists.")
@click.option("--json", "as_json", is_flag=True, help="Print what the backup contains as JSON.")
def backup(
    *,
    file: Path | None,
    url: str | None,
    restore: Path | None,
    checked: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Back up a store to FILE: threads, messages, runs with their logs, blobs and keys.

    Other processes may write meanwhile: the backup is a snapshot of the time when the command started. The
    file is compressed, contains everything including secrets, and is verified before it gets its name. A
    backup of SQLite can be restored into PostgreSQL, and the reverse.
    """
    if sum(one is not None for one in (file, restore, checked)) > 1:
        raise click.UsageError("FILE, --restore and --check exclude each other")
    if restore is not None:
        _print_report(_restore(url, restore), "restored", as_json=as_json)
    elif checked is not None:
        _print_report(_check(checked), "complete", as_json=as_json)
    else:
        report = _create(url, _target(file), force=force)
        _print_report(report, "written", as_json=as_json)
        if not as_json:
            click.echo(str(report.path))


def _target(file: Path | None) -> Path:
    """Return the file to write; in a folder, it is named after the time."""
    if file is not None and not file.is_dir():
        return file
    return (file or Path()) / f"partita-{datetime.now(UTC):%Y-%m-%d-%H%M%S}.backup"


def _create(url: str | None, target: Path, *, force: bool) -> "BackupReport":
    from partita.store.backup.backup import create_backup

    with opened_store(url) as (store, wait), Bar("copying rows") as bar:
        return wait(create_backup(store, target, force=force, progress=bar))


def _restore(url: str | None, source: Path) -> "BackupReport":
    from partita.store.backup.backup import open_backup
    from partita.store.backup.restore import restore_backup
    from partita.store.connection import open_store

    with open_backup(source):
        pass  # an invalid file must not create a store

    async def work() -> "BackupReport":
        async with open_store(url) as store:
            with Bar("restoring") as bar:
                return await restore_backup(store, source, progress=bar)

    return run_async(work())


def _check(source: Path) -> "BackupReport":
    from partita.store.backup.backup import check_backup

    with Bar("reading") as bar:
        return check_backup(source, bar)


def _print_report(report: "BackupReport", what: str, *, as_json: bool) -> None:
    from partita.views.text import counted, size_of

    if as_json:
        print_json(report.to_json())
        return
    rows = ", ".join(counted(report.rows.get(name, 0), name.removesuffix("s")) for name in SUMMARY_TABLES)
    print_notice(
        f"{what}: {rows}; {size_of(report.size)}, created {report.made_at} by Partita {report.partita}"
    )
    if report.unfindable:
        print_notice(
            f"{counted(report.unfindable, 'message')} cannot be decoded and therefore not searched;"
            " see `partita doctor`"
        )


COMMAND = backup
