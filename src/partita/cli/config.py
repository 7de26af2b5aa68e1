"""`partita config`: every setting, its value, and where that comes from."""

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from click.shell_completion import CompletionItem

from .output import print_json, say

if TYPE_CHECKING:  # the settings and rich are loaded when the command is run
    from pathlib import Path

    from partita.config.config import Config, Found
    from partita.config.settings import Value
    from partita.types.json import JsonObject


class SettingType(click.ParamType[str]):
    """The key of a setting."""

    name = "key"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The key itself, if there is one."""
        from partita.config.settings import BY_KEY

        if value not in BY_KEY:
            near = get_close_matches(str(value), BY_KEY, n=1)
            more = f"did you mean {near[0]}?" if near else "partita config lists them"
            self.fail(f"there is no setting {value!r}; {more}", param, ctx)
        return str(value)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem[str]]:
        """The keys that begin so."""
        from partita.config.settings import SETTINGS

        return [
            CompletionItem(one.key, help=one.meaning) for one in SETTINGS if one.key.startswith(incomplete)
        ]


@click.group(
    invoke_without_command=True,
    short_help="Show the settings, and where each comes from.",
    epilog="""\b
Examples:
  partita config                    every setting
  partita config get serve.port     one value, for a script
  partita config path               the files that are looked for
  PARTITA_PORT=8000 partita serve   for once
\b
In partita.toml:
  store = "messages.db"
  [serve]
  port = 8000
""",
)
@click.option("--json", "as_json", is_flag=True, help="The settings as JSON.")
@click.pass_context
def config(ctx: click.Context, as_json: bool) -> None:
    """Show every setting, its value, and where that comes from.

    What counts: an option of a command, then the environment, then partita.toml in this folder or the nearest
    one above it, then your own partita.toml, then the default. Passwords in the URL of a store are not shown.
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
            say(str(one.refused))
    for name in settings.unknown_variables():
        say(f"nothing reads the variable {name}{_near_variable(name)}")


@config.command(
    short_help="Print the value of one setting.",
    epilog="""\b
Examples:
  partita config get store
  partita config get serve.port --json
""",
)
@click.argument("key", type=SettingType())
@click.option("--json", "as_json", is_flag=True, help="The value as JSON.")
@click.pass_context
def get(ctx: click.Context, key: str, as_json: bool) -> None:
    """Print the value of the setting KEY, whole: passwords too. A list has one line for each item.

    Exit code: 1 when it has no value.
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
        click.echo(_text(value))
    ctx.exit(1 if value is None else 0)


class Place(NamedTuple):
    """A file of settings: where it is or would be, and whether it counts."""

    path: "Path"
    whose: str
    state: str


@config.command(
    short_help="List the files that settings are read from.",
    epilog="""\b
Examples:
  partita config path
  partita config path --json | jq -r .path
""",
)
@click.option("--json", "as_json", is_flag=True, help="The files as JSON, one object a line.")
def path(as_json: bool) -> None:
    """List the files that are looked for, what counts most first, and which of them are there."""
    from partita.config.config import Config

    for place in _places(Config()):
        if as_json:
            from .printing import write_json

            write_json({"path": str(place.path), "whose": place.whose, "state": place.state})
        else:
            click.echo(f"{place.path}  ({place.whose}: {place.state})")


@config.command(
    short_help="Trust the partita.toml of a project.",
    epilog="""\b
Examples:
  partita config trust                 the file of the project you are in
  partita config trust ~/lamp          the file of another one
  partita config trust --revoke        no longer
""",
)
@click.argument("folder", required=False, type=click.Path(exists=True, file_okay=False))
@click.option("--revoke", is_flag=True, help="Trust it no longer.")
def trust(folder: str | None, revoke: bool) -> None:
    """Trust the partita.toml of FOLDER, or the nearest one from here, with the content that it has now.

    It may then choose the store, the agents that run, and who can reach the server. When the file changes,
    it has to be trusted again. Read it first.
    """
    from pathlib import Path

    from partita.config import trust as trusting
    from partita.config.config import Config, project_file
    from partita.config.surroundings import here
    from partita.errors import ConfigError

    surroundings = here()
    if folder is not None:
        surroundings = surroundings._replace(folder=Path(folder).absolute())
    file = project_file(surroundings)
    if file is None:
        raise ConfigError(
            "there is no partita.toml", where=str(surroundings.folder or ""), hint="name the project's folder"
        )
    if revoke:
        found = trusting.revoke(file.path, surroundings)
        say(f"{'trusted no longer' if found else 'was not trusted'}: {file.path}")
        return
    trusting.approve(file, surroundings)
    settings = Config(surroundings)
    for key in file.values:
        one = settings.find(key)
        if one.setting.guarded and one.source.kind == "project":
            say(f"{key} = {_text(_shown(one))}")
    say(f"trusted until it changes: {file.path}")


def _places(settings: "Config") -> list[Place]:
    from partita.config.config import exists

    places: list[Place] = []
    nearer = False
    for file in settings.surroundings.project_files():
        there = exists(file)
        state = "not read, a nearer one counts" if there and nearer else "read" if there else "not there"
        places.append(Place(file, "project", state))
        nearer = nearer or there
    own = settings.surroundings.own
    return [*places, Place(own, "yours", "read" if exists(own) else "not there")]


def _object(settings: "Config", found: "list[Found]") -> "JsonObject":
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


def _print(found: "list[Found]") -> None:
    from rich.table import Table
    from rich.text import Text

    from .printing import show
    from .view.text import one_line

    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("setting", "value", "from"):
        table.add_column(name, overflow="fold")
    for one in found:
        value = _shown(one)
        empty = value is None or value == ()
        text = Text(one.setting.unset or "none", style="dim") if empty else Text(one_line(_text(value)))
        source = f"{one.source}{' (not trusted)' if one.refused is not None else ''}"
        style = "dim" if one.source.kind == "default" else "red" if one.refused is not None else ""
        table.add_row(Text(one.setting.key, style="yellow"), text, Text(one_line(source), style=style))
    show([table])


def _shown(found: "Found") -> "Value":
    """A value that others may see over one's shoulder."""
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


def _text(value: "Value") -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return ", ".join(value) if isinstance(value, tuple) else str(value)


def _json(value: "Value") -> Any:
    return list(value) if isinstance(value, tuple) else value


def _near_variable(name: str) -> str:
    from partita.config.settings import SETTINGS, VARIABLES

    near = get_close_matches(name, [*VARIABLES, *(one.environment for one in SETTINGS)], n=1)
    return f"; did you mean {near[0]}?" if near else ""


COMMAND = config
