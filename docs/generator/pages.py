"""The pages that are made, by where they go below `docs`."""

from collections.abc import Callable, Mapping

from . import commands, failures, format_pages, routes, surface, wire_formats

PAGES: Mapping[str, Callable[[], str]] = {
    "reference/python.md": surface.page,
    "reference/cli.md": commands.page,
    "reference/http.md": routes.page,
    "reference/formats.md": wire_formats.page,
    **format_pages.pages(),
    "reference/errors.md": failures.page,
}
