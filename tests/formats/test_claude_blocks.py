"""Whole blocks of a response become chunks, and members without a field are kept."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from partita.formats.claude_code.blocks import READERS, block_chunks, mcp_metadata
from partita.formats.claude_code.user_content import content_part
from partita.types.chunks import (
    Chunk,
    DataChunk,
    FileChunk,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    SourceUrlChunk,
    TextDelta,
    TextEnd,
    TextStart,
    ToolInputAvailable,
    ToolOutputChunk,
)
from partita.types.json import Json, JsonObject
from partita.types.parts import (
    Citation,
    ContentOutput,
    DocumentCitationSource,
    ErrorJsonOutput,
    FilePart,
    ForeignPart,
    ImagePart,
    JsonOutput,
    TextPart,
    UrlCitationSource,
)
from tests.strategies import json_values
from tests.tables import each_row


def own(**fields: Json) -> JsonObject:
    return {"anthropic": fields}


PAGE = {
    "type": "web_search_result",
    "url": "https://bread.example",
    "title": "Bread",
    "encrypted_content": "E",
}
FETCHED: JsonObject = {
    "type": "web_fetch_result",
    "url": "https://rye.example",
    "content": {"type": "document", "title": "Rye", "source": {}},
}
CITED = {
    "type": "web_search_result_location",
    "url": "https://bread.example",
    "title": "B",
    "cited_text": "rye",
}
PAGED = {"type": "page_location", "document_index": 0, "document_title": "Guide", "cited_text": "bake"}
NAMELESS = {"type": "char_location", "document_index": 2, "cited_text": "knead"}
FOUND = {"type": "search_result_location", "source": "shelf 3", "title": None, "cited_text": "salt"}

BLOCKS: dict[str, tuple[JsonObject, Sequence[Chunk]]] = {
    "text": (
        {"type": "text", "text": "Bread."},
        [TextStart("7"), TextDelta("7", "Bread."), TextEnd("7")],
    ),
    "empty text": ({"type": "text", "text": ""}, [TextStart("7"), TextEnd("7")]),
    "text with citations": (
        {"type": "text", "text": "Rye.", "citations": [CITED, PAGED, NAMELESS, FOUND, {"type": "hunch"}]},
        [
            TextStart("7", own(citations=[CITED, PAGED, NAMELESS, FOUND, {"type": "hunch"}])),
            TextDelta("7", "Rye."),
            TextEnd(
                "7",
                citations=(
                    Citation(UrlCitationSource("7-0", "https://bread.example", "B"), cited_text="rye"),
                    Citation(DocumentCitationSource("7-1", "application/pdf", "Guide"), cited_text="bake"),
                    Citation(DocumentCitationSource("7-2", "text/plain", "document 2"), cited_text="knead"),
                    Citation(DocumentCitationSource("7-3", "text/plain", "shelf 3"), cited_text="salt"),
                ),
            ),
        ],
    ),
    "thinking": (
        {"type": "thinking", "thinking": "Hm.", "signature": "S"},
        [ReasoningStart("7", own(signature="S")), ReasoningDelta("7", "Hm."), ReasoningEnd("7")],
    ),
    "thinking with an empty text": (
        {"type": "thinking", "thinking": "", "signature": "S"},
        [ReasoningStart("7", own(signature="S")), ReasoningEnd("7")],
    ),
    "redacted thinking": (
        {"type": "redacted_thinking", "data": "ENC"},
        [ReasoningStart("7", own(redactedData="ENC")), ReasoningEnd("7")],
    ),
    "a call": (
        {"type": "tool_use", "id": "c", "name": "Oven", "input": {"heat": 1}, "caller": {"type": "direct"}},
        [ToolInputAvailable("c", "Oven", {"heat": 1}, provider_metadata=own(caller={"type": "direct"}))],
    ),
    "a call of a server's tool": (
        {"type": "tool_use", "id": "c", "name": "mcp__kitchen__oven__on", "input": {}},
        [
            ToolInputAvailable(
                "c",
                "mcp__kitchen__oven__on",
                {},
                tool_metadata={"claudeCode": {"server": "kitchen", "tool": "oven__on"}},
            )
        ],
    ),
    "a call that the API executes": (
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "rye"}},
        [
            ToolInputAvailable(
                "s",
                "web_search",
                {"query": "rye"},
                provider_executed=True,
                provider_metadata=own(type="server_tool_use"),
            )
        ],
    ),
    "a call that the API sends to a server": (
        {"type": "mcp_tool_use", "id": "m", "name": "weigh", "server_name": "kitchen", "input": {}},
        [
            ToolInputAvailable(
                "m",
                "weigh",
                {},
                provider_executed=True,
                provider_metadata=own(type="mcp_tool_use"),
                tool_metadata={"claudeCode": {"server": "kitchen", "tool": "weigh"}},
            )
        ],
    ),
    "pages found": (
        {"type": "web_search_tool_result", "tool_use_id": "s", "content": [PAGE, {"type": "ad"}]},
        [
            ToolOutputChunk(
                "s",
                JsonOutput([PAGE, {"type": "ad"}]),
                provider_executed=True,
                provider_metadata=own(type="web_search_tool_result"),
            ),
            SourceUrlChunk("s-0", "https://bread.example", "Bread"),
        ],
    ),
    "a page read": (
        {"type": "web_fetch_tool_result", "tool_use_id": "s", "content": FETCHED},
        [
            ToolOutputChunk(
                "s",
                JsonOutput(FETCHED),
                provider_executed=True,
                provider_metadata=own(type="web_fetch_tool_result"),
            ),
            SourceUrlChunk("s-0", "https://rye.example", "Rye"),
        ],
    ),
    "a search that failed": (
        {
            "type": "web_search_tool_result",
            "tool_use_id": "s",
            "content": {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"},
            "caller": {"type": "direct"},
        },
        [
            ToolOutputChunk(
                "s",
                ErrorJsonOutput({"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"}),
                provider_executed=True,
                provider_metadata=own(type="web_search_tool_result", caller={"type": "direct"}),
            )
        ],
    ),
    "a result of an unknown tool": (
        {"type": "oven_tool_result", "tool_use_id": "s", "content": {"type": "oven_result", "loaves": 2}},
        [
            ToolOutputChunk(
                "s",
                JsonOutput({"type": "oven_result", "loaves": 2}),
                provider_executed=True,
                provider_metadata=own(type="oven_tool_result"),
            )
        ],
    ),
    "a server's result": (
        {"type": "mcp_tool_result", "tool_use_id": "m", "content": [{"type": "text", "text": "1 kg"}]},
        [
            ToolOutputChunk(
                "m",
                ContentOutput((TextPart("1 kg"),)),
                provider_executed=True,
                provider_metadata=own(type="mcp_tool_result"),
            )
        ],
    ),
    "a picture": (
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
        [FileChunk("data:image/png;base64,AAAA", "image/png")],
    ),
    "a picture with a file id": (
        {"type": "image", "source": {"type": "file", "file_id": "file_1"}},
        [DataChunk("data-claude-file", {"type": "image", "source": {"type": "file", "file_id": "file_1"}})],
    ),
    "a fallback to another model": (
        {"type": "fallback", "from": {"model": "a"}, "to": {"model": "b"}},
        [
            DataChunk(
                "data-claude-fallback", {"type": "fallback", "from": {"model": "a"}, "to": {"model": "b"}}
            )
        ],
    ),
}


@each_row(("raw", "chunks"), BLOCKS.values(), ids=BLOCKS)
def test_a_block_gives_chunks(raw: JsonObject, chunks: Sequence[Chunk]) -> None:
    assert list(block_chunks(raw, "7") or ()) == list(chunks)


UNKNOWN: dict[str, JsonObject] = {
    "no type": {},
    "an unknown type": {"type": "smell", "of": "bread"},
    "a type that is not text": {"type": ["text"]},
    "text without a text": {"type": "text", "text": 7},
    "thinking without a text": {"type": "thinking"},
    "redacted thinking without data": {"type": "redacted_thinking"},
    "a call without an id": {"type": "tool_use", "name": "Oven"},
    "a call without a name": {"type": "tool_use", "id": "c", "name": None},
    "a result without a call": {"type": "web_search_tool_result", "content": []},
    "a picture without a source": {"type": "image", "source": None},
}


@each_row("raw", UNKNOWN.values(), ids=UNKNOWN)
def test_an_unknown_block_is_left_to_the_caller(raw: JsonObject) -> None:
    assert block_chunks(raw, "7") is None


def test_given_metadata_is_kept_with_that_of_the_block() -> None:
    chunks = block_chunks({"type": "thinking", "thinking": "", "signature": "S"}, "7", {"mine": {}})
    assert chunks is not None
    assert chunks[0] == ReasoningStart("7", {"mine": {}, "anthropic": {"signature": "S"}})


@each_row("name", ["Oven", "mcp__kitchen", "mcp_kitchen__oven"])
def test_other_tool_names_have_no_server(name: str) -> None:
    assert mcp_metadata(name) is None


MEDIA: dict[str, tuple[JsonObject, ImagePart | FilePart | ForeignPart]] = {
    "a paper": (
        {
            "type": "document",
            "source": {"type": "base64", "media_type": "application/pdf", "data": "AAAA"},
            "title": "Guide",
            "context": "of 1900",
        },
        FilePart(
            "data:application/pdf;base64,AAAA",
            "application/pdf",
            filename="Guide",
            provider_metadata=own(fields={"context": "of 1900"}),
        ),
    ),
    "a paper that is text": (
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "Rye"}},
        FilePart("data:text/plain;base64,Unll", "text/plain"),
    ),
    "a paper with a URL": (
        {"type": "document", "source": {"type": "url", "url": "https://rye.example/a.pdf"}, "title": None},
        FilePart(
            "https://rye.example/a.pdf", "application/pdf", provider_metadata=own(fields={"title": None})
        ),
    ),
    "a source with more members": (
        {"type": "image", "source": {"type": "url", "url": "https://rye.example/a.png", "detail": "low"}},
        ImagePart("https://rye.example/a.png", provider_metadata=own(fields={"source": {"detail": "low"}})),
    ),
    "a paper of blocks": (
        {"type": "document", "source": {"type": "content", "content": []}},
        ForeignPart("anthropic", {"type": "document", "source": {"type": "content", "content": []}}),
    ),
}


@each_row(("raw", "part"), MEDIA.values(), ids=MEDIA)
def test_pictures_and_documents_become_parts(
    raw: JsonObject, part: ImagePart | FilePart | ForeignPart
) -> None:
    assert content_part(raw) == part


FIELDS = ("text", "thinking", "data", "id", "name", "input", "tool_use_id", "content", "source", "citations")


@given(
    kind=st.sampled_from([*READERS, "web_search_tool_result", "mcp_tool_result"]),
    fields=st.dictionaries(st.sampled_from(FIELDS), json_values(), max_size=5),
)
def test_any_fields_give_chunks_or_nothing(kind: str, fields: JsonObject) -> None:
    chunks = block_chunks({"type": kind, **fields}, "7")
    assert chunks is None or chunks
