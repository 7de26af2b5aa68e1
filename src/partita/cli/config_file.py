"""`partita config set`, `unset`, `edit` and `init`: change a settings file."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from partita.errors import ConfigError

from .output import print_notice
from .parameter_types import SettingType

if TYPE_CHECKING:  # imported when the command runs
    from partita.config.files import Role
    from partita.config.settings import Setting

F = TypeVar("F", bound=Callable[..., Any])

project_option = click.option(
    "--project", is_flag=True, help="Change the partita.toml of this project instead of your own."
)


@click.command(
    "set",
    short_help="Change a setting in your partita.toml.",
    epilog="""\b
Examples:
  partita config set serve.port 8000
  partita config set serve.agents claude-code codex
  partita config set store messages.db --project    only for this project
""",
)
@click.argument("key", type=SettingType())
@click.argument("values", nargs=-1, required=True, metavar="VALUE…")
@project_option
def set_value(*, key: str, values: tuple[str, ...], project: bool) -> None:
    """Set KEY to VALUE in your partita.toml. Its comments and its order stay. It is created if there is none.

    A list can have several VALUEs. Relative paths are relative to the current folder. With --project, the
    partita.toml of this folder, or of the nearest parent folder that has one, is changed.
    """
    from partita.config.file_edits import change_file
    from partita.config.settings import BY_KEY, LISTS
    from partita.config.values import from_text, with_absolute_paths

    setting = BY_KEY[key]
    is_list = setting.kind in LISTS
    if len(values) > 1 and not is_list:
        raise click.UsageError(f"{key} has one value; put it in quotes")
    value = from_text(setting, ",".join(values))
    path, role = _file(project)
    if role == "user" or path.parent != Path.cwd():
        value = with_absolute_paths(Path.cwd(), setting.kind, value)
    change_file(path, role, setting, value)
    from .config import text_of

    print_notice(f"{key} = {text_of(value)}, in {path}")
    _report_other_sources(setting, role)


@click.command(
    short_help="Remove a setting from your partita.toml.",
    epilog="""\b
Examples:
  partita config unset serve.port
  partita config unset store --project
""",
)
@click.argument("key", type=SettingType())
@project_option
def unset(*, key: str, project: bool) -> None:
    """Remove KEY from your partita.toml, so that its default applies."""
    from partita.config.file_edits import change_file
    from partita.config.files import read_file
    from partita.config.settings import BY_KEY

    path, role = _file(project)
    if not path.exists() or key not in read_file(path, role).values:
        raise ConfigError(f"{key} is not set", where=str(path), hint="`partita config` shows where it is set")
    change_file(path, role, BY_KEY[key], None)
    print_notice(f"{key} is not set any more in {path}")
    _report_other_sources(BY_KEY[key], role)


@click.command(
    short_help="Open your partita.toml in an editor.",
    epilog="""\b
Examples:
  partita config edit
  EDITOR="code --wait" partita config edit --project
""",
)
@project_option
def edit(*, project: bool) -> None:
    """Open your partita.toml in $VISUAL or $EDITOR, and check it afterwards.

    If there is none, a file with all settings as comments is created first.
    """
    from partita.config.file_edits import template, write_file
    from partita.config.files import read_file

    path, role = _file(project)
    if not path.exists():
        write_file(path, template(role))
    click.edit(filename=str(path))
    count = len(read_file(path, role).values)
    print_notice(f"{path} is valid: {count} {'setting' if count == 1 else 'settings'}")


@click.command(
    short_help="Create a partita.toml with all settings as comments.",
    epilog="""\b
Examples:
  partita config init
  partita config init --project         in the current folder
""",
)
@project_option
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
def init(*, project: bool, force: bool) -> None:
    """Create your partita.toml. It has every setting as a comment, with its meaning and its default."""
    from partita.config.file_edits import template, write_file

    path, role = _file(project, nearest=False)
    if path.exists() and not force:
        raise ConfigError(
            "the file already exists",
            where=str(path),
            hint="partita config edit opens it; --force overwrites it",
        )
    write_file(path, template(role))
    print_notice(f"created {path}")


def _file(project: bool, *, nearest: bool = True) -> "tuple[Path, Role]":
    """Return the path of your settings file, or of the project's, and its role."""
    from partita.config.environment import FILE, current_environment

    environment = current_environment()
    if not project:
        return environment.user_file, "user"
    existing = (path for path in environment.project_files() if path.exists())
    folder = environment.folder or Path.cwd()
    return (next(existing, folder / FILE) if nearest else folder / FILE), "project"


def _report_other_sources(setting: "Setting", role: "Role") -> None:
    """Report if the value that was changed does not apply."""
    from partita.config.config import Config

    found = Config().find(setting.key)
    if found.refused is not None:
        print_notice("the project's file is not trusted: partita config trust")
    elif found.source.kind not in (role, "default"):
        print_notice(f"the value of {found.source} applies")


EDITING = (set_value, unset, edit, init)
