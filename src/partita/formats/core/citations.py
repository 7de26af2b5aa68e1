"""What a text cites: sources that keep the citation as the API gave it, in their metadata."""

from partita.types.data_url import PLAIN
from partita.types.json import JsonObject
from partita.types.parts import DocumentCitationSource, UrlCitationSource


def cited_page(namespace: str, raw: JsonObject, url: str, title: str | None) -> UrlCitationSource:
    """A page that is cited. `raw` is what the API says of it."""
    return UrlCitationSource(url, url, title, provider_metadata={namespace: raw}, type="source")


def cited_document(
    namespace: str, raw: JsonObject, id_: str, title: str, media_type: str = PLAIN
) -> DocumentCitationSource:
    """A document that is cited. `raw` is what the API says of it."""
    return DocumentCitationSource(id_, media_type, title, provider_metadata={namespace: raw}, type="source")
