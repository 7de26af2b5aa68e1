"""Sources and citations in answers of Gemini."""

from hypothesis import given
from hypothesis import strategies as st

from partita.types.json import Json, JsonObject
from partita.types.parts import Citation, TextPart
from tests.formats.gemini_answers import SEARCH, call, decode, fold, response, text, told
from tests.tables import each_row

CHUNKS: dict[str, tuple[Json, JsonObject | None]] = {
    "a page": (
        {"web": {"uri": "https://a.example", "title": "A"}},
        {"type": "source-url", "url": "https://a.example", "title": "A"},
    ),
    "a page with more to say": (
        {"web": {"uri": "https://a.example", "domain": "a.example"}},
        {
            "type": "source-url",
            "url": "https://a.example",
            "providerMetadata": {"google": {"web": {"uri": "https://a.example", "domain": "a.example"}}},
        },
    ),
    "a place on the map": (
        {"maps": {"uri": "https://maps.example/1", "title": "Mill"}},
        {"type": "source-url", "url": "https://maps.example/1", "title": "Mill"},
    ),
    "the page of an image": (
        {"image": {"sourceUri": "https://a.example/page"}},
        {"type": "source-url", "url": "https://a.example/page"},
    ),
    "a passage on the web": (
        {"retrievedContext": {"uri": "https://a.example/doc", "title": "Doc"}},
        {"type": "source-url", "url": "https://a.example/doc", "title": "Doc"},
    ),
    "a passage of a file": (
        {"retrievedContext": {"uri": "gs://shelf/bread.pdf"}},
        {
            "type": "source-document",
            "mediaType": "application/pdf",
            "title": "bread.pdf",
            "filename": "bread.pdf",
            "providerMetadata": {"google": {"retrievedContext": {"uri": "gs://shelf/bread.pdf"}}},
        },
    ),
    "a passage of a store": (
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
    "something new": ({"telepathy": {"uri": "https://a.example"}}, None),
    "no chunk": (3, None),
}


@each_row(("chunk", "source"), CHUNKS.values(), ids=CHUNKS)
def test_the_source_that_a_chunk_is(chunk: Json, source: JsonObject | None) -> None:
    event = response(candidate={"groundingMetadata": {"groundingChunks": [chunk, chunk]}})
    expected = [] if source is None else [{"sourceId": "source-0", **source}]
    assert told(decode([event, event])) == expected


def texts_of(events: list[Json]) -> list[TextPart]:
    return [part for part in fold(decode(events)).parts if isinstance(part, TextPart)]


def placed(part: TextPart) -> list[tuple[str, str | None]]:
    """The source and the words of each citation."""
    return [
        (citation.source.id, None if citation.start_index is None else words(part, citation))
        for citation in part.citations or ()
    ]


def words(part: TextPart, citation: Citation) -> str:
    return part.text[citation.start_index : citation.end_index]


def cites(*spans: tuple[int, int, str | None]) -> JsonObject:
    supports = [
        {
            "segment": {"startIndex": start, "endIndex": end, **({} if said is None else {"text": said})},
            "groundingChunkIndices": [0],
        }
        for start, end, said in spans
    ]
    return {
        "groundingMetadata": {"groundingChunks": SEARCH["groundingChunks"], "groundingSupports": supports}
    }


CITED: dict[str, tuple[list[Json], list[list[tuple[str, str | None]]]]] = {
    "places are counted in bytes, and the order of sources is kept": (
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
    "of a stream, they are counted from its beginning": (
        [
            response(text("ää "), call("f")),
            response(text("öö üü"), candidate=cites((10, 14, "üü"), (0, 4, "ää"))),
        ],
        [[], [("source-0", "üü"), ("source-0", None)]],
    ),
    "of a part, from the part, if the words say so": (
        [response(text("one", thoughtSignature="S")), response(text("two"), candidate=cites((0, 3, "two")))],
        [[], [("source-0", "two")]],
    ),
    "words that are not there are cited without a place": (
        [response(text("abc"), candidate=cites((1, 2, "x"), (2, 9, None)))],
        [[("source-0", None), ("source-0", None)]],
    ),
    "what comes again is not cited again": (
        [
            response(text("abc"), candidate=cites((0, 1, "a"))),
            response(candidate=cites((0, 1, "a"), (1, 2, "b"))),
        ],
        [[("source-0", "a"), ("source-0", "b")]],
    ),
    "pages whose words are repeated, in bytes": (
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
    "pages whose words are repeated, in characters": (
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
def test_which_words_rest_on_which_source(
    events: list[Json], found: list[list[tuple[str, str | None]]]
) -> None:
    assert [placed(part) for part in texts_of(events)] == found


@given(before=st.text(max_size=8), cited=st.text(min_size=1, max_size=8), after=st.text(max_size=8))
def test_a_place_in_bytes_becomes_the_place_in_characters(before: str, cited: str, after: str) -> None:
    start = len(before.encode())
    event = response(
        text(before + cited + after), candidate=cites((start, start + len(cited.encode()), cited))
    )
    [part] = texts_of([event])
    assert placed(part) == [("source-0", cited)]
