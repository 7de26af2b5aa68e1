"""Formats that other packages bring, through the entry point group `partita.formats`."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from typing import Final

from .format import Format

ENTRY_POINTS: Final = "partita.formats"


@dataclass(frozen=True, slots=True)
class Broken:
    """A format that somebody brings and that cannot be used."""

    package: str
    value: str
    """The module and attribute that the package names."""
    why: str


@dataclass(frozen=True, slots=True)
class Plugins:
    """What other packages bring. One that is broken keeps nobody else from working."""

    formats: Mapping[str, Format] = field(default_factory=dict[str, Format])
    broken: Mapping[str, Broken] = field(default_factory=dict[str, Broken])
    """By the name of the entry point."""


def read_plugins(taken: Iterable[str]) -> Plugins:
    """All that is installed, but for formats whose names are taken."""
    formats: dict[str, Format] = {}
    broken: dict[str, Broken] = {}
    known = set(taken)
    for entry in entry_points(group=ENTRY_POINTS):
        found = _load(entry)
        if isinstance(found, Format) and found.name not in known:
            known.add(found.name)
            formats[found.name] = found
        else:
            why = f"there is a format {found.name!r} already" if isinstance(found, Format) else found
            broken[entry.name] = Broken(entry.dist.name if entry.dist else entry.module, entry.value, why)
    return Plugins(formats, broken)


def _load(entry: EntryPoint) -> Format | str:
    """The format of an entry point, or why there is none."""
    try:
        found: object = entry.load()
    except Exception as error:  # code of others may fail in any way; it is told when the format is asked for
        return f"{type(error).__name__}: {error}"
    return found if isinstance(found, Format) else f"it is no Format but {type(found).__name__}"
