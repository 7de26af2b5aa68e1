"""What a text cites: sources that keep the citation as the API gave it, in their metadata."""

from typing import Any

from partita.types.data_url import PLAIN
from partita.types.json import JsonObject
from partita.types.parts import Citation, DocumentCitationSource, UrlCitationSource


def citation(
    namespace: str,
    raw: JsonObject,
    *,
    id_: str,
    title: str,
    url: str = "",
    media_type: str = PLAIN,
    cited_text: str = "",
    start_index: int | None = None,
    end_index: int | None = None,
) -> Citation:
    """A citation of a page, if there is a URL, or of a document. `raw` is what the API says of it.

    An empty title or text is absent. The indexes are those of the text that cites it.
    """
    more: Any = {"provider_metadata": {namespace: raw}, "type": "source"}
    source: UrlCitationSource | DocumentCitationSource
    if "://" in url:
        source = UrlCitationSource(url, url, title or None, **more)
    else:
        source = DocumentCitationSource(id_, media_type, title or f"Document {id_}", **more)
    return Citation(source, start_index, end_index, cited_text or None)
