"""The systems whose rows can be imported, by name."""

from collections.abc import Mapping
from difflib import get_close_matches

from partita.errors import StoreError

from .cherry import CHERRY
from .mastra import MASTRA
from .smithers import SMITHERS
from .system import System

SYSTEMS: Mapping[str, System] = {system.name: system for system in (MASTRA, CHERRY, SMITHERS)}


def get_system(name: str) -> System:
    """The system of that name."""
    if name not in SYSTEMS:
        near = get_close_matches(name, SYSTEMS, n=1)
        guess = f"did you mean {near[0]!r}? " if near else ""
        raise StoreError(f"no system {name!r} to import from", hint=f"{guess}there are {', '.join(SYSTEMS)}")
    return SYSTEMS[name]
