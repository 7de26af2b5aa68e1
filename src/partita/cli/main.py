"""The `partita` command."""

import sys

import click

from partita.errors import PartitaError
from partita.version import __version__

from .convert import convert
from .doctor import doctor
from .fold import fold
from .formats import formats
from .import_ import import_rows
from .migrate import migrate
from .tour import tour


class Commands(click.Group):
    """The sub-commands, with our errors told in our way: what, where, how to fix."""

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


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", message="partita %(version)s")
def cli() -> None:
    """Every message an AI agent sends or receives, kept whole.

    \b
    New here? Take the tour:        partita tour
    A stream, folded to a message:  partita fold stream.jsonl
    Messages in another format:     partita convert chat.json --to model --losses
    Another system's rows:          partita import mastra.db --from mastra
    Is the archive healthy?         partita doctor
    """


cli.add_command(fold)
cli.add_command(convert)
cli.add_command(formats)
cli.add_command(import_rows)
cli.add_command(migrate)
cli.add_command(doctor)
cli.add_command(tour)


def main() -> None:
    """Run the command line; a reader that went away is no error."""
    try:
        cli(prog_name="partita")
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
