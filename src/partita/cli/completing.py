"""What a shell may put in the place of half a word: names, and the newest threads and runs.

Nothing is told when it cannot be found out: somebody is in the middle of a word.
"""

import time
from collections.abc import Iterable
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from pathlib import Path

Items = list[CompletionItem[str]]

NEWEST = 30
PATIENCE = 0.1
"""Seconds to wait for a store that somebody is writing to, and then for its answer."""

STEPS = 10_000
"""Of SQLite's own, between two looks at the clock."""

THREADS = "SELECT id, title FROM threads ORDER BY updated_at DESC LIMIT ?"
RUNS = """
SELECT r.id, coalesce(t.title, r.agent) FROM runs r
LEFT JOIN threads t ON t.owner = r.owner AND t.id = r.thread_id
ORDER BY r.created_at DESC LIMIT ?"""


def formats(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """The names of formats, and their short ones."""
    from partita.formats.registry import ALIASES, all_formats

    return starting(
        [*((name, one.title) for name, one in all_formats().items()), *ALIASES.items()], incomplete
    )


def log_agents(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """The agents whose sessions can be brought in."""
    from partita.logs.places.places import AGENTS

    return starting(((name, None) for name in AGENTS), incomplete)


def served_agents(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """The agents that can be asked."""
    from partita.runtime.known_agents import KNOWN

    known = [(one.agent, one.description) for one in KNOWN if ":" not in one.agent or one.module]
    return starting([("demo", "Answers from a script."), *known], incomplete)


def thread_ids(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """The newest threads, by their ids."""
    return starting([("last", "the newest"), *_newest(ctx, THREADS)], incomplete)


def run_ids(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """The newest runs, by their ids."""
    return starting([("last", "the newest"), *_newest(ctx, RUNS)], incomplete)


def starting(known: Iterable[tuple[str, str | None]], incomplete: str) -> Items:
    """Of names, each with what is said of it, those that begin so."""
    return [CompletionItem(name, help=_plain(text)) for name, text in known if name.startswith(incomplete)]


def _plain(text: str | None) -> str | None:
    """A text in one line that no terminal obeys."""
    if text is None:
        return None
    return " ".join("".join(each if each.isprintable() else " " for each in text).split())[:80]


def _newest(ctx: click.Context, query: str) -> list[tuple[str, str | None]]:
    """The newest rows of a store that is a file. It is neither made nor brought up to date for that."""
    import sqlite3

    from partita.errors import PartitaError

    try:
        path = _file(ctx)
        if path is None or not path.is_file():
            return []
        address = f"{path.absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, uri=True, timeout=PATIENCE)) as connection:
            until = time.monotonic() + PATIENCE
            connection.set_progress_handler(lambda: time.monotonic() > until, STEPS)
            rows: list[Any] = connection.execute(query, (NEWEST,)).fetchall()
        return [(str(row[0]), None if row[1] is None else str(row[1])) for row in rows]
    except (sqlite3.Error, OSError, PartitaError):
        return []


def _file(ctx: click.Context) -> "Path | None":
    from partita.store.engines.location import locate

    return locate(ctx.params.get("url")).path
