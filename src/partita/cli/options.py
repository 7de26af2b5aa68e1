"""Options that several commands share, and the types of their values."""

from collections.abc import Callable
from datetime import datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from .completion import (
    Completer,
    complete_log_agents,
    complete_threads,
    complete_written_formats,
    format_completer,
)
from .parameter_types import WholeNumber

if TYPE_CHECKING:
    from partita.formats.registry import Ability

F = TypeVar("F", bound=Callable[..., Any])


class TimeType(click.ParamType[datetime]):
    """A date, a month, a time, `today`, `yesterday`, or how long ago: `3h`, `2 days ago`, `last week`."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """Return the time in UTC. A time without a zone is in the zone of this machine."""
        if isinstance(value, datetime):
            return value
        from partita.types.times import parse_time_expression

        moment = parse_time_expression(str(value), datetime.now().astimezone())
        if moment is None:
            self.fail(
                f"{value!r} is not a time; use 2026-03-01, 2026-03, 2026-03-01T14:00, yesterday, 3h, "
                "'2 days ago' or 'last week'",
                param,
                ctx,
            )
        return moment


class ZoneType(click.ParamType[tzinfo]):
    """The name of a time zone: `Europe/Berlin`, `UTC`."""

    name = "zone"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tzinfo:
        """Return the time zone of that name."""
        if isinstance(value, tzinfo):
            return value
        from zoneinfo import ZoneInfo

        try:
            return ZoneInfo(str(value))
        except (LookupError, ValueError, OSError):
            self.fail(f"{value!r} is not a time zone; use Europe/Berlin or UTC", param, ctx)


class ProjectType(click.ParamType[str]):
    """The directory of a project. Paths relative to the current or home directory become absolute."""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the project as threads name it."""
        text = str(value)
        if text.startswith(("~", ".")):
            return str(Path(text).expanduser().resolve())
        return text.rstrip("/") or text


store_option = click.option(
    "--store", "url", metavar="URL", help="The store. Default: the one that `partita config` shows."
)
resource_option = click.option("--resource", metavar="ID", help="Only data of this owner.")
agent_option = click.option(
    "--agent", metavar="NAME", shell_complete=complete_log_agents, help="Only threads of this agent."
)
project_option = click.option(
    "--project", type=ProjectType(), help="Only threads of this project. Use . for the current directory."
)
since_option = click.option(
    "--since",
    type=TimeType(),
    help="Not before this time: 2026-03-01, 2026-03, 2026-03-01T14:00, today, yesterday, 90m, 3h, 2d, 1w, "
    "'2 days ago', 'last week'.",
)
until_option = click.option("--until", type=TimeType(), help="Before this time.")
iso_option = click.option("--iso", is_flag=True, help="Print exact times, in UTC.")
pager_option = click.option(
    "--pager/--no-pager", default=True, help="Show long output in a pager on a terminal."
)
full_option = click.option(
    "--full", is_flag=True, help="Fold nothing: show all output, reasoning and sub-agents."
)
branch_option = click.option(
    "--branch", metavar="MESSAGE", help="The branch with this message. Default: the active branch."
)
internal_option = click.option(
    "--internal", is_flag=True, help="Include internal messages, which are hidden by default."
)
log_agents_option = click.option(
    "--agent",
    "agents",
    multiple=True,
    metavar="NAME",
    shell_complete=complete_log_agents,
    help="Only logs of this agent. Repeatable.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, one object per line.")
replace_option = click.option(
    "--replace", metavar="TEXT", multiple=True, help="Also replace this text with a placeholder. Repeatable."
)
losses_option = click.option(
    "--losses",
    is_flag=True,
    help="List on stderr everything that the conversion drops, instead of a summary.",
)


def from_option(ability: "Ability", help: str) -> Callable[[F], F]:
    """Return the option with the format of the input."""
    return click.option(
        "--from", "source", metavar="FORMAT", shell_complete=format_completer(ability), help=help
    )


def to_option(
    help: str,
    *,
    required: bool = False,
    default: str | None = None,
    completer: Completer = complete_written_formats,
) -> Callable[[F], F]:
    """Return the option with the format of the output."""
    return click.option(
        "--to",
        "target",
        metavar="FORMAT",
        required=required,
        default=default,
        show_default=default is not None,
        shell_complete=completer,
        help=help,
    )


def limit_option(default: int, what: str) -> Callable[[F], F]:
    """Return the option that limits the number of listed rows."""
    return click.option(
        "--limit",
        metavar="N",
        type=WholeNumber(min=1),
        default=default,
        show_default=True,
        help=f"How many {what} to list.",
    )


def thread_option(what: str) -> Callable[[F], F]:
    """Return the option that selects a thread."""
    return click.option(
        "--thread",
        metavar="THREAD",
        shell_complete=complete_threads,
        help=f"Only {what} of this thread: its id, the beginning of it, or last.",
    )


def is_given(ctx: click.Context, parameter: str) -> bool:
    """Whether a parameter was given on the command line, rather than by a setting."""
    return ctx.get_parameter_source(parameter) is ParameterSource.COMMANDLINE
