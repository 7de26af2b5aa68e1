"""Recorded requests, responses and streams of Responses servers, and damaged items."""

from typing import Final

from hypothesis import given
from hypothesis import strategies as st

from partita.errors import PartitaError
from partita.formats.conversion import read, write
from partita.formats.format import Request
from partita.formats.openai_agents import format as agents
from partita.formats.openai_responses.format import dump, dump_response, load
from partita.formats.registry import get_format
from partita.types.json import JsonObject, loads
from partita.types.messages import Message
from tests import canonical
from tests.damage import damaged
from tests.formats.openai_responses_requests import ITEMS, written, written_response
from tests.recordings import answers, cases_in, chosen

FAMILY: Final = "openai-responses"

REPAIRED: Final = {"the format requires it"}
"""The only reasons for which a recording does not round-trip."""


def test_every_recorded_request_round_trips() -> None:
    for path in chosen(answers(FAMILY, ".request.json"), 3):
        payload = loads(path.read_bytes())
        loaded = load(payload)
        dumped = written(loaded)
        why = {loss.why for loss in (*loaded.losses, *dumped.losses)}
        assert why <= REPAIRED, path.name
        assert why or dumped.payload == payload, path.name


def test_every_recorded_response_round_trips() -> None:
    for path in chosen(answers(FAMILY, ".response.json"), 3):
        payload = loads(path.read_bytes())
        loaded = load(payload)
        dumped = written_response(loaded)
        why = {loss.why for loss in (*loaded.losses, *dumped.losses)}
        assert why <= REPAIRED, path.name
        assert why or dumped.payload == payload, path.name


def test_a_response_repeats_only_some_settings_of_its_request() -> None:
    path = next(path for path in answers(FAMILY, ".response.json") if "plain-text" in path.name)
    body = loads(path.read_bytes())
    loaded = read(body, get_format("openai-responses"))
    assert write(loaded, get_format("openai-responses-response")).payload == body
    request = Request(settings={"temperature": 0.5, "stream": True}, api="openai-responses")
    dumped = dump_response(loaded.messages, request)
    assert dumped.payload["temperature"] == 0.5
    assert "stream" not in dumped.payload
    assert ("$.stream", "it follows from other values") in [(loss.path, loss.why) for loss in dumped.losses]


def test_every_recorded_stream_can_be_sent_as_a_request() -> None:
    for path in chosen(answers(FAMILY, ".jsonl"), 3):
        loaded = load(cases_in(path))
        assert len(loaded.messages) == 1
        items = dump(loaded.messages).payload["input"]
        again = dump(load(items).messages).payload["input"]
        assert again == items, path.name
        body = written_response(loaded).payload
        assert load(body).messages[0].parts, path.name


@given(messages=st.lists(canonical.messages(canonical.BROKEN_STRINGS), max_size=4))
def test_any_messages_are_written_and_read(messages: list[Message]) -> None:
    load(dump(messages).payload)
    load(dump_response(messages).payload)
    agents.load(agents.dump(messages).payload)


ITEM_LISTS: Final = st.lists(st.sampled_from(ITEMS), min_size=1, max_size=5)


@given(items=ITEM_LISTS.flatmap(lambda items: damaged(items) | st.just(items)))
def test_damaged_items_round_trip_or_are_reported(items: list[JsonObject]) -> None:
    try:
        loaded = load(items)
    except PartitaError:
        return
    dumped = dump(loaded.messages)
    if not loaded.losses and not dumped.losses:
        assert dumped.payload == {"input": items}
    load({"object": "response", "output": items})
