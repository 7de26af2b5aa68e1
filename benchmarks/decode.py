"""What does keeping unknown members cost when there are none?

Compared with msgspec (one type, no union, unknown members dropped), and pydantic with extras.
"""

import timeit
from collections.abc import Callable

import msgspec
import pydantic

from partita.types.codec import decode_chunk, encode

from .table import print_table


class BareTextDelta(msgspec.Struct):
    type: str
    id: str
    delta: str


class BareToolOutput(msgspec.Struct):
    type: str
    toolCallId: str  # noqa: N815 # the wire's name
    output: object


class BareData(msgspec.Struct):
    type: str
    data: object
    id: str | None = None


class ModelOfAny(pydantic.BaseModel, extra="allow"):
    type: str


CHUNKS: dict[str, tuple[bytes, type[msgspec.Struct]]] = {
    "text-delta": (b'{"type":"text-delta","id":"t1","delta":"kept whole "}', BareTextDelta),
    "tool-output-available": (
        b'{"type":"tool-output-available","toolCallId":"c1","output":{"rows":[1,2,3],"ok":true}}',
        BareToolOutput,
    ),
    "data-NAME": (b'{"type":"data-progress","data":{"done":2,"of":3},"id":"d1"}', BareData),
    "text-delta, unknown field": (b'{"type":"text-delta","id":"t1","delta":"kept ","mood":1}', BareTextDelta),
}
ROUNDS = 20_000


def nanoseconds(call: Callable[[], object]) -> float:
    """The minimal time of one call, of five measurements."""
    return min(timeit.repeat(call, number=ROUNDS, repeat=5)) / ROUNDS * 1e9


def main() -> None:
    """Measure and print."""
    rows: list[list[str]] = []
    for name, (text, bare) in CHUNKS.items():
        decoder = msgspec.json.Decoder(bare)
        ours = nanoseconds(lambda text=text: decode_chunk(text))  # type: ignore[misc] # mypy: defaults of lambdas
        theirs = nanoseconds(lambda text=text, decoder=decoder: decoder.decode(text))  # type: ignore[misc] # the same
        pydantics = nanoseconds(lambda text=text: ModelOfAny.model_validate_json(text))  # type: ignore[misc] # the same
        chunk = decode_chunk(text)
        writing = nanoseconds(lambda chunk=chunk: encode(chunk))  # type: ignore[misc] # the same
        rows.append(
            [
                name,
                f"{ours:.0f}",
                f"{theirs:.0f}",
                f"{theirs / ours:.2f}",
                f"{pydantics:.0f}",
                f"{pydantics / ours:.1f}×",
                f"{writing:.0f}",
            ]
        )
    print_table(
        "A chunk from its JSON (ns)",
        ["chunk", "ours", "msgspec, bare", "our speed / bare", "pydantic", "faster than pydantic", "encode"],
        rows,
    )


if __name__ == "__main__":
    main()
