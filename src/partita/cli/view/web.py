"""The web: pages fetched and searches made."""

from collections.abc import Iterator

from partita.types.json import Json, is_array, is_object

from .bodies import Prose
from .calls import Call, first_text, whole_number
from .card import Card, named
from .results import errors, value_rows
from .rows import Row, Rows
from .text import one_line, size_of

PAGE_ROWS = 6
LINKS = 8


def draw_fetch(call: Call) -> Card:
    """Which page was fetched, what for, and the beginning of what came."""
    action: Json = call.input.get("action")
    url = call.word("url", "uri") or (first_text(action, "url") if is_object(action) else "")
    aim = call.word("prompt", "objective")
    code, size = whole_number(call.detail("code", "status")), whole_number(call.detail("bytes"))
    notes = [str(code) if code is not None else "", size_of(size) if size is not None else ""]
    body = [] if call.failed or not call.given.text else [Prose(call.given.text, call.look, PAGE_ROWS)]
    return Card(
        named("fetch", url),
        [
            *([Rows([Row(one_line(aim, 300), "dim", prose=True)])] if aim and url else []),
            *body,
            Rows(value_rows(call)),
            *errors(call),
        ],
        notes=notes,
    )


def draw_web_search(call: Call) -> Card:
    """What was looked for on the web, and the pages that were found."""
    action: Json = call.input.get("action")
    query = call.word("query", "q") or (first_text(action, "query", "url") if is_object(action) else "")
    links = list(_links(call))
    shown = links if call.look.full else links[:LINKS]
    rows = [row for title, url in shown for row in ([Row(title)] if title else []) + [Row(url, "blue", "  ")]]
    if len(links) > len(shown):
        rows.append(Row(f"… {len(links) - len(shown)} more", "dim"))
    words = (
        [] if links or call.failed or not call.given.text else [Prose(call.given.text, call.look, PAGE_ROWS)]
    )
    return Card(
        named("web search", f"“{query}”" if query else ""),
        [Rows(rows or value_rows(call)), *words, *errors(call)],
    )


def _links(call: Call) -> Iterator[tuple[str, str]]:
    """Titles and addresses of the results, as far as they are told."""
    waiting: list[Json] = [call.detail("results", "sources")]
    while waiting:
        item = waiting.pop(0)
        if is_array(item):
            waiting[:0] = item
        elif is_object(item):
            url = first_text(item, "url", "uri", "link")
            if url:
                yield one_line(first_text(item, "title", "name"), 80), one_line(url)
            else:
                waiting[:0] = [item.get("content"), item.get("results")]
