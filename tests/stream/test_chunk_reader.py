"""Bytes become chunks, wherever they are split."""

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


def read(fragments: list[bytes]) -> list[Chunk]:
    reader = ChunkReader()
    return [*(chunk for piece in fragments for chunk in reader.feed(piece)), *reader.finish()]


@given(stream=strategies.chunk_streams(7), data=st.data())
def test_any_split_of_the_bytes_gives_the_same_chunks(stream: list[JsonObject], data: st.DataObject) -> None:
    chunks = [read_chunk(chunk) for chunk in stream]
    encoder = SseEncoder()
    body = b"".join(encoder.encode(chunk) for chunk in chunks) + encoder.finish()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=6)))
    fragments = [body[a:b] for a, b in zip([0, *cuts], [*cuts, len(body)], strict=True)]
    assert read(fragments) == chunks
    assert read([body]) == chunks


def test_a_finished_stream_is_marked_and_keeps_its_incomplete_event() -> None:
    reader = ChunkReader()
    reader.feed(GOOD + b"data: [DONE]\n\n" + b'data: {"type":')
    reader.finish()
    assert reader.done
    assert reader.dropped == '{"type":'


BAD: dict[str, tuple[bytes, type[PartitaError]]] = {
    "truncated JSON": (b'data: {"type":\n\n', DecodeError),
    "a wrong type": (frame(b'{"type":"text-delta","id":"t","delta":5}'), DecodeError),
    "not an object": (frame(b"5"), DecodeError),
    "a prototype key": (frame(b'{"type":"data-x","data":{"__proto__":{}}}'), DecodeError),
    "an escaped prototype key": (
        frame(b'{"type":"data-x","data":{"\\u005f_proto__":{}}}'),
        DecodeError,
    ),
    "invalid UTF-8": (b'data: {"type":"\xff"}\n\n', StreamError),
}


@each_row(("event", "error"), BAD.values(), ids=BAD)
def test_chunks_before_an_error_are_returned_first(event: bytes, error: type[PartitaError]) -> None:
    reader = ChunkReader()
    assert reader.feed(GOOD + event + GOOD) == [TextStart("t")]
    with pytest.raises(error) as raised:
        reader.feed(GOOD)
    assert raised.value.what
    assert raised.value.where
    assert raised.value.hint
    with pytest.raises(error):
        reader.finish()


def test_the_key_constructor_alone_is_accepted() -> None:
    delta = frame(b'{"type":"text-delta","id":"t","delta":"a constructor"}')
    assert read([delta]) == [TextDelta("t", "a constructor")]


def test_an_endless_event_is_refused() -> None:
    with pytest.raises(StreamError, match="bytes"):
        ChunkReader(max_event_bytes=100).feed(b"data: " + b"x" * 200)
