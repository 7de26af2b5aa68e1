"""What an answer rests on: annotations of its text, and lists of pages that were looked at."""

from partita.formats.answers.outlet import Outlet
from partita.types.chunks import SourceUrlChunk
from partita.types.json import Json, JsonObject, is_object
from partita.types.parts import Citation, UrlCitationSource

from .looking import count, items, word


class Sources:
    """Sources of an answer, each told once though servers repeat them in every event."""

    def __init__(self, outlet: Outlet) -> None:
        self._outlet = outlet
        self._told: set[tuple[str, int | None, int | None]] = set()
        self._urls: set[str] = set()
        self._count = 0

    def cite(self, cited: JsonObject) -> Citation | None:
        """Tell a page that the text cites, and give what it says of the text; nothing if it was told."""
        url = word(cited, "url")
        start, end = count(cited, "start_index"), count(cited, "end_index")
        if (url, start, end) in self._told:
            return None
        self._told.add((url, start, end))
        return Citation(self._tell(url, cited), start, end)

    def mention(self, citations: Json) -> None:
        """Pages of a list beside the answer: urls, or objects that have one."""
        for item in items(citations):
            page: JsonObject = item if is_object(item) else {"url": item}
            url = word(page, "url")
            if url and url not in self._urls:
                self._tell(url, page)

    def _tell(self, url: str, page: JsonObject) -> UrlCitationSource:
        self._count += 1
        self._urls.add(url)
        facts = {key: value for key, value in page.items() if key not in ("url", "title")}
        named = {self._outlet.namespace: facts} if facts else None
        source = UrlCitationSource(f"source-{self._count - 1}", url, word(page, "title") or None)
        self._outlet.emit(SourceUrlChunk(source.id, url, source.title, named))
        return source
