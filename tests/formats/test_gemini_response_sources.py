"""Sources and citations in Gemini responses."""

from hypothesis import given
from hypothesis import strategies as st

from partita.types.json import Json, JsonObject
from partita.types.parts import Citation, TextPart
from tests.decoding import accumulated
from tests.formats.gemini_responses import SEARCH, call, content_chunks, decode, response, text
from tests.tables import each_row

CHUNKS: dict[str, tuple[Json, JsonObject | None]] = {
    "a page": (
        {"web": {"uri": "https://a.example", "title": "A"}},
        {"type": "source-url", "url": "https://a.example", "title": "A"},
    ),
    "a page with unknown members": (
        {"web": {"uri": "https://a.example", "domain": "a.example"}},
        {
            "type": "source-url",
            "url": "https://a.example",
            "providerMetadata": {"google": {"web": {"uri": "https://a.example", "domain": "a.example"}}},
        },
    ),
    "a place of Google Maps": (
        {"maps": {"uri": "https://maps.example/1", "title": "Mill"}},
        {"type": "source-url", "url": "https://maps.example/1", "title": "Mill"},
    ),
    "the page of an image": (
        {"image": {"sourceUri": "https://a.example/page"}},
        {"type": "source-url", "url": "https://a.example/page"},
    ),
    "retrieved context of a page": (
        {"retrievedContext": {"uri": "https://a.example/doc", "title": "Doc"}},
        {"type": "source-url", "url": "https://a.example/doc", "title": "Doc"},
    ),
    "retrieved context of a file": (
        {"retrievedContext": {"uri": "gs://shelf/bread.pdf"}},
        {
            "type": "source-document",
            "mediaType": "application/pdf",
            "title": "bread.pdf",
            "filename": "bread.pdf",
            "providerMetadata": {"google": {"retrievedContext": {"uri": "gs://shelf/bread.pdf"}}},
        },
    ),
    "retrieved context of a file store": (
        {"retrievedContext": {"fileSearchStore": "stores/s.pdf", "title": "Bread"}},
        {
            "type": "source-document",
            "mediaType": "application/octet-stream",
            "title": "Bread",
            "filename": "s.pdf",
            "providerMetadata": {
                "google": {"retrievedContext": {"fileSearchStore": "stores/s.pdf", "title": "Bread"}}
            },
        },
    ),
    "an unknown source": ({"telepathy": {"uri": "https://a.example"}}, None),
    "not an object": (3, None),
}


@each_row(("chunk", "source"), CHUNKS.values(), ids=CHUNKS)
def test_grounding_chunks_become_sources(chunk: Json, source: JsonObject | None) -> None:
    event = response(candidate={"groundingMetadata": {"groundingChunks": [chunk, chunk]}})
    expected = [] if source is None else [{"sourceId": "source-0", **source}]
    assert content_chunks(decode([event, event])) == expected


def texts_of(events: list[Json]) -> list[TextPart]:
    return [part for part in accumulated(decode(events)).parts if isinstance(part, TextPart)]


def cited_texts(part: TextPart) -> list[tuple[str, str | None]]:
    """Return the source and the cited text of each citation."""
    return [
        (citation.source.id, None if citation.start_index is None else cited_text(part, citation))
        for citation in part.citations or ()
    ]


def cited_text(part: TextPart, citation: Citation) -> str:
    return part.text[citation.start_index : citation.end_index]


def cites(*spans: tuple[int, int, str | None]) -> JsonObject:
    supports = [
        {
            "segment": {
                "startIndex": start,
                "endIndex": end,
                **({} if expected is None else {"text": expected}),
            },
            "groundingChunkIndices": [0],
        }
        for start, end, expected in spans
    ]
    return {
        "groundingMetadata": {"groundingChunks": SEARCH["groundingChunks"], "groundingSupports": supports}
    }


CITED: dict[str, tuple[list[Json], list[list[tuple[str, str | None]]]]] = {
    "positions are in bytes, and sources keep their order": (
        [
            response(
                text("Röggli. Done."),
                candidate={
                    "groundingMetadata": SEARCH
                    | {
                        "groundingSupports": [
                            {
                                "segment": {"endIndex": 8, "text": "Röggli."},
                                "groundingChunkIndices": [1, 0, 5, "x"],
                            }
                        ]
                    }
                },
            )
        ],
        [[("source-1", "Röggli."), ("source-0", "Röggli.")]],
    ),
    "positions in a stream are relative to its start": (
        [
            response(text("ää "), call("f")),
            response(text("öö üü"), candidate=cites((10, 14, "üü"), (0, 4, "ää"))),
        ],
        [[], [("source-0", "üü"), ("source-0", None)]],
    ),
    "positions are relative to a part if its text matches": (
        [response(text("one", thoughtSignature="S")), response(text("two"), candidate=cites((0, 3, "two")))],
        [[], [("source-0", "two")]],
    ),
    "an unknown text is cited without a position": (
        [response(text("abc"), candidate=cites((1, 2, "x"), (2, 9, None)))],
        [[("source-0", None), ("source-0", None)]],
    ),
    "a repeated support is not cited twice": (
        [
            response(text("abc"), candidate=cites((0, 1, "a"))),
            response(candidate=cites((0, 1, "a"), (1, 2, "b"))),
        ],
        [[("source-0", "a"), ("source-0", "b")]],
    ),
    "sources of a repeated text, in bytes": (
        [
            response(
                text("éab"),
                candidate={
                    "citationMetadata": {
                        "citationSources": [
                            {"uri": "https://a.example", "startIndex": 2, "endIndex": 3},
                            {"endIndex": 1},
                        ]
                    }
                },
            )
        ],
        [[("source-0", "a")]],
    ),
    "sources of a repeated text, in characters": (
        [
            response(
                text("éab"),
                candidate={
                    "citationMetadata": {
                        "citations": [
                            {"uri": "https://a.example", "endIndex": 2},
                            {"uri": "https://b.example"},
                        ]
                    }
                },
            )
        ],
        [[("source-0", "éa"), ("source-1", None)]],
    ),
}


@each_row(("events", "found"), CITED.values(), ids=CITED)
def test_supports_become_citations(events: list[Json], found: list[list[tuple[str, str | None]]]) -> None:
    assert [cited_texts(part) for part in texts_of(events)] == found


@given(before=st.text(max_size=8), cited=st.text(min_size=1, max_size=8), after=st.text(max_size=8))
def test_byte_positions_become_character_positions(before: str, cited: str, after: str) -> None:
    start = len(before.encode())
    event = response(
        text(before + cited + after), candidate=cites((start, start + len(cited.encode()), cited))
    )
    [part] = texts_of([event])
    assert cited_texts(part) == [("source-0", cited)]
