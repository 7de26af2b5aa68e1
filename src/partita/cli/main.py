"""The `partita` command."""

import atexit
import gc
import logging
import os
import signal
import sys
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from partita.version import __version__

from .exit_codes import EXIT_CODES, INTERRUPTED, exit_code_of, print_click_error, print_interrupted
from .help import Context, Group

if TYPE_CHECKING:  # imported when an option needs a setting
    from partita.config.config import Config, ResolvedSetting

NO_LOG = logging.NullHandler()
"""Commands print errors of the store themselves. `partita serve` adds its own handler."""

SECTIONS = {
    "Read": {
        "threads": "threads",
        "show": "show",
        "search": "search",
        "stats": "stats",
        "runs": "runs",
        "replay": "replay",
        "diff": "diff",
        "open": "open",
        "tour": "tour",
    },
    "Import": {
        "import": "import_",
        "watch": "watch",
        "hook": "hook",
        "agents": "agents",
    },
    "Organize and continue": {
        "rename": "edit",
        "tag": "edit",
        "pin": "edit",
        "fork": "fork",
        "resume": "resume",
        "rm": "rm",
    },
    "Convert, share and test": {
        "convert": "convert",
        "fold": "fold",
        "formats": "formats",
        "export": "export",
        "fixture": "fixture",
    },
    "Serve": {
        "serve": "serve",
        "keys": "keys",
        "mcp": "mcp",
    },
    "Maintain the store": {
        "backup": "backup",
        "compact": "compact",
        "doctor": "doctor",
        "migrate": "migrate",
        "reproject": "reproject",
        "retention": "retention",
    },
    "Settings": {
        "config": "config",
        "completion": "completion",
    },
}
"""The sub-commands by section of the help text, each with its module, which is imported when it is used."""

COMMANDS = {name: module for section in SECTIONS.values() for name, module in section.items()}

GC_THRESHOLDS = (100_000, 20, 50)
"""Commands are short-lived: with Python's default thresholds, a tenth of the time is garbage collection."""


class Commands(Group):
    """A group whose sub-commands are imported when they are used. It prints errors and sets the exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all sub-commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the sub-command of that name."""
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"partita.cli.{COMMANDS[cmd_name]}")
        commands: dict[str, click.Command] = getattr(module, "COMMANDS", {})
        command = commands[cmd_name] if commands else module.COMMAND
        command.context_class = Context
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the sub-commands by section."""
        width = max(map(len, COMMANDS))
        for section, names in SECTIONS.items():
            found = [(name, self.get_command(ctx, name)) for name in names]
            rows = [(name.ljust(width), one.get_short_help_str(80)) for name, one in found if one]
            with formatter.section(section):
                formatter.write_dl(rows)

    def main(self, *args: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        """Run the command line. Usage errors are printed like all errors."""
        try:
            code = super().main(*args, standalone_mode=False, **extra)
        except click.ClickException as error:
            code = print_click_error(error)
        except click.Abort:  # Ctrl-C before the command began, or while another Ctrl-C was handled
            print_interrupted()
            code = INTERRUPTED
        if standalone_mode:
            sys.exit(code)
        return code

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Parse the arguments. On Ctrl-C, click would print an empty line."""
        try:
            return super().make_context(info_name, args, parent, **extra)
        except KeyboardInterrupt:
            raise click.Abort from None

    def invoke(self, ctx: click.Context) -> None:
        """Run a command. Errors are printed on stderr and set the exit code."""
        ctx.exit(exit_code_of(lambda: super(Commands, self).invoke(ctx)))


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="""\b
Examples:
  partita                                    import your sessions, open the web UI
  partita tour                               a short tour
  partita threads --project .                the threads of this folder
  partita show last                          read the newest thread
  partita search flaky test                  search all messages
  partita resume last                        continue a session in its agent
  partita export last -o session.html        share a thread, without secrets
  partita convert chat.json --to anthropic   convert messages
  partita serve --agent anthropic:claude-sonnet-4-5
\b
Exit codes:
"""
    + "".join(f"  {code:<5}{meaning}\n" for code, meaning in EXIT_CODES.items()),
)
@click.version_option(__version__, "-V", "--version", message="partita %(version)s")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Read, search and serve every conversation of your AI agents.

    Without a command: import the sessions of the agents on this machine and open the web UI.
    `partita COMMAND --help` explains a command. `partita config` shows the settings and their sources.
    """
    logging.getLogger("partita.store").addHandler(NO_LOG)
    ctx.default_map = SettingDefaults()
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        ctx.color = False
    if ctx.invoked_subcommand is None:
        _serve_by_default(ctx)


def _serve_by_default(ctx: click.Context) -> None:
    """Start the server, for a user at a terminal. In a pipe it would block: print the help text instead."""
    if not sys.stdout.isatty():
        click.echo(ctx.get_help())
        click.echo("partita: not a terminal. Run `partita serve` to start the server.", err=True)
        ctx.exit(2)
    from .serve import serve

    with serve.make_context("serve", [], parent=ctx) as context:
        if context.params["opens"] is None:
            context.params["opens"] = True
        serve.invoke(context)


class SettingDefaults(dict[str, Any]):
    """Defaults of options from settings, by command: click's `default_map`."""

    def get(self, key: str, default: Any = None) -> Any:
        """Return the defaults of a command."""
        return _CommandDefaults(key, self)

    @cached_property
    def config(self) -> "Config":
        """The settings."""
        from partita.config.config import Config

        return Config()


class _CommandDefaults(dict[str, Any]):
    """The settings of a command's parameters. They are not read for a help text."""

    def __init__(self, command: str, defaults: SettingDefaults) -> None:
        super().__init__()
        self._command = command
        self._defaults = defaults

    def get(self, key: str, default: Any = None) -> Any:
        """Return the defaults of a nested sub-command: there are none."""
        return default

    def __contains__(self, key: object) -> bool:
        if click.get_current_context().resilient_parsing:  # for a help text or shell completion
            return False
        found = self._find(str(key))
        return found is not None and found.source.kind != "default"

    def __getitem__(self, key: str) -> Any:
        found = self._find(key)
        if found is None:
            raise KeyError(key)
        return self._defaults.config.get(found.setting.key)

    def _find(self, parameter: str) -> "ResolvedSetting | None":
        from partita.config.settings import BY_OPTION

        setting = BY_OPTION.get(f"{self._command}.{parameter}")
        return None if setting is None else self._defaults.config.find(setting.key)


def main() -> None:
    """Run the command line and end the process."""
    gc.set_threshold(*GC_THRESHOLDS)
    atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)  # runs last: all work is done
    atexit.register(gc.freeze)  # a final collection would take a tenth of a second
    code: int = cli.main(prog_name="partita", standalone_mode=False)

    def end(*_: object) -> None:
        os._exit(code)

    signal.signal(signal.SIGINT, end)  # Ctrl-C while threads end: all output has been printed
    if code == INTERRUPTED:
        end()  # threads may be blocked by work that was cancelled
    sys.exit(code)
