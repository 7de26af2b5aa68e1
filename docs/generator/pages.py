"""The generated pages, and their entries in the navigation of the site."""

from collections.abc import Callable, Mapping
from typing import Any

from partita.formats.registry import all_formats

from . import cli_page, errors_page, format_page, formats_page, http_page, python_page
from .format_families import by_family

PAGES: Mapping[str, Callable[[], str]] = {
    "reference/python.md": python_page.page,
    "reference/cli.md": cli_page.page,
    "reference/http.md": http_page.page,
    "reference/formats.md": formats_page.page,
    **format_page.pages(),
    "reference/errors.md": errors_page.page,
}
"""The functions that generate the pages, by path below `docs`."""


def format_navigation() -> list[dict[str, Any]]:
    """Return the entries below "Formats": the overview, then one page per format, by family."""
    families = by_family(list(all_formats().values()))
    return [
        {"Overview": "reference/formats.md"},
        *(
            {family: [{each.name: f"{format_page.FOLDER}/{each.name}.md"} for each in formats]}
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
