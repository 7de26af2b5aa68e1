"""`partita completion`: the shell completion script, and the candidates for arguments.

Candidates are names and the newest threads and runs. An error gives no candidates: nothing may be printed
while the user types.
"""

import time
from collections.abc import Callable, Iterable
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from pathlib import Path

    from partita.formats.registry import Ability

Items = list[CompletionItem[str]]
Completer = Callable[[click.Context, click.Parameter, str], Items]

SHELLS = ("bash", "zsh", "fish")
NEWEST = 30
TIMEOUT = 0.1
"""Seconds to wait for a store that another process is writing to, and then for its rows."""

INSTRUCTIONS = 10_000
"""How many instructions of SQLite run between two checks of the timeout."""

THREADS = "SELECT id, title FROM threads ORDER BY updated_at DESC LIMIT ?"
TAGS = "SELECT DISTINCT name, NULL FROM thread_labels WHERE name >= 'tag:' AND name < 'tag;' LIMIT ?"
RUNS = """
SELECT r.id, coalesce(t.title, r.agent) FROM runs r
LEFT JOIN threads t ON t.owner = r.owner AND t.id = r.thread_id
ORDER BY r.created_at DESC LIMIT ?"""


@click.command(
    short_help="Print a shell completion script.",
    epilog="""\b
Run once to enable it in every shell:
  bash   echo 'eval "$(partita completion bash)"' >> ~/.bashrc
  zsh    echo 'eval "$(partita completion zsh)"' >> ~/.zshrc
  fish   partita completion fish > ~/.config/fish/completions/partita.fish
\b
Examples:
  eval "$(partita completion bash)"       in this shell only
""",
)
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print a script that completes commands, options, formats, agents, settings and ids in your shell.

    Ids are those of the newest threads and runs of a SQLite store. Requires bash 4.4 or newer.
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None, "click supports all three"
    script = kind(ctx.find_root().command, {}, "partita", "_PARTITA_COMPLETE")
    click.echo(script.source_template % script.source_vars())


def format_completer(ability: "Ability") -> Completer:
    """Return a function that completes the formats that can do that, and their aliases."""

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
        from partita.formats.registry import ALIASES, all_formats, format_names

        known, names = all_formats(), format_names(ability)
        aliases = [(alias, name) for alias, name in ALIASES.items() if name in names]
        return matching([*((name, known[name].title) for name in names), *aliases], incomplete)

    return complete


complete_read_formats = format_completer("read")
complete_written_formats = format_completer("written")


def complete_log_agents(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """Return the agents whose sessions can be imported."""
    from partita.logs.sources.registry import AGENTS

    return matching(((name, None) for name in AGENTS), incomplete)


def complete_served_agents(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """Return the agents for `partita serve --agent`."""
    from partita.runtime.registry import KNOWN_AGENTS

    known = [(one.agent, one.description) for one in KNOWN_AGENTS if ":" not in one.agent or one.module]
    return matching([("demo", "Answers from a script."), *known], incomplete)


def complete_threads(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """Return the ids of the newest threads."""
    return matching([("last", "the newest"), *_query(ctx, THREADS)], incomplete)


def complete_runs(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """Return the ids of the newest runs."""
    return matching([("last", "the newest"), *_query(ctx, RUNS)], incomplete)


def complete_tags(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """Return the tags of threads."""
    return matching([(name.removeprefix("tag:"), None) for name, _ in _query(ctx, TAGS)], incomplete)


def complete_threads_and_runs(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """Return the ids of the newest threads and runs."""
    return matching([("last", "the newest"), *_query(ctx, THREADS), *_query(ctx, RUNS)], incomplete)


def matching(known: Iterable[tuple[str, str | None]], incomplete: str) -> Items:
    """Return the names that begin with what was typed, each with its description."""
    return [
        CompletionItem(name, help=_printable(text)) for name, text in known if name.startswith(incomplete)
    ]


def _printable(text: str | None) -> str | None:
    """Return a text on one line without control characters."""
    if text is None:
        return None
    return " ".join("".join(each if each.isprintable() else " " for each in text).split())[:80]


def _query(ctx: click.Context, query: str) -> list[tuple[str, str | None]]:
    """Return rows of a SQLite store, without creating or migrating it."""
    import sqlite3

    from partita.errors import PartitaError

    try:
        path = _store_path(ctx)
        if path is None or not path.is_file():
            return []
        address = f"{path.absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, uri=True, timeout=TIMEOUT)) as connection:
            until = time.monotonic() + TIMEOUT
            connection.set_progress_handler(lambda: time.monotonic() > until, INSTRUCTIONS)
            rows: list[Any] = connection.execute(query, (NEWEST,)).fetchall()
        return [(str(row[0]), None if row[1] is None else str(row[1])) for row in rows]
    except (sqlite3.Error, OSError, PartitaError):
        return []


def _store_path(ctx: click.Context) -> "Path | None":
    from partita.store.engines.location import locate

    return locate(ctx.params.get("url")).path


COMMAND = completion
