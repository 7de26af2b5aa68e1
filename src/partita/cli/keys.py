"""`partita keys`: API keys of the server."""

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from partita.types.codec import encode
from partita.types.json import loads
from partita.types.times import parse_duration, parse_time_expression

from .blocking import opened_store
from .help import Group
from .options import json_option, store_option
from .output import print_notice

if TYPE_CHECKING:  # imported when the command runs
    from partita.store.values import ApiKey, KeyRole

COLUMNS = ("id", "resource", "role", "name", "created", "expires", "")


class ExpiryType(click.ParamType[datetime]):
    """A time in the future: `30d`, `12h`, `2w` from now, or a date."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """Return the time in UTC."""
        moment = value if isinstance(value, datetime) else _expiry(str(value), datetime.now().astimezone())
        if moment is None:
            self.fail(f"{value!r} is not a time; use 30d, 12h or 2030-01-01", param, ctx)
        return moment


def _expiry(text: str, now: datetime) -> datetime | None:
    duration = parse_duration(text)
    if duration is None:
        return parse_time_expression(text, now)
    try:
        return (now + duration).astimezone(UTC)
    except OverflowError:
        return None


@click.group(
    cls=Group,
    short_help="Create, list and revoke API keys of the server.",
    epilog="""\b
Examples:
  partita keys create --resource ada --name laptop --expires 30d
  partita keys create --role admin           for all owners
  partita keys list
  partita keys revoke 5f1c0a9be2d47733
""",
)
def keys() -> None:
    """Manage API keys. Clients send them as `Authorization: Bearer pk_…`.

    The store keeps only a hash of a key: copy the key when you create it.
    """


@keys.command(
    short_help="Create a key and print it once.",
    epilog="""\b
Examples:
  partita keys create --resource ada --name laptop --expires 30d
  partita keys create --role admin > key.txt    for all owners
""",
)
@store_option
@click.option(
    "--resource",
    metavar="ID",
    help="The owner whose data it gives access to. Default: all owners (role admin).",
)
@click.option(
    "--role",
    type=click.Choice(["read", "chat", "write", "admin"]),
    default="write",
    show_default=True,
    help="What it allows. Use chat for end users.",
)
@click.option("--name", help="A name to recognise it by.")
@click.option("--expires", type=ExpiryType(), help="When it expires: 30d, 12h, 2030-01-01. Default: never.")
@click.option("--json", "as_json", is_flag=True, help="Print the key and its details as JSON.")
def create(
    *,
    url: str | None,
    resource: str | None,
    role: "KeyRole",
    name: str | None,
    expires: datetime | None,
    as_json: bool,
) -> None:
    """Create a key and print it to stdout. It cannot be shown again."""
    with opened_store(url) as (store, wait):
        created = wait(store.keys.create(resource, role, name, expires))
    if as_json:
        from .output import print_json_line

        print_json_line({"key": created.text, **loads(encode(created.key))})
    else:
        click.echo(created.text)
    print_notice(f"created key {created.key.id}; it cannot be shown again")


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
    """List all keys, also expired and revoked ones. The keys themselves are not stored."""
    with opened_store(url) as (store, wait):
        found = wait(store.keys.list())
    if as_json:
        from .output import print_json_bytes

        for key in found:
            print_json_bytes(encode(key))
    elif found:
        _print(found, datetime.now(UTC))
    else:
        print_notice("no keys yet; `partita keys create` creates one")


def _print(found: "Sequence[ApiKey]", now: datetime) -> None:
    rows = [COLUMNS, *(_cells(key, now) for key in found)]
    if sys.stdout.isatty():
        _show(rows)
        return
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        click.echo(line.rstrip())


def _show(rows: Sequence[tuple[str, ...]]) -> None:
    """Print a table that fits the terminal."""
    from rich.table import Table

    from .view.console import show

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
        "(all)" if key.resource_id is None else one_line(key.resource_id, 40),
        key.role,
        one_line(key.name or "", 40),
        "" if key.created_at is None else f"{key.created_at:%Y-%m-%d}",
        "" if key.expires_at is None else f"{key.expires_at:%Y-%m-%d}",
        "revoked" if key.revoked_at is not None else "expired" if expired else "",
    )


@keys.command(
    short_help="Revoke a key.",
    epilog="""\b
Examples:
  partita keys revoke 5f1c0a9be2d47733  the id that `partita keys list` shows
""",
)
@store_option
@click.argument("id")
@click.option("--json", "as_json", is_flag=True, help="Print the key as JSON.")
def revoke(*, url: str | None, id: str, as_json: bool) -> None:
    """Revoke the key with this ID. Running servers reject it within two seconds."""
    with opened_store(url) as (store, wait):
        wait(store.keys.revoke(id))
        if as_json:
            from .output import print_json_bytes

            print_json_bytes(next(encode(key) for key in wait(store.keys.list()) if key.id == id))
        else:
            print_notice(f"key {id} is revoked")


COMMAND = keys
