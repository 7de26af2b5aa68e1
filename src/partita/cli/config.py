"""`partita config`: the settings, their values and sources."""

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from .config_file import EDITING
from .help import Group
from .output import print_json, print_notice
from .parameter_types import ExistingPath, SettingType

if TYPE_CHECKING:  # the settings and rich are loaded when the command is run
    from pathlib import Path

    from partita.config.config import Config, ResolvedSetting
    from partita.config.settings import Value
    from partita.types.json import JsonObject


@click.group(
    cls=Group,
    invoke_without_command=True,
    short_help="Show the settings and their sources.",
    epilog="""\b
Examples:
  partita config                    every setting
  partita config get serve.port     one value, for a script
  partita config set serve.port 80  change your partita.toml
  partita config path               the files that are read
  PARTITA_PORT=8000 partita serve   for one command
\b
In partita.toml:
  store = "messages.db"
  [serve]
  port = 8000
""",
)
@click.option("--json", "as_json", is_flag=True, help="Print the settings as JSON.")
@click.pass_context
def config(ctx: click.Context, as_json: bool) -> None:
    """Show every setting, its value and its source.

    The first of these that is set wins: a command-line option, an environment variable, partita.toml in this
    folder or the nearest parent folder, your user partita.toml, the default. Passwords in the URL of a store
    are not shown.
    """
    if ctx.invoked_subcommand is not None:
        return
    from partita.config.config import Config

    settings = Config()
    found = list(settings.all())
    if as_json:
        print_json(_object(settings, found))
    else:
        _print(found)
    for one in found:
        if one.refused is not None:
            print_notice(str(one.refused))
    for name in settings.unknown_variables():
        print_notice(f"unknown environment variable {name}{_near_variable(name)}")


@config.command(
    short_help="Print the value of one setting.",
    epilog="""\b
Examples:
  partita config get store
  partita config get serve.port --json
""",
)
@click.argument("key", type=SettingType())
@click.option("--json", "as_json", is_flag=True, help="Print the value as JSON.")
@click.pass_context
def get(ctx: click.Context, key: str, as_json: bool) -> None:
    """Print the complete value of the setting KEY, including passwords. Lists are printed one item per line.

    Exit code: 1 if it has no value.
    """
    from partita.config.config import Config

    value = Config().get(key)
    if key == "store" and value is None:
        value = str(_default_store())
    if as_json:
        print_json(_json(value))
    elif isinstance(value, tuple):
        for item in value:
            click.echo(item)
    elif value is not None:
        click.echo(text_of(value))
    ctx.exit(1 if value is None else 0)


class SettingsFile(NamedTuple):
    """A possible settings file: its path, its kind (project or user), and whether it is read."""

    path: "Path"
    kind: str
    state: str


@config.command(
    short_help="List the files that settings are read from.",
    epilog="""\b
Examples:
  partita config path
  partita config path --json | jq -r .path
""",
)
@click.option("--json", "as_json", is_flag=True, help="Print the files as JSON, one object per line.")
def path(as_json: bool) -> None:
    """List the settings files, highest precedence first, and whether each is read."""
    from partita.config.config import Config

    for file in _settings_files(Config()):
        if as_json:
            from .output import print_json_line

            print_json_line({"path": str(file.path), "whose": file.kind, "state": file.state})
        else:
            click.echo(f"{file.path}  ({file.kind}: {file.state})")


@config.command(
    short_help="Trust the partita.toml of a project.",
    epilog="""\b
Examples:
  partita config trust                 the file of the current project
  partita config trust ~/lamp          the file of another project
  partita config trust --revoke        revoke it
""",
)
@click.argument("folder", required=False, type=ExistingPath())
@click.option("--revoke", is_flag=True, help="Revoke the trust.")
def trust(folder: str | None, revoke: bool) -> None:
    """Trust the partita.toml of FOLDER, or the nearest one, with its current content.

    It can then select the store, the agents that run, and who can reach the server. Read the file first.
    After a change it must be trusted again.
    """
    from pathlib import Path

    from partita.config import trust as trust_files
    from partita.config.config import Config, project_file
    from partita.config.environment import current_environment
    from partita.errors import ConfigError

    environment = current_environment()
    if folder is not None:
        environment = environment._replace(folder=Path(folder).absolute())
    file = project_file(environment)
    if file is None:
        raise ConfigError(
            "there is no partita.toml", where=str(environment.folder or ""), hint="name the project's folder"
        )
    if revoke:
        found = trust_files.revoke(file.path, environment)
        print_notice(f"{'trust revoked' if found else 'was not trusted'}: {file.path}")
        return
    trust_files.approve(file, environment)
    settings = Config(environment)
    for key in file.values:
        one = settings.find(key)
        if one.setting.trust_reason and one.source.kind == "project":
            print_notice(f"{key} = {text_of(_shown(one))}")
    print_notice(f"trusted until it changes: {file.path}")


def _settings_files(settings: "Config") -> list[SettingsFile]:
    from partita.config.config import exists

    files: list[SettingsFile] = []
    has_nearer = False
    for path in settings.environment.project_files():
        found = exists(path)
        state = "not read, a nearer file exists" if found and has_nearer else _state(found)
        files.append(SettingsFile(path, "project", state))
        has_nearer = has_nearer or found
    user_file = settings.environment.user_file
    return [*files, SettingsFile(user_file, "user", _state(exists(user_file)))]


def _state(found: bool) -> str:
    return "read" if found else "does not exist"


def _object(settings: "Config", found: "list[ResolvedSetting]") -> "JsonObject":
    return {
        "settings": [
            {
                "key": one.setting.key,
                "value": _json(_shown(one)),
                "source": {"kind": one.source.kind, "name": one.source.name or None},
                "counts": one.refused is None,
                "default": _json(one.setting.default),
                "environment": one.setting.environment,
                "meaning": one.setting.meaning,
            }
            for one in found
        ],
        "unknownVariables": list(settings.unknown_variables()),
    }


def _print(found: "list[ResolvedSetting]") -> None:
    from rich.table import Table
    from rich.text import Text

    from .view.console import show
    from .view.text import one_line

    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("setting", "value", "from"):
        table.add_column(name, overflow="fold")
    for one in found:
        value = _shown(one)
        empty = value is None or value == ()
        text = (
            Text(one.setting.default_text or "none", style="dim") if empty else Text(one_line(text_of(value)))
        )
        source = f"{one.source}{' (not trusted)' if one.refused is not None else ''}"
        style = "dim" if one.source.kind == "default" else "red" if one.refused is not None else ""
        table.add_row(Text(one.setting.key, style="yellow"), text, Text(one_line(source), style=style))
    show([table])


def _shown(found: "ResolvedSetting") -> "Value":
    """The value to display: without a password."""
    if found.setting.key != "store":
        return found.value
    if found.value is None:
        return str(_default_store())
    text = str(found.value)
    if "://" not in text or text.startswith("sqlite:"):
        return text
    from partita.store.engines.location import without_password

    return without_password(text)


def _default_store() -> "Path":
    from partita.store.engines.location import default_path

    return default_path()


def text_of(value: "Value") -> str:
    """Return a value as it is shown."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return ", ".join(value) if isinstance(value, tuple) else str(value)


def _json(value: "Value") -> Any:
    return list(value) if isinstance(value, tuple) else value


def _near_variable(name: str) -> str:
    from partita.config.settings import SETTINGS, VARIABLES

    near = get_close_matches(name, [*VARIABLES, *(one.environment for one in SETTINGS)], n=1)
    return f"; did you mean {near[0]}?" if near else ""


for command in EDITING:
    config.add_command(command)

COMMAND = config
