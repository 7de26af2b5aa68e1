"""`scripted:FILE` → the agent that plays it."""

from pathlib import Path

from partita.errors import AgentError

from .script import read_script
from .service import ScriptedService


def make(name: str, rest: str) -> ScriptedService:
    """The scripted agent of a file."""
    if not rest:
        raise AgentError("no script is named", where=name, hint="scripted:FILE, a JSON file of scenes")
    return ScriptedService(read_script(Path(rest).expanduser()))
