"""Bytes become chunks, however they are cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partita.errors import DecodeError, PartitaError, StreamError
from partita.stream.encoder import SseEncoder
from partita.stream.sse import ChunkReader, frame
from partita.types.chunks import Chunk, TextDelta, TextStart
from partita.types.codec import read_chunk
from partita.types.json import JsonObject
from tests import strategies
from tests.tables import each_row

GOOD = frame(b'{"type":"text-start","id":"t"}')


def read(pieces: list[bytes]) -> list[Chunk]:
    reader = ChunkReader()
    return [*(chunk for piece in pieces for chunk in reader.feed(piece)), *reader.finish()]


@given(stream=strategies.chunk_streams(7), data=st.data())
def test_any_cut_of_the_bytes_gives_the_same_chunks(stream: list[JsonObject], data: st.DataObject) -> None:
    chunks = [read_chunk(chunk) for chunk in stream]
    encoder = SseEncoder()
    body = b"".join(encoder.encode(chunk) for chunk in chunks) + encoder.finish()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=6)))
    pieces = [body[a:b] for a, b in zip([0, *cuts], [*cuts, len(body)], strict=True)]
    assert read(pieces) == chunks
    assert read([body]) == chunks


def test_a_stream_says_that_it_is_done_and_what_it_left_unfinished() -> None:
    reader = ChunkReader()
    reader.feed(GOOD + b"data: [DONE]\n\n" + b'data: {"type":')
    reader.finish()
    assert reader.done
    assert reader.dropped == '{"type":'


BAD: dict[str, tuple[bytes, type[PartitaError]]] = {
    "truncated JSON": (b'data: {"type":\n\n', DecodeError),
    "a wrong type": (frame(b'{"type":"text-delta","id":"t","delta":5}'), DecodeError),
    "no object": (frame(b"5"), DecodeError),
    "a key that reaches a prototype": (frame(b'{"type":"data-x","data":{"__proto__":{}}}'), DecodeError),
    "the same, spelt with escapes": (
        frame(b'{"type":"data-x","data":{"\\u005f_proto__":{}}}'),
        DecodeError,
    ),
    "invalid UTF-8": (b'data: {"type":"\xff"}\n\n', StreamError),
}


@each_row(("event", "error"), BAD.values(), ids=BAD)
def test_what_came_before_an_error_is_handed_out_first(event: bytes, error: type[PartitaError]) -> None:
    reader = ChunkReader()
    assert reader.feed(GOOD + event + GOOD) == [TextStart("t")]
    with pytest.raises(error) as raised:
        reader.feed(GOOD)
    assert raised.value.what
    assert raised.value.where
    assert raised.value.hint
    with pytest.raises(error):
        reader.finish()


def test_the_word_constructor_alone_is_no_harm() -> None:
    delta = frame(b'{"type":"text-delta","id":"t","delta":"a constructor"}')
    assert read([delta]) == [TextDelta("t", "a constructor")]


def test_an_endless_event_is_refused() -> None:
    with pytest.raises(StreamError, match="bytes"):
        ChunkReader(max_event_bytes=100).feed(b"data: " + b"x" * 200)
