"""`reference/cli.md`: every command of `partita`, from its help."""

import inspect
import re
import textwrap
from collections.abc import Iterator
from itertools import groupby

import click

from partita.cli.exit_codes import BUG, DONE, FAILED, INTERRUPTED
from partita.cli.main import cli
from partita.config.settings import BY_OPTION, SETTINGS, VARIABLES

from . import markdown as md

INTRODUCTION = """\
Every command with its arguments, options and examples. `partita COMMAND --help` prints the same. Data goes
to standard output, messages and errors to standard error."""

SETTINGS_INTRODUCTION = """\
A command-line option overrides the environment variable, which overrides the settings file: see
[Configuration](../configuration.md)."""

EXIT_CODES = (
    (DONE, "Success. Also if the reader of the output closes the pipe early, as `head` does."),
    (FAILED, "Failure, with the reason and a hint on standard error; or nothing was found."),
    (click.UsageError.exit_code, "Usage error: an unknown command or option, or an invalid value."),
    (BUG, "Internal error: a bug in Partita. The output says how to report it."),
    (INTERRUPTED, "Stopped by Ctrl-C."),
)

NAMED_DEFAULT = re.compile(r" ?\bDefault: ([^.]+)\.")
"""The default in a help text, of an option whose default is determined at run time."""

Command = tuple[click.Command, click.Context]


def page() -> str:
    """Return the whole page."""
    with click.Context(cli, info_name="partita", **cli.context_settings) as context:
        commands = list(_commands(cli, context))
    overview = md.table(
        ("command", "description"),
        [
            (
                f"[`{context.command_path}`](#{md.slug(context.command_path)})",
                md.prose(command.get_short_help_str(200)),
            )
            for command, context in commands[1:]
        ],
    )
    sections = [_command(command, context) for command, context in commands]
    return md.page("Command line", INTRODUCTION, overview, *sections, _settings(), _exit_codes())


def _commands(command: click.Command, context: click.Context) -> Iterator[Command]:
    """Yield a command and its subcommands, in the order of the help."""
    yield command, context
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            if found is not None and not found.hidden:
                yield from _commands(found, click.Context(found, info_name=name, parent=context))


def _command(command: click.Command, context: click.Context) -> str:
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    pieces = [
        f"## {context.command_path}",
        md.block(usage),
        _help(command.help or ""),
        _arguments(command, context),
        _options(command, context),
        *_epilog(command.epilog or ""),
    ]
    return "\n\n".join(piece for piece in pieces if piece)


def _help(text: str) -> str:
    r"""Return a help text. A paragraph that begins with \b keeps its lines."""
    paragraphs = inspect.cleandoc(text.partition("\f")[0]).split("\n\n")
    return "\n\n".join(
        md.block(one.removeprefix("\b\n")) if one.startswith("\b") else md.prose(" ".join(one.split()))
        for one in paragraphs
        if one
    )


def _arguments(command: click.Command, context: click.Context) -> str:
    rows = [
        (
            md.code(parameter.make_metavar(context)) + (" (repeatable)" if parameter.nargs == -1 else ""),
            md.prose(_type(parameter)),
            _argument_default(parameter),
        )
        for parameter in command.get_params(context)
        if isinstance(parameter, click.Argument)
    ]
    return md.table(("argument", "value", "default"), rows) if rows else ""


def _argument_default(argument: click.Argument) -> str:
    if argument.required:
        return "required"
    return md.code(argument.default) if isinstance(argument.default, str) else ""


def _type(parameter: click.Parameter) -> str:
    match parameter.type:
        case click.Choice():
            return "one of " + ", ".join(f"`{choice}`" for choice in parameter.type.choices)
        case click.File():
            return "a file; `-` is standard input" if "r" in parameter.type.mode else "a file to write"
        case click.Path():
            return "a path"
        case _:
            return ""


def _options(command: click.Command, context: click.Context) -> str:
    rows = [
        (
            _names(option, context),
            md.prose(_description(option)),
            _default(option, context),
            _variables(option, context),
        )
        for option in command.get_params(context)
        if isinstance(option, click.Option) and not option.hidden and "--help" not in option.opts
    ]
    return md.table(("option", "description", "default", "environment"), rows) if rows else ""


def _names(option: click.Option, context: click.Context) -> str:
    names = ", ".join(md.code(name) for name in [*option.opts, *option.secondary_opts])
    if option.is_flag or option.count:
        return names
    choices = isinstance(option.type, click.Choice)
    ranged = isinstance(option.type, click.IntRange | click.FloatRange) and option.metavar is None
    metavar = "" if choices else f" {md.code('N' if ranged else option.make_metavar(context))}"
    return f"{names}{metavar}{' (repeatable)' if option.multiple else ''}"


def _description(option: click.Option) -> str:
    choices = _type(option) if isinstance(option.type, click.Choice) else ""
    text = NAMED_DEFAULT.sub("", option.help or "")
    return f"{text} {choices[:1].upper()}{choices[1:]}{'.' if choices else ''}".strip()


def _default(option: click.Option, context: click.Context) -> str:
    default = option.get_default(context, call=False)
    if option.required:
        return "required"
    if named := NAMED_DEFAULT.search(option.help or ""):
        return md.code(named[1]) if named[1].startswith("--") else md.prose(named[1])
    if default is None:
        return ""
    if option.is_bool_flag and option.secondary_opts:
        return md.code(option.opts[0] if default else option.secondary_opts[0])
    if default is False or callable(default) or default == () or not option.show_default:
        return ""
    return md.code(str(option.show_default if isinstance(option.show_default, str) else default))


def _variables(option: click.Option, context: click.Context) -> str:
    """Return the environment variables that set the value of an option."""
    setting = BY_OPTION.get(f"{context.info_name}.{option.name}")
    if setting is not None:
        return md.code(setting.environment)
    names = [option.envvar] if isinstance(option.envvar, str) else option.envvar or ()
    return ", ".join(map(md.code, names))


def _epilog(text: str) -> Iterator[str]:
    r"""Yield the indented lines of an epilog as blocks, and other lines as text. Sections begin with \b."""
    for section in inspect.cleandoc(text).split("\b\n"):
        for is_indented, lines in groupby(
            section.strip("\n").splitlines(), lambda line: line[:1] in ("", " ")
        ):
            paragraph = "\n".join(lines)
            if is_indented:
                yield md.block(textwrap.dedent(paragraph).strip("\n"))
            elif paragraph not in ("Example:", "Examples:"):
                yield md.prose(paragraph)


def _settings() -> str:
    rows = [
        (
            md.code(setting.environment),
            md.code(setting.key),
            md.prose(setting.meaning),
            setting.default_text or _setting_default(setting.default),
        )
        for setting in SETTINGS
    ]
    rows += [(md.code(name), "", md.prose(meaning), "") for name, meaning in VARIABLES.items()]
    table = md.table(("variable", "key in the file", "description", "default"), rows)
    return f"## Settings\n\n{SETTINGS_INTRODUCTION}\n\n{table}"


def _setting_default(value: object) -> str:
    if value in (None, ()):
        return ""
    return md.code(str(value).lower() if isinstance(value, bool) else str(value))


def _exit_codes() -> str:
    rows = [(md.code(str(code)), meaning) for code, meaning in EXIT_CODES]
    return f"## Exit codes\n\n{md.table(('code', 'meaning'), rows)}"
