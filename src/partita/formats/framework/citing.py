"""Citations of a text, and the annotations between them that cite nothing: those are kept in their places."""

from collections.abc import Callable, Sequence

from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.parts import Citation


def read_citing(
    raws: Sequence[Json], read: Callable[[Json, int], Citation | None]
) -> tuple[tuple[Citation, ...], list[JsonObject]]:
    """The citations among annotations, and the others with their places."""
    citations: list[Citation] = []
    others: list[JsonObject] = []
    for index, raw in enumerate(raws):
        citation = read(raw, index)
        if citation is None:
            others.append({"at": index, "value": raw})
        else:
            citations.append(citation)
    return tuple(citations), others


def write_citing(
    citations: Sequence[Citation], others: Json, write: Callable[[Citation, int], Json]
) -> list[Json]:
    """Citations as annotations, with the others where they were."""
    written: list[Json] = []
    kept = (
        [one for one in others if is_object(one) and type(one.get("at")) is int] if is_array(others) else []
    )
    places = {one["at"]: one.get("value") for one in kept}
    for citation in citations:
        while len(written) in places:
            written.append(places.pop(len(written)))
        written.append(write(citation, len(written)))
    return written + [value for _, value in sorted(places.items(), key=lambda item: item[0])]
