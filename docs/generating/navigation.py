"""The pages of formats in the navigation of the site: lines of `mkdocs.yml`."""

import re
from pathlib import Path

from partita.formats.registry import all_formats

from .format_families import by_family
from .format_pages import FOLDER

SITE = Path(__file__).parents[2] / "mkdocs.yml"
_ENTRY = re.compile(r"^( +)- Formats:.*\n(?:\1 +.*\n)*", re.MULTILINE)


def with_formats(text: str) -> str:
    """The text of `mkdocs.yml` with every page of a format in it."""
    return _ENTRY.sub(lambda found: _entry(found[1]), text, count=1)


def _entry(indent: str) -> str:
    lines = ["- Formats:", "    - All of them: reference/formats.md"]
    for family, formats in by_family(list(all_formats().values())).items():
        lines.append(f"    - {family}:")
        lines += [f"        - {one.name}: {FOLDER}/{one.name}.md" for one in formats]
    return "".join(f"{indent}{line}\n" for line in lines)
