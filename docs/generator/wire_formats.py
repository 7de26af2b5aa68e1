"""`reference/formats.md`: every format, and what each cannot hold: measured, not remembered."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from partita.formats.format import Format
from partita.formats.registry import ALIASES, all_formats
from partita.logs.sources.registry import LOG_FORMATS
from partita.testing.features import FEATURES

from . import markdown as md
from .format_families import by_family, short
from .measuring import RESPONSE, SIGNS, is_measured, measured
from .releases import releases

SAID = """\
Every format that can be read, written or streamed. `partita formats` lists them; `partita convert` and
[`convert`](python.md#convert) go from one to another, and tell every loss with its place, its reason and how
bad it is. Each has a page of its own."""

MEASURED = """\
A conversation that has everything a message can hold (`partita.testing.full_conversation`) is written in each
format and read again. What comes back equal is kept, ✓; what is there in another form is changed, ≈; what
is gone is lost, –. The canonical form keeps all of it. The page of a format lists what is told of changes and
losses. With `--carry`, formats that have room for it bring everything back."""

SEVERITIES = """\
Every loss says how bad it is. `lost`: it is gone. `changed`: it is there in another form. `repaired`:
something was added, moved or renamed because the target insists on it. `minor`: it is gone, and nobody who
reads the messages will miss it."""

OWN = "canonical"


def page() -> str:
    """The whole page."""
    formats = list(all_formats().values())
    families = by_family(formats)
    return md.page(
        "Formats",
        SAID,
        "## All of them",
        *(f"### {name}\n\n{_table(members)}" for name, members in families.items()),
        f"## How bad a loss is\n\n{SEVERITIES}",
        f"## What a format holds\n\n{MEASURED}",
        *_matrices(families),
        releases(),
        _logs(),
    )


def _table(formats: Sequence[Format]) -> str:
    aliases = {full: alias for alias, full in ALIASES.items()}
    rows = [
        (
            f"[{md.code(one.name)}](formats/{one.name}.md)"
            + (f", {md.code(aliases[one.name])}" if one.name in aliases else ""),
            one.title,
            _yes(one.load),
            _yes(one.dump),
            _yes(one.decoder or one.encoder),
        )
        for one in formats
    ]
    return md.table(("name, alias", "what it is", "read", "written", "streamed"), rows)


def _yes(value: object) -> str:
    return "✓" if value else ""


def _matrices(families: dict[str, list[Format]]) -> Iterator[str]:
    for family, formats in families.items():
        names = [one.name for one in formats if _is_compared(one)]
        if names:
            yield f"### {family}: kept, changed, lost\n\n{_matrix(names)}"


def _is_compared(format_: Format) -> bool:
    return is_measured(format_) and format_.name != OWN and not format_.name.endswith(RESPONSE)


def _matrix(names: Sequence[str]) -> str:
    """What becomes of each thing in some formats; the groups of things are rows of their own."""
    rows: list[Sequence[str]] = []
    for group, features in groupby(FEATURES, key=lambda feature: feature.group):
        rows.append([f"**{group}**", *("" for _ in names)])
        rows += [
            [feature.name, *(SIGNS[measured(name).outcomes.get(feature)] for name in names)]
            for feature in features
        ]
    return md.table(["", *map(short, names)], rows)


def _logs() -> str:
    rows = [(md.code(name), log.agent) for name, log in LOG_FORMATS.items()]
    said = (
        "Files and streams of coding agents hold a whole conversation and more. They are read by "
        "`partita import`, `partita watch` and [`parse_log_file`](python.md#parse_log_file): "
        "[the guide](../logs.md)."
    )
    return f"## Logs of coding agents\n\n{said}\n\n{md.table(('name', 'agent'), rows)}"
