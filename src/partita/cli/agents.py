"""`partita agents`: the sessions of agents on this machine, and the agents that can run here."""

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import click

from .options import json_option

if TYPE_CHECKING:  # imported when the command runs
    from pathlib import Path

    from partita.types.json import JsonObject


class Row(NamedTuple):
    """An agent: its name, its id in the registry, what it needs to run, and its sessions."""

    name: str
    agent: str
    description: str
    missing: str | None
    places: "tuple[Path, ...]"
    sessions: int | None
    """The number of session files; `None` for an agent that stores none on this machine."""

    def to_json(self) -> "JsonObject":
        """Return the JSON object that `--json` prints."""
        return {
            "name": self.name,
            "agent": self.agent,
            "description": self.description,
            "usable": self.missing is None,
            "missing": self.missing,
            "places": [str(place) for place in self.places],
            "sessions": self.sessions,
        }


@click.command(
    short_help="List the agents found here, and their sessions.",
    epilog="""\b
Examples:
  partita agents                              all of them
  partita agents --json | jq -r 'select(.usable).name'
  partita serve --agent claude-code           serve one
  partita import --agent claude-code          import its sessions
""",
)
@json_option
def agents(as_json: bool) -> None:
    """List the agents whose sessions were found on this machine, and the agents that can run here.

    The first table shows where the logs of each agent are, and how many sessions `partita import` would
    import. The second table shows the agents for `partita serve --agent`, and what the others need: an API
    key or a program. Your own agents are named module:attribute. No agent is called and no session is opened.
    """
    rows = _rows()
    if as_json:
        from .output import print_json_line

        for row in rows:
            print_json_line(row.to_json())
    else:
        _print(rows)


def _rows() -> list[Row]:
    """Return all agents, those that can run first."""
    from partita.logs.files import discover, homes
    from partita.runtime.registry import KNOWN_AGENTS, missing_for

    places = homes()
    counts = Counter(file.agent for file in discover())
    rows = [
        Row("demo", "demo", "Answers from a script.", None, (), None),
        *(
            Row(
                known.name,
                known.agent,
                known.description,
                missing_for(known),
                tuple(place for place in places.get(known.name, ()) if place.is_dir())
                or places.get(known.name, ())[:1],
                counts[known.name] if known.name in places else None,
            )
            for known in KNOWN_AGENTS
        ),
        *(Row(name, name, "From another package.", None, (), None) for name in _plugin_agents()),
    ]
    return sorted(rows, key=lambda row: row.missing is not None)


def _plugin_agents() -> list[str]:
    """Return the names of agents from other packages, without loading them."""
    from importlib.metadata import entry_points

    from partita.runtime.registry import BUILTIN, ENTRY_POINTS

    return sorted({entry.name for entry in entry_points(group=ENTRY_POINTS)} - BUILTIN.keys())


def _print(rows: list[Row]) -> None:
    """Print the agents with sessions and where these are, and the agents that can be served."""
    from rich.table import Table
    from rich.text import Text

    from .view.console import show
    from .view.context import short_path
    from .view.text import one_line

    sessions = Table("agent", box=None, pad_edge=False, header_style="dim")
    sessions.add_column("sessions", justify="right")
    sessions.add_column("location", overflow="fold")
    for row in rows:
        if row.sessions is not None:
            places = ", ".join(short_path(str(place)) for place in row.places)
            found = "" if any(place.is_dir() for place in row.places) else " (not found)"
            name = Text(row.name, style="cyan" if row.sessions else "dim")
            sessions.add_row(name, f"{row.sessions:,}", Text(f"{places}{found}", style="dim"))
    served = Table("agent", "usable here", box=None, pad_edge=False, header_style="dim")
    served.columns[1].overflow = "fold"
    for row in rows:
        usable = (
            Text("yes", style="green") if row.missing is None else Text(f"no: {one_line(row.missing)}", "dim")
        )
        served.add_row(Text(row.name, style="cyan" if row.missing is None else "dim"), usable)
    show(
        [
            Text("Sessions on this machine, which `partita import` reads:\n"),
            sessions,
            Text("\nAgents that `partita serve` can run:\n"),
            served,
        ]
    )


COMMAND = agents
