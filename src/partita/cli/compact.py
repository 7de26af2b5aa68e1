"""`partita compact`: return the space of removed rows to the file system."""

import click

from .blocking import opened_store
from .options import store_option
from .output import Bar, echo, print_json, print_notice


@click.command(
    short_help="Return unused space to the file system.",
    epilog="""\b
Examples:
  partita compact          after partita rm or partita retention --apply
  partita compact --json   {"before": 412000000, "after": 96000000}
""",
)
@store_option
@click.option("--json", "as_json", is_flag=True, help="Print the sizes in bytes as JSON.")
def compact(*, url: str | None, as_json: bool) -> None:
    """Rewrite the store without the space of removed rows, and print its size before and after.

    Afterwards nothing that was removed is left in a SQLite file. Other processes wait meanwhile, and the disk
    needs as much free space as the store has. PostgreSQL reuses the space and returns little of it.
    """
    from partita.store.engines.location import copies_of, locate
    from partita.views.text import size_of

    with opened_store(url) as (store, wait), Bar("compacting") as bar:
        bar.update(0, 0)
        report = wait(store.compact())
    if as_json:
        print_json({"before": report.before, "after": report.after})
    else:
        echo(f"{size_of(report.before)} before, {size_of(report.after)} after")
    path = locate(url).path
    copies = [] if path is None else copies_of(path)
    if copies:
        print_notice(
            f"copies from before upgrades keep what was removed since: {', '.join(map(str, copies))}"
        )


COMMAND = compact
