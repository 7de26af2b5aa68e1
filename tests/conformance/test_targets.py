"""Clients of twelve releases accept what we send to them."""

import json
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from partita.stream.encoder import SseEncoder
from partita.stream.targets import ALWAYS_PRESENT, CHUNKS, FIELDS, FINISH_REASONS, LOOSE, Since, Target
from partita.types import chunks as c
from partita.types.chunks import Chunk
from partita.types.codec import encode, read_chunk
from partita.types.json import Json, JsonObject
from partita.types.value import Extra
from tests import canonical, strategies
from tests.node import node

CLIENTS = (
    *("5.0.0", "5.0.60", "5.0.92", "5.0.150", "5.0.277"),
    *("6.0.0", "6.0.100", "6.0.200", "6.0.326"),
    *("7.0.0", "7.0.77", "7.0.169"),
)
HERE = Path(__file__).parent / "clients"


class Clients:
    """Real clients of every release, in one process."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self._known: dict[tuple[str, bytes], JsonObject] = {}

    def receive(self, client: str, bodies: Sequence[bytes]) -> list[JsonObject]:
        """Return the result of a client for each body; equal bodies are sent once."""
        new = [body for body in dict.fromkeys(bodies) if (client, body) not in self._known]
        if new:
            for body, answer in zip(new, self._ask(client, new, read=False), strict=True):
                self._known[client, body] = answer
        return [self._known[client, body] for body in bodies]

    def read(self, client: str, body: bytes) -> JsonObject:
        """Return the result for one body, with the message that the client reads."""
        [answer] = self._ask(client, [body], read=True)
        return answer

    def _ask(self, client: str, bodies: Sequence[bytes], *, read: bool) -> list[JsonObject]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        request = {"client": client, "streams": [body.decode() for body in bodies], "read": read}
        # ASCII: Node's reader also breaks lines at U+2028.
        print(json.dumps(request), file=self._process.stdin, flush=True)
        answers: list[JsonObject] = json.loads(self._process.stdout.readline())
        return answers


@pytest.fixture(scope="module")
def real_clients() -> Iterator[Clients]:
    with subprocess.Popen(
        [node(), "clients.mjs"], cwd=HERE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield Clients(process)


# Every chunk, minimal and with each of its optional fields

VALUES: JsonObject = {
    "type": "data-some",
    "provider_metadata": {"openai": {"itemId": "item-1"}},
    "tool_metadata": {"server": "files"},
    "message_metadata": {"model": "m"},
    "finish_reason": "stop",
    "input_encoding": "text",
    "citations": (),
    "parts": (),
}
OUR_CHUNKS = (
    c.ToolOutputChunk,
    c.NetworkExecutionStart,
    c.NetworkExecutionEnd,
    c.ChildChunk,
    c.ChildMessage,
    c.UnknownChunk,
)


def chunks_of(type_: type[Chunk]) -> Iterator[tuple[str | None, Chunk]]:
    """Return the minimal chunk of a type, and one with each optional field, by field name."""
    least: JsonObject = {}
    fields = [field for field in msgspec.structs.fields(type_) if field.name != "extra"]
    for field in fields:
        if field.required or ALWAYS_PRESENT.get(type_) == field.name:
            least[field.name] = value_of(field)
    yield None, type_(**least)
    for field in fields:
        if field.name not in least:
            yield field.name, type_(**least, **{field.name: value_of(field)})
    yield "extra", type_(**least, extra=Extra({"future": 1}))


def value_of(field: msgspec.structs.FieldInfo) -> Any:
    if field.name in VALUES:
        return VALUES[field.name]
    return True if bool in (field.type, *get_args(field.type)) else "some"


TABLE: list[tuple[type[Chunk], str | None, Chunk]] = [
    (type_, field, chunk)
    for type_ in get_args(Chunk)
    if type_ not in OUR_CHUNKS
    for field, chunk in chunks_of(type_)
]


def is_known(target: Target, type_: type[Chunk], field: str | None) -> bool:
    if not target.knows(CHUNKS.get(type_, Since())):
        return False
    if field is None or target.knows(LOOSE):
        return True
    return field != "extra" and target.knows(FIELDS.get(type_, {}).get(field, Since()))


@pytest.mark.parametrize("client", CLIENTS)
def test_clients_refuse_what_the_tables_exclude(real_clients: Clients, client: str) -> None:
    target = Target.parse(client)
    answers = real_clients.receive(client, [SseEncoder().encode(chunk) for _, _, chunk in TABLE])
    for (type_, field, _), answer in zip(TABLE, answers, strict=True):
        assert (answer["error"] is None) == is_known(target, type_, field), (type_, field)


@pytest.mark.parametrize("client", CLIENTS)
def test_clients_accept_the_finish_reasons_of_the_table(real_clients: Clients, client: str) -> None:
    target = Target.parse(client)
    fields = target.knows(FIELDS[c.MessageFinish]["finish_reason"])
    answers = real_clients.receive(
        client, [SseEncoder().encode(c.MessageFinish(reason)) for reason in FINISH_REASONS]
    )
    for since, answer in zip(FINISH_REASONS.values(), answers, strict=True):
        assert (answer["error"] is None) == (fields and target.knows(since))


@pytest.mark.parametrize("client", CLIENTS)
def test_clients_accept_every_chunk(real_clients: Clients, client: str) -> None:
    encoder = SseEncoder(client)
    bodies = [encoder.encode(chunk) for _, _, chunk in TABLE]
    assert [answer["error"] for answer in real_clients.receive(client, bodies)] == [None] * len(TABLE)


def check_each(real_clients: Clients, client: str, chunks: Sequence[Chunk]) -> None:
    encoder = SseEncoder(client)
    bodies = [encoder.encode(chunk) for chunk in chunks]
    answers = real_clients.receive(client, bodies)
    for chunk, body, answer in zip(chunks, bodies, answers, strict=True):
        assert answer["error"] is None, (encode(chunk), body)


clients = st.sampled_from(CLIENTS)
any_chunks = canonical.chunks(canonical.ANYTHING) | canonical.chunks(canonical.BROKEN_STRINGS)


@given(client=clients, chunks=st.lists(any_chunks, min_size=5))
def test_clients_accept_any_chunk(real_clients: Clients, client: str, chunks: list[Chunk]) -> None:
    check_each(real_clients, client, chunks)


@given(client=clients, values=st.lists(strategies.forbidden_json(), min_size=5))
def test_clients_accept_chunks_without_forbidden_keys(
    real_clients: Clients, client: str, values: list[Json]
) -> None:
    check_each(real_clients, client, [c.DataChunk("data-x", value) for value in values])


@given(client=clients, raw=strategies.chunk_streams(7))
def test_clients_read_complete_streams(real_clients: Clients, client: str, raw: list[JsonObject]) -> None:
    encoder = SseEncoder(client)
    frames = [encoder.encode(read_chunk(chunk)) for chunk in raw]
    answer = real_clients.read(client, b"".join([*frames, encoder.keep_alive(), encoder.finish()]))
    assert (answer["error"], answer["readError"]) == (None, None)
