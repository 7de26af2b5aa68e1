"""Mastra messages, read and written by the registered formats, which report all losses."""

from collections.abc import Sequence

from partita.formats.format import Dumped, Loaded
from partita.formats.mastra.format import V1, V2
from partita.types.json import Json
from partita.types.messages import Message


def load_v2(payload: Json) -> Loaded:
    assert V2.load is not None
    return V2.load(payload)


def dump_v2(messages: Sequence[Message]) -> Dumped:
    assert V2.dump is not None
    return V2.dump(messages)


def load_v1(payload: Json) -> Loaded:
    assert V1.load is not None
    return V1.load(payload)


def dump_v1(messages: Sequence[Message]) -> Dumped:
    assert V1.dump is not None
    return V1.dump(messages)
