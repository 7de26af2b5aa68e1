"""`reference/cli.md`: every command of `partita`, as it describes itself."""

import inspect
import re
from collections.abc import Iterator

import click

from partita.cli.exit_codes import BUG, DONE, FAILED, INTERRUPTED
from partita.cli.main import cli
from partita.config.settings import BY_OPTION, SETTINGS, VARIABLES, Setting

from . import markdown as md

SAID = """\
Every command, with its arguments, options and examples. `partita --help` tells the same in a terminal, and
so does every command. Data goes to standard output, all talk to standard error."""

_EXAMPLES = re.compile(r"^Examples?:\n", re.MULTILINE)


def page() -> str:
    """The whole page."""
    with click.Context(cli, info_name="partita", **cli.context_settings) as context:
        commands = list(_commands(cli, context))
    listed = md.table(
        ("command", "what it does"),
        [
            (f"[`{context.command_path}`](#{_slug(context)})", md.prose(command.get_short_help_str(200)))
            for command, context in commands[1:]
        ],
    )
    sections = [_command(command, context) for command, context in commands]
    return md.page("Command line", SAID, listed, *sections, _settings(), _exit_codes())


Found = tuple[click.Command, click.Context]


def _commands(command: click.Command, context: click.Context) -> Iterator[Found]:
    """A command and all below it, in order."""
    yield command, context
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            if found is not None and not found.hidden:
                yield from _commands(found, click.Context(found, info_name=name, parent=context))


def _slug(context: click.Context) -> str:
    return context.command_path.replace(" ", "-")


def _command(command: click.Command, context: click.Context) -> str:
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    pieces = [
        f"## {context.command_path}",
        md.block(usage),
        _help(command.help or ""),
        _arguments(command, context),
        _options(command, context),
        _examples(command.epilog or ""),
    ]
    return "\n\n".join(piece for piece in pieces if piece)


def _help(text: str) -> str:
    r"""Help, paragraph by paragraph; one that begins with \b keeps its lines."""
    paragraphs = inspect.cleandoc(text.partition("\f")[0]).split("\n\n")
    return "\n\n".join(
        md.block(one.removeprefix("\b\n")) if one.startswith("\b") else md.prose(" ".join(one.split()))
        for one in paragraphs
        if one
    )


def _arguments(command: click.Command, context: click.Context) -> str:
    rows = [
        (md.code(parameter.make_metavar(context)), _needed(parameter), md.prose(_type(parameter)))
        for parameter in command.get_params(context)
        if isinstance(parameter, click.Argument)
    ]
    return md.table(("argument", "", "what it is"), rows) if rows else ""


def _needed(parameter: click.Parameter) -> str:
    many = "one or more" if parameter.required else "any number"
    if parameter.nargs == -1:
        return many
    if parameter.required:
        return "needed"
    default = parameter.default
    return f"otherwise {md.code(str(default))}" if isinstance(default, str) else "may be left out"


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
            md.prose(_said(option)),
            _default(option, context),
            _variable(option, context),
        )
        for option in command.get_params(context)
        if isinstance(option, click.Option) and not option.hidden and "--help" not in option.opts
    ]
    return md.table(("option", "what it does", "otherwise", "environment"), rows) if rows else ""


def _names(option: click.Option, context: click.Context) -> str:
    names = ", ".join(md.code(name) for name in [*option.opts, *option.secondary_opts])
    if option.is_flag or option.count:
        return names
    choices = isinstance(option.type, click.Choice)
    ranged = isinstance(option.type, click.IntRange | click.FloatRange) and option.metavar is None
    metavar = "" if choices else f" {md.code('N' if ranged else option.make_metavar(context))}"
    return f"{names}{metavar}{' (several times)' if option.multiple else ''}"


def _said(option: click.Option) -> str:
    said = option.help or ""
    if isinstance(option.type, click.Choice):
        said = f"{said} One of {', '.join(f'`{choice}`' for choice in option.type.choices)}.".strip()
    return said


def _default(option: click.Option, context: click.Context) -> str:
    default = option.get_default(context, call=False)
    if option.required:
        return "needed"
    if option.is_bool_flag and option.secondary_opts:
        return md.code(option.opts[0] if default else option.secondary_opts[0])
    if default is None or default is False or callable(default) or default == () or not option.show_default:
        return ""
    return md.code(str(option.show_default if isinstance(option.show_default, str) else default))


def _setting(option: click.Option, context: click.Context) -> Setting | None:
    """The setting that an option takes its value from, where it is not given."""
    return BY_OPTION.get(f"{context.info_name}.{option.name}")


def _variable(option: click.Option, context: click.Context) -> str:
    setting = _setting(option, context)
    told = [option.envvar] if isinstance(option.envvar, str) else list(option.envvar or ())
    names = [setting.environment] if setting else told
    return ", ".join(md.code(name) for name in names)


def _examples(epilog: str) -> str:
    text = _EXAMPLES.sub("", inspect.cleandoc(epilog).replace("\b\n", ""))
    return md.block(inspect.cleandoc(text)) if text.strip() else ""


EXIT_CODES = (
    (DONE, "It is done. Also when whoever read the output had enough of it, as `head` does."),
    (FAILED, "It failed, and standard error says what, where and how to mend it; or nothing was found."),
    (click.UsageError.exit_code, "The words after `partita` do not make sense together."),
    (BUG, "A mistake in Partita itself; what is needed to report it is printed."),
    (INTERRUPTED, "Somebody pressed Ctrl-C."),
)


def _exit_codes() -> str:
    rows = [(md.code(str(code)), said) for code, said in EXIT_CODES]
    return f"## Exit codes\n\n{md.table(('code', 'what happened'), rows)}"


def _settings() -> str:
    rows = [
        (
            md.code(setting.environment),
            md.code(setting.key),
            md.prose(setting.meaning),
            setting.default_text
            or ("" if setting.default in (None, ()) else md.code(_told(setting.default))),
        )
        for setting in SETTINGS
    ]
    rows += [(md.code(name), "", md.prose(said), "") for name, said in VARIABLES.items()]
    said = (
        "What an option does not say, a variable of the environment does, and else a file: "
        "[the settings](../configuration.md)."
    )
    return f"## Settings\n\n{said}\n\n{md.table(('variable', 'in a file', 'what it is', 'otherwise'), rows)}"


def _told(value: object) -> str:
    return {True: "true", False: "false"}.get(value, str(value)) if isinstance(value, bool) else str(value)
