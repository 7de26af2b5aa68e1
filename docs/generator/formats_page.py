"""`reference/formats.md`: all formats, what each keeps of a message, AI SDK versions, and logs."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from partita.formats.format import Format
from partita.formats.registry import ALIASES, all_formats
from partita.logs.sources.registry import LOG_FORMATS
from partita.testing.features import FEATURES

from . import markdown as md
from .ai_sdk_versions import ai_sdk_versions
from .format_families import by_family, short_name
from .measured_formats import MARKS, SEVERITIES, is_response, measured

INTRODUCTION = """\
Every format that can be read, written or streamed. `partita formats` lists them. `partita convert` and
[`convert`](python.md#convert) convert between them, and report every loss with its path, reason and severity.
Each format has its own page."""

MEASURED = """\
Each format writes a conversation with all features of messages (`partita.testing.full_conversation`) and
reads it back.

- ✓ kept: it comes back equal.
- ≈ changed: it is present in another form.
- – lost: it is not present.

The canonical format keeps everything. The page of each format lists the reported losses. With `--carry`,
formats with a metadata field restore everything."""

LOGS = """\
Files and streams of coding agents hold a whole session. `partita import`, `partita watch` and
[`parse_log_file`](python.md#parse_log_file) read them: see [the guide](../logs.md)."""


def page() -> str:
    """Return the whole page."""
    families = by_family(list(all_formats().values()))
    severities = "\n".join(f"- `{severity}`: {meaning}" for severity, meaning in SEVERITIES.items())
    return md.page(
        "Formats",
        INTRODUCTION,
        "## All formats",
        *(f"### {name}\n\n{_table(members)}" for name, members in families.items()),
        f"## Severity of losses\n\n{severities}",
        f"## What each format keeps\n\n{MEASURED}",
        *_comparisons(families),
        ai_sdk_versions(),
        _logs(),
    )


def _table(formats: Sequence[Format]) -> str:
    aliases = {full: alias for alias, full in ALIASES.items()}
    rows = [
        (
            f"[{md.code(one.name)}](formats/{one.name}.md)"
            + (f", {md.code(aliases[one.name])}" if one.name in aliases else ""),
            one.title,
            "✓" if one.load else "",
            "✓" if one.dump else "",
            "✓" if one.decoder or one.encoder else "",
        )
        for one in formats
    ]
    return md.table(("name, alias", "description", "read", "write", "stream"), rows)


def _comparisons(families: dict[str, list[Format]]) -> Iterator[str]:
    for family, formats in families.items():
        names = [one.name for one in formats if one.dump and one.name != "canonical" and not is_response(one)]
        if names:
            yield f"### {family}: kept, changed, lost\n\n{_comparison(names)}"


def _comparison(names: Sequence[str]) -> str:
    """Return a table with a row for each feature, and a row for each group of features."""
    rows: list[Sequence[str]] = []
    for group, features in groupby(FEATURES, key=lambda feature: feature.group):
        rows.append([f"**{group}**", *("" for _ in names)])
        rows += [
            [feature.name, *(MARKS[measured(name).outcomes.get(feature)] for name in names)]
            for feature in features
        ]
    return md.table(["", *map(short_name, names)], rows)


def _logs() -> str:
    rows = [(md.code(name), log.agent) for name, log in LOG_FORMATS.items()]
    return f"## Logs of coding agents\n\n{LOGS}\n\n{md.table(('name', 'agent'), rows)}"
