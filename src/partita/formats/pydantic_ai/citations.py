"""Citations of a text ↔ canonical ones. Those that do not cite one web page are kept as they are."""

from typing import Final, TypeGuard

from partita.formats.framework.citing import read_citing, write_citing
from partita.types.json import Json, JsonObject, is_array
from partita.types.parts import Citation, DocumentCitationSource, UrlCitationSource

from .shapes import object_of

OTHERS: Final = "citations"
"""What notes call citations of anything but one web page, each with its place."""


def read_citations(raws: list[Json]) -> tuple[tuple[Citation, ...], list[JsonObject]]:
    """The citations of one web page each, and the others with their places."""
    return read_citing(raws, lambda raw, index: _citation(raw, index) if _is_simple(raw) else None)


def write_citations(citations: tuple[Citation, ...], others: Json) -> list[Json]:
    """The citations of a text."""
    return write_citing(citations, others, lambda citation, _: _written(citation))


def _is_simple(raw: Json) -> TypeGuard[JsonObject]:
    match raw:
        case {"sources": [{"url": str(), "kind": "web", **about}], **rest} if set(rest) <= {"anchor"}:
            excerpts, title = about.get("excerpts", []), about.get("title")
            if set(about) - {"title", "excerpts"} or not (title is None or isinstance(title, str)):
                return False
            if (
                not is_array(excerpts)
                or len(excerpts) > 1
                or not all(isinstance(one, str) for one in excerpts)
            ):
                return False
            return _is_place(rest.get("anchor"))
        case _:
            return False


def _is_place(anchor: Json) -> bool:
    match anchor:
        case None:
            return True
        case {"start": int(), "end": int(), "kind": "content"}:
            return len(anchor) == 3
        case _:
            return False


def _citation(raw: JsonObject, index: int) -> Citation:
    source, anchor = raw["sources"][0], object_of(raw.get("anchor"))
    excerpts = source.get("excerpts") or [None]
    return Citation(
        UrlCitationSource(f"citation-{index + 1}", source["url"], title=source.get("title")),
        start_index=anchor.get("start"),
        end_index=anchor.get("end"),
        cited_text=excerpts[0],
    )


def _written(citation: Citation) -> JsonObject:
    source = citation.source
    excerpts = [] if citation.cited_text is None else [citation.cited_text]
    match source:
        case UrlCitationSource():
            about: JsonObject = {"url": source.url, "title": source.title, "kind": "web"}
        case DocumentCitationSource():
            about = {"document_id": source.id, "title": source.title, "kind": "document"}
    start, end = citation.start_index, citation.end_index
    anchor = None if start is None or end is None else {"start": start, "end": end, "kind": "content"}
    return {"sources": [{**about, "excerpts": excerpts}], "anchor": anchor}
