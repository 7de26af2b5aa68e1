"""Options that several commands have."""

from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from .completing import log_agents
from .moments import MOMENT

store_option = click.option(
    "--store", "url", metavar="URL", help="The store; without it, the one that `partita config` shows."
)
resource_option = click.option("--resource", metavar="ID", help="Only what belongs to this owner.")
agent_option = click.option(
    "--agent", metavar="NAME", shell_complete=log_agents, help="Only threads of this agent."
)
since_option = click.option("--since", type=MOMENT, help="Not before: 2026-03-01, today, 3h, 2d …")
until_option = click.option("--until", type=MOMENT, help="Before that.")
json_option = click.option("--json", "as_json", is_flag=True, help="JSON, one object a line.")
losses_json_option = click.option(
    "--losses-json",
    metavar="FILE",
    type=click.File("wb"),
    help="Write what could not be carried to FILE, as JSON lines.",
)


class ProjectType(click.ParamType[str]):
    """The folder of a project; one that is given as a way from here or from home is made whole."""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The project as threads name it."""
        text = str(value)
        if text.startswith(("~", ".")):
            return str(Path(text).expanduser().resolve())
        return text.rstrip("/") or text


project_option = click.option(
    "--project", type=ProjectType(), help="Only threads of this project; . is the folder you are in."
)


def is_given(ctx: click.Context, parameter: str) -> bool:
    """Whether a parameter stands on the command line, rather than in the settings."""
    return ctx.get_parameter_source(parameter) is ParameterSource.COMMANDLINE
