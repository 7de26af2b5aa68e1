"""The `partita` command."""

import atexit
import gc
import sys
from importlib import import_module

import click

from partita.errors import PartitaError
from partita.version import __version__

COMMANDS = {
    "convert": "convert",
    "diff": "diff",
    "doctor": "doctor",
    "fold": "fold",
    "fork": "fork",
    "formats": "formats",
    "hook": "hook",
    "import": "import_",
    "keys": "keys",
    "migrate": "migrate",
    "replay": "replay",
    "reproject": "reproject",
    "runs": "run_list",
    "search": "search",
    "serve": "serve",
    "show": "show",
    "stats": "stats",
    "threads": "threads",
    "tour": "tour",
    "watch": "watch",
}
"""The sub-commands, by the module each lives in. A module is loaded when its command is asked for."""

RARELY = (100_000, 20, 50)
"""How often garbage is looked for: a command makes much that stays, and is soon over. A tenth of its time."""


class Commands(click.Group):
    """The sub-commands, with our errors told in our way: what, where, how to fix."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name."""
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"partita.cli.{COMMANDS[cmd_name]}")
        command: click.Command = module.COMMAND
        return command

    def invoke(self, ctx: click.Context) -> object:
        """Run a command; a `PartitaError` is a message on stderr and exit code 1."""
        try:
            return super().invoke(ctx)
        except PartitaError as error:
            click.secho(f"error: {error.what}", fg="red", err=True)
            if error.where:
                click.echo(f"   at: {error.where}", err=True)
            if error.hint:
                click.echo(f" hint: {error.hint}", err=True)
            ctx.exit(1)


@click.group(
    cls=Commands, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(__version__, "-V", "--version", message="partita %(version)s")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Every message an AI agent sends or receives, kept whole.

    Alone, it brings in the sessions of the agents on this machine and opens the page that shows them.

    \b
    New here? Take the tour:        partita tour
    A stream, folded to a message:  partita fold stream.jsonl
    Messages in another format:     partita convert chat.json --to model --losses
    Your coding agents' sessions:   partita import
    Another system's rows:          partita import mastra.db --from mastra
    What is in the store?           partita threads
    One thread, as it went:         partita show last
    Words anywhere in them:         partita search flaky test
    A run again, as it went:        partita replay last
    Is the archive healthy?         partita doctor
    """
    if ctx.invoked_subcommand is None:
        from .serve import serve

        with serve.make_context("serve", ["--open"], parent=ctx) as alone:
            serve.invoke(alone)


def main() -> None:
    """Run the command line; a reader that went away is no error."""
    gc.set_threshold(*RARELY)
    atexit.register(gc.freeze)  # else all that is left is looked through once more: a tenth of a second
    try:
        cli(prog_name="partita")
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
