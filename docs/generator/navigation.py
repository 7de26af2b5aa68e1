"""The pages of formats in the navigation of the site."""

from typing import Any

from partita.formats.registry import all_formats

from .format_families import by_family
from .format_pages import FOLDER


def format_navigation() -> list[dict[str, Any]]:
    """Return the entries below "Formats": the overview, then one page per format, by family."""
    families = by_family(list(all_formats().values()))
    return [
        {"Overview": "reference/formats.md"},
        *(
            {family: [{each.name: f"{FOLDER}/{each.name}.md"} for each in formats]}
            for family, formats in families.items()
        ),
    ]


def fill_formats(navigation: list[Any]) -> None:
    """Put the entries of formats where the navigation of `mkdocs.yml` has an empty list named "Formats"."""
    for section in navigation:
        if not isinstance(section, dict):
            continue
        for title, entries in section.items():
            if title == "Formats":
                section[title] = format_navigation()
            elif isinstance(entries, list):
                fill_formats(entries)
