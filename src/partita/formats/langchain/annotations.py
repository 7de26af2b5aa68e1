"""The annotations of a text block ↔ citations. Those that cite no page are kept as they are."""

from typing import Final, TypeGuard

from msgspec.structs import replace

from partita.formats.framework.citing import read_citing, write_citing
from partita.formats.framework.members import Members, metadata_of, noted, present
from partita.types.json import Json, JsonObject, is_object
from partita.types.parts import Citation, UrlCitationSource

from .envelope import NAME

CITING: Final = ("citation", "url_citation")
OTHERS: Final = "annotations"
"""What notes call annotations that cite no page, each with its place."""


def read_annotations(raws: list[Json]) -> tuple[tuple[Citation, ...], list[JsonObject]]:
    """The citations among annotations, and the others with their places."""
    return read_citing(raws, lambda raw, index: _citation(raw, index) if _is_citation(raw) else None)


def write_annotations(citations: tuple[Citation, ...], others: Json) -> list[Json]:
    """The annotations of a text."""
    return write_citing(citations, others, _annotation)


def _is_citation(raw: Json) -> TypeGuard[JsonObject]:
    if not is_object(raw) or raw.get("type") not in CITING or not isinstance(raw.get("url"), str):
        return False
    counts = (raw.get("start_index"), raw.get("end_index"))
    texts = (raw.get("id"), raw.get("title"), raw.get("cited_text"))
    are_counts = all(one is None or type(one) is int for one in counts)
    return are_counts and all(one is None or isinstance(one, str) for one in texts)


def _citation(raw: JsonObject, index: int) -> Citation:
    members = Members(raw)
    members.drop("type", "citation")
    start, end, cited = (members.any(name) for name in ("start_index", "end_index", "cited_text"))
    id_ = members.any("id")
    made = _made_id(index) if id_ is None else id_
    source = UrlCitationSource(made, members.any("url"), title=members.any("title"))
    return Citation(
        replace(source, provider_metadata=metadata_of(NAME, members.left)),
        start_index=start,
        end_index=end,
        cited_text=cited,
    )


def _annotation(citation: Citation, index: int) -> JsonObject:
    source = citation.source
    url = source.url if isinstance(source, UrlCitationSource) else None
    return {
        "type": "citation",
        **noted(source.provider_metadata, NAME),
        **present(
            id=None if source.id == _made_id(index) else source.id,
            url=url,
            title=source.title,
            start_index=citation.start_index,
            end_index=citation.end_index,
            cited_text=citation.cited_text,
        ),
    }


def _made_id(index: int) -> str:
    return f"citation-{index + 1}"
