"""`partita keys`: what lets programs use the server."""

import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from partita.types.codec import encode
from partita.types.json import loads

from .moments import AGO, SECONDS, parse_moment
from .opened import opened
from .options import json_option, store_option
from .output import say

if TYPE_CHECKING:  # the store is loaded when a command needs it
    from partita.store.values import ApiKey, KeyRole

NAMES = ("id", "resource", "role", "name", "made", "until", "")


class ExpiryType(click.ParamType[datetime]):
    """`30d`, `12h`, `2w` from now, or a date."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """The moment in UTC."""
        moment = value if isinstance(value, datetime) else _expiry(str(value), datetime.now().astimezone())
        if moment is None:
            self.fail(f"{value!r} is no time; say 30d, 12h or 2030-01-01", param, ctx)
        return moment


def _expiry(text: str, now: datetime) -> datetime | None:
    match = AGO.fullmatch(text.strip().lower())
    if match is None or "ago" in match[0]:
        return parse_moment(text, now)
    try:
        return (now + timedelta(seconds=int(match["count"]) * SECONDS[match["unit"]])).astimezone(UTC)
    except OverflowError:
        return None


@click.group(
    short_help="Make, list and revoke keys for the server.",
    epilog="""\b
Examples:
  partita keys create --resource ada --name laptop --expires 30d
  partita keys create --role admin           for every resource
  partita keys list
  partita keys revoke 5f1c0a9be2d47733
""",
)
def keys() -> None:
    """Keys that programs show to the server: `Authorization: Bearer pk_…`.

    The store keeps a hash of a key, not the key: copy it when it is made.
    """


@keys.command(
    short_help="Make a key, and print it this once.",
    epilog="""\b
Examples:
  partita keys create --resource ada --name laptop --expires 30d
  partita keys create --role admin > key.txt    for every resource
""",
)
@store_option
@click.option("--resource", metavar="ID", help="Whose data it is for; without it everybody's (role admin).")
@click.option(
    "--role",
    type=click.Choice(["read", "chat", "write", "admin"]),
    default="write",
    show_default=True,
    help="What it may do: chat is for end users.",
)
@click.option("--name", help="What you will know it by.")
@click.option("--expires", type=ExpiryType(), help="When it ends: 30d, 12h, 2030-01-01; else never.")
@click.option("--json", "as_json", is_flag=True, help="The key and what is known of it as JSON.")
def create(
    *,
    url: str | None,
    resource: str | None,
    role: "KeyRole",
    name: str | None,
    expires: datetime | None,
    as_json: bool,
) -> None:
    """Make a key. Its text goes to stdout, once."""
    with opened(url) as (store, wait):
        made = wait(store.create_key(resource, role, name, expires))
    if as_json:
        from .printing import write_json

        write_json({"key": made.text, **loads(encode(made.key))})
    else:
        click.echo(made.text)
    say(f"key {made.key.id}; it is shown this once, and it is not stored")


@keys.command(
    "list",
    short_help="List all keys, newest first.",
    epilog="""\b
Examples:
  partita keys list
  partita keys list --json | jq -r .id
""",
)
@store_option
@json_option
def list_keys(*, url: str | None, as_json: bool) -> None:
    """List the keys, also those that have expired or were revoked. Their texts are not known."""
    with opened(url) as (store, wait):
        found = wait(store.list_keys())
    if as_json:
        from .printing import write_line

        for key in found:
            write_line(encode(key))
    elif found:
        _print(found, datetime.now(UTC))
    else:
        say("no keys yet; partita keys create makes one")


def _print(found: "Sequence[ApiKey]", now: datetime) -> None:
    rows = [NAMES, *(_cells(key, now) for key in found)]
    if sys.stdout.isatty():
        _show(rows)
        return
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        click.echo(line.rstrip())


def _show(rows: Sequence[tuple[str, ...]]) -> None:
    """The same, as wide as the terminal."""
    from rich.table import Table

    from .printing import show

    table = Table(*rows[0], box=None, pad_edge=False, header_style="dim")
    for column in table.columns:
        column.overflow = "fold"
    for row in rows[1:]:
        table.add_row(*row)
    show([table])


def _cells(key: "ApiKey", now: datetime) -> tuple[str, ...]:
    from .view.text import one_line

    expired = key.expires_at is not None and key.expires_at <= now
    return (
        key.id,
        "(every)" if key.resource_id is None else one_line(key.resource_id, 40),
        key.role,
        one_line(key.name or "", 40),
        "" if key.created_at is None else f"{key.created_at:%Y-%m-%d}",
        "" if key.expires_at is None else f"{key.expires_at:%Y-%m-%d}",
        "revoked" if key.revoked_at is not None else "expired" if expired else "",
    )


@keys.command(
    short_help="Let nobody in any more who shows a key.",
    epilog="""\b
Examples:
  partita keys revoke 5f1c0a9be2d47733  the id that `partita keys list` shows
""",
)
@store_option
@click.argument("id")
def revoke(*, url: str | None, id: str) -> None:
    """Revoke the key of that ID; servers refuse it within two seconds."""
    with opened(url) as (store, wait):
        wait(store.revoke_key(id))
    say(f"key {id} is revoked")


COMMAND = keys
