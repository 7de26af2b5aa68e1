"""The `partita` command."""

import atexit
import gc
import logging
import os
import signal
import sys
from importlib import import_module
from typing import Any

import click

from partita.cli.ending.failing import exit_code_of
from partita.cli.ending.leaving import INTERRUPTED, tell_interrupted
from partita.version import __version__

from .config_defaults import Defaults

NO_LOG = logging.NullHandler()
"""Commands print what goes wrong with the store themselves. `partita serve` adds a handler of its own."""

COMMANDS = {
    "agents": "agents",
    "backup": "backup",
    "completion": "completion",
    "config": "config",
    "convert": "convert",
    "diff": "diff",
    "doctor": "doctor",
    "export": "export",
    "fixture": "fixture",
    "fold": "fold",
    "fork": "fork",
    "formats": "formats",
    "hook": "hook",
    "import": "import_",
    "keys": "keys",
    "mcp": "mcp",
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
    """The sub-commands, loaded when they are needed; what goes wrong is told in our way."""

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

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Read the arguments. For a Ctrl-C meanwhile, click would print an empty line."""
        try:
            return super().make_context(info_name, args, parent, **extra)
        except KeyboardInterrupt:
            raise click.Abort from None

    def invoke(self, ctx: click.Context) -> None:
        """Run a command. What goes wrong is told on stderr, and by the exit code."""
        ctx.exit(exit_code_of(lambda: super(Commands, self).invoke(ctx)))


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="""\b
Settings: partita config shows them, and where each comes from.
Exit codes:
  0 done, 1 failed or nothing found, 2 wrong use, 130 stopped by Ctrl-C
  (serve, watch and mcp then end with 0), 70 a mistake in partita itself
""",
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
    One to pass on, no secrets:     partita export last -o session.html
    A run as a test:                partita fixture last -o tests/one.json
    A memory for your agent:        partita mcp
    All of it in one file:          partita backup
    Is the archive healthy?         partita doctor
    """
    logging.getLogger("partita.store").addHandler(NO_LOG)
    ctx.default_map = Defaults()
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        ctx.color = False
    if ctx.invoked_subcommand is None:
        _alone(ctx)


def _alone(ctx: click.Context) -> None:
    """Serve, for a person at a terminal. A pipe gets the help text: it would wait for ever."""
    if not sys.stdout.isatty():
        click.echo(ctx.get_help())
        click.echo("partita: this is no terminal, so nothing was started; partita serve serves", err=True)
        ctx.exit(2)
    from .serve import serve

    with serve.make_context("serve", [], parent=ctx) as alone:
        if alone.params["opens"] is None:
            alone.params["opens"] = True
        serve.invoke(alone)


def main() -> None:
    """Run the command line, and end the process."""
    gc.set_threshold(*RARELY)
    atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)  # the last of all: it is over
    atexit.register(gc.freeze)  # else all that is left is looked through once more: a tenth of a second
    code = _run()

    def end(*_: object) -> None:
        os._exit(code)

    signal.signal(signal.SIGINT, end)  # a Ctrl-C while threads end is the end: all else is done and told
    if code == INTERRUPTED:
        end()  # threads may wait for what nobody wants any more
    sys.exit(code)


def _run() -> int:
    try:
        code: int = cli.main(prog_name="partita", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:  # a Ctrl-C before the command began, or while another one was reported
        tell_interrupted()
        return INTERRUPTED
    return code
