"""`partita diff`: compare two runs."""

import click

from .blocking import opened_store
from .completion import complete_runs
from .options import pager_option, resource_option, store_option


@click.command(
    short_help="Compare two runs.",
    epilog="""\b
Examples:
  partita diff 0198a3c2 0198b7d0      texts, tool calls, times and costs
  partita diff 0198a3c2 last --json | jq .facts
""",
)
@click.argument("a", metavar="RUN", shell_complete=complete_runs)
@click.argument("b", metavar="RUN", shell_complete=complete_runs)
@store_option
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
@pager_option
@resource_option
def diff(a: str, b: str, url: str | None, as_json: bool, pager: bool, resource: str | None) -> None:
    """Compare two runs. Each RUN is an id, the beginning of one, or `last`.

    Parts are aligned by kind: a tool call with a call of the same tool, a text with a text. Texts are
    compared word by word. Marks: = equal, ~ different, - only in the first run, + only in the second.
    """
    from partita.runtime.compare.run_diff import diff_runs, to_object

    from .lookup import find_run

    with opened_store(url, resource) as (store, wait):
        one, other = wait(find_run(store, a)), wait(find_run(store, b))
        found = wait(diff_runs(store, one.id, other.id))
    if as_json:
        from .output import print_json

        print_json(to_object(found))
        return
    from .view.console import console, show
    from .view.run_diff import draw_diff

    show(draw_diff(found, colour=console().is_terminal), pager=pager)


COMMAND = diff
