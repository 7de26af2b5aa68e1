"""Laws of all registered formats. `subjects.py` describes their test data."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import islice
from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partita.errors import DecodeError
from partita.formats.call_decoder import BodyDecoder, CallDecoder
from partita.formats.conversion import read, write
from partita.formats.format import Decoder, Loaded
from partita.formats.registry import get_format
from partita.stream.accumulator import Accumulator
from partita.testing import format_laws as laws
from partita.testing.full_conversation import full_conversation
from partita.testing.mutations import Path, changed, extended, leaves, misplaced, mistaken
from partita.types.codec import read_message, to_json
from partita.types.json import Json, dumps, is_array, is_object
from partita.types.messages import AssistantMessage, AssistantPart, Message, ToolCallPart, UserMessage
from partita.types.parts import DataPart, InterruptedOutput, StepStartPart, TextPart
from tests import canonical
from tests.converting import outcome
from tests.damage import damaged
from tests.sampling import FULL, picked
from tests.strategies_json import json_values
from tests.tables import Failures

from .payloads import PAYLOADS
from .subjects import BOTH_WAYS, DATA, READ, STREAMED, SUBJECTS, WRITTEN, Subject

pytestmark = pytest.mark.filterwarnings("ignore:LegacyMessage is deprecated:DeprecationWarning")

LEAVES, FEW_LEAVES = 8, 3
"""How many leaves are changed in each payload of a data file, and in each recording."""
CUTS = 6
"""At how many positions each stream is cut."""


def each(cases: Mapping[str, Json], law: Callable[[Json], object]) -> None:
    """Check a law with every case, and report all failures."""
    failures = Failures(len(cases))
    for name, case in cases.items():
        with failures.of(name):
            law(case)
    if cases:
        failures.report()


def some(cases: list[Path], count: int, name: str) -> list[Path]:
    """Return `count` of the cases, different ones for every name, so that all formats together cover all."""
    if FULL or len(cases) <= count:
        return cases
    start = crc32(name.encode()) % len(cases)
    return picked([*cases[start:], *cases[:start]], count)


def smallest(cases: Mapping[str, Json]) -> list[Json]:
    """Return the smallest cases; larger ones are slower without more coverage."""
    return sorted(cases.values(), key=lambda one: len(dumps(one)))[:20]


def subjects(names: list[str], *members: str) -> list[str]:
    """Return the formats whose data has one of the members."""
    return [name for name in names if not members or any(one in SUBJECTS[name].data for one in members)]


def of_each(names: list[str]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("subject", [SUBJECTS[name] for name in names], ids=lambda one: one.name)


def decoder_of(name: str) -> Decoder:
    make = SUBJECTS[name].format.decoder
    assert make is not None
    return make()


def test_every_format_has_data_and_every_data_file_has_a_format() -> None:
    assert {path.stem for path in DATA.iterdir()} == {*SUBJECTS}
    assert [name for name in READ if not SUBJECTS[name].payloads() and not SUBJECTS[name].streams()] == []
    assert [name for name in STREAMED if not SUBJECTS[name].streams()] == []


# Payloads


@of_each([name for name in READ if SUBJECTS[name].format.load])
def test_a_payload_round_trips_or_a_loss_is_reported(subject: Subject) -> None:
    format_, adds = subject.format, subject.data.get("adds", [])
    others = tuple(subject.data.get("written_otherwise", []))
    payloads = {name: one for name, one in subject.payloads().items() if not name.startswith(others)}
    each(payloads, lambda payload: laws.check_payload(format_, payload, adds))


@of_each(subjects(READ, "losses"))
def test_losses_of_a_payload_are_the_known_ones(subject: Subject) -> None:
    known = {*subject.data["losses"]}

    def law(payload: Json) -> None:
        losses = laws.check_reading(subject.format, payload).losses
        assert {laws.wildcard_path(loss.path) for loss in losses} <= known

    streams = {} if "reads_streams_of" in subject.data else subject.streams()
    each({**subject.payloads(), **streams, **subject.data.get("other_forms", {})}, law)


@of_each(READ)
def test_every_leaf_of_a_payload_is_read_or_reported(subject: Subject) -> None:
    cases = {**subject.payloads(48), **subject.streams(48), **subject.data.get("other_forms", {})}
    own = {name for member in ("payloads", "streams", "other_forms") for name in subject.data.get(member, {})}
    failures = Failures(len(cases))
    for name, payload in cases.items():
        with failures.of(name):
            count = LEAVES if name in own else FEW_LEAVES
            laws.check_leaves(subject.format, payload, picked(list(leaves(payload)), count))
    failures.report()


@of_each(READ)
def test_every_unknown_member_is_read_or_reported(subject: Subject) -> None:
    cases = {**subject.data.get("payloads", {}), **subject.data.get("streams", {})}
    each(cases, lambda one: laws.check_unknown_members(subject.format, one, picked(list(extended(one)), 12)))


@of_each(READ)
def test_a_payload_converts_to_any_format_and_every_leaf_is_kept_or_reported(subject: Subject) -> None:
    def law(payload: Json) -> None:
        loaded = read(payload, subject.format)
        if loaded.request is not None and not loaded.messages:
            return  # a prompt that is stored elsewhere: APIs refuse a request without messages
        target = WRITTEN[crc32(dumps(payload)) % len(WRITTEN)]
        for name in WRITTEN if FULL else [target]:
            write(loaded, get_format(name))
        before = outcome(payload, subject.name, target)
        for path in picked(list(leaves(payload)), 1):
            assert outcome(changed(payload, path), subject.name, target) != before, (target, path)

    each({**subject.payloads(48), **subject.streams(48)}, law)


# Conversations


@of_each(WRITTEN)
def test_a_full_conversation_is_written_and_every_leaf_is_kept_or_reported(subject: Subject) -> None:
    laws.check_conversation(subject.format, full_conversation())
    laws.check_values(subject.format, full_conversation())
    paths = some(list(leaves(to_json(full_conversation()))), 6, subject.name)
    laws.check_conversation_leaves(subject.format, full_conversation(), paths)


@settings(max_examples=settings().max_examples * 2)
@given(
    messages=st.lists(canonical.messages(canonical.BROKEN_STRINGS), min_size=1, max_size=3),
    turn=st.integers(0, 5),
    data=st.data(),
)
def test_any_conversation_is_written_and_every_leaf_is_kept_or_reported(
    messages: list[Message], turn: int, data: st.DataObject
) -> None:
    messages = [UserMessage(id="?", content="?"), *messages]  # APIs refuse a request without messages
    path = data.draw(st.sampled_from(list(leaves(to_json(messages)))))
    names = WRITTEN if FULL else WRITTEN[turn::6]
    failures = Failures(len(names))
    for name in names:
        with failures.of(name):
            laws.check_conversation(get_format(name), messages)
            laws.check_conversation_leaves(get_format(name), messages, [path])
    failures.report()


@of_each([name for name in BOTH_WAYS if SUBJECTS[name].payloads()])
@settings(max_examples=settings().max_examples // (1 if FULL else 2))
@given(data=st.data())
def test_damaged_messages_are_written_or_refused(subject: Subject, data: st.DataObject) -> None:
    """Messages contain notes of the format they were read from; damaged notes must not break `dump`."""
    payload = data.draw(
        st.sampled_from(sorted(subject.payloads(48).values(), key=lambda one: len(dumps(one)))[:20])
    )
    messages = data.draw(damaged(to_json(read(payload, subject.format).messages)))
    with suppress(DecodeError, TypeError):
        laws.check_messages(subject.format, [read_message(message) for message in messages])


@of_each([name for name in WRITTEN if not SUBJECTS[name].data.get("keeps_steps")])
def test_a_step_without_written_parts_leaves_no_empty_message(subject: Subject) -> None:
    shown, text = DataPart("lamp", {"lit": True}), TextPart("The lamp is lit.")
    asked = UserMessage(id="u", content="Is it lit?")
    parts: list[AssistantPart] = [StepStartPart(), shown, StepStartPart(), text]
    written = write(Loaded((asked, AssistantMessage(id="a", content=parts))), subject.format)
    if "$[1].content.parts[1]" in {loss.path for loss in written.losses}:
        without = write(Loaded((asked, AssistantMessage(id="a", content=[text]))), subject.format)
        assert written.payload == without.payload


# Generated payloads


@of_each(list(PAYLOADS))
@given(data=st.data())
def test_a_generated_payload_round_trips_and_every_leaf_is_read_or_reported(
    subject: Subject, data: st.DataObject
) -> None:
    payload = data.draw(PAYLOADS[subject.name])
    laws.check_payload(subject.format, payload, subject.data.get("adds", []))
    if payload:
        laws.check_leaves(subject.format, payload, [data.draw(st.sampled_from(list(leaves(payload))))])


# Streams


@of_each(STREAMED)
def test_every_prefix_of_a_stream_accumulates(subject: Subject) -> None:
    closes = subject.data.get("closes", "texts")

    def law(events: Json) -> None:
        cuts = picked(list(range(len(events) + 1)), CUTS)
        laws.check_stream(subject.format, events, cuts, closes=closes)
        if closes != "nothing":
            laws.check_events(subject.format, [event for event in events for _ in range(2)])

    each(subject.streams(), law)


@of_each(subjects(STREAMED, "text"))
def test_splitting_a_text_delta_does_not_change_the_message(subject: Subject) -> None:
    beside = {*subject.data.get("not_split_beside", [])}
    streams = subject.streams(24)
    failures = Failures(len(streams))
    for path in map(tuple, subject.data["text"]):
        tried = 0
        for name, events in streams.items():
            indices = [one for one in laws.pieces_at(events, path) if not beside & names_in(events[one])]
            tried += len(indices)
            with failures.of(name):
                laws.check_pieces(subject.format, events, path, picked(indices, 2))
        assert tried, path
    failures.report()


def names_in(value: Json) -> set[str]:
    """Return the names of all members that have a value, at any depth."""
    if is_object(value):
        named = {name for name, item in value.items() if item is not None}
        return named.union(*(names_in(item) for item in value.values()))
    return set().union(*map(names_in, value)) if is_array(value) else set()


@of_each(STREAMED)
def test_splitting_the_bytes_of_a_stream_does_not_change_the_chunks(subject: Subject) -> None:
    name, events = min(subject.streams().items(), key=lambda item: abs(len(item[1]) - 6))
    data = b"".join(b"data: " + dumps(event) + b"\n\n" for event in events)
    found = []
    for size in (len(data), 7, 64):
        decoding = CallDecoder(subject.name, "sse")
        pieces = [data[start : start + size] for start in range(0, len(data), size)]
        found.append([*(one for piece in pieces for one in decoding.feed(piece)), *decoding.finish()])
    assert found[1] == found[0], name
    assert found[2] == found[0], name


@of_each(subjects(STREAMED, "cut_calls"))
def test_an_interrupted_call_keeps_its_readable_input(subject: Subject) -> None:
    def law(events: Json) -> None:
        assert subject.format.decoder is not None
        decoder, accumulator = subject.format.decoder(), Accumulator()
        for made in [*(made for event in events for made in decoder.feed(event)), *decoder.finish()]:
            accumulator.feed(made)
        (call,) = [part for part in accumulator.snapshot().parts if isinstance(part, ToolCallPart)]
        assert (call.state, call.input) == ("input-streaming", {"place": "Slet"})
        (call,) = [part for part in accumulator.finish("lost").parts if isinstance(part, ToolCallPart)]
        assert (call.input, call.output) == ({"place": "Slet"}, InterruptedOutput("lost"))

    each(subject.data["cut_calls"], law)


@of_each([name for name in STREAMED if SUBJECTS[name].data.get("closes") != "nothing"])
@given(data=st.data())
def test_damaged_events_in_any_order_accumulate(subject: Subject, data: st.DataObject) -> None:
    events = data.draw(st.sampled_from(list(subject.streams(48).values())))
    chosen = data.draw(st.lists(st.sampled_from(events) | one_damaged(events) | json_values(3), max_size=8))
    laws.check_events(subject.format, chosen)


def one_damaged(events: list[Json]) -> st.SearchStrategy[Json]:
    return st.sampled_from(events).flatmap(damaged)


@of_each([name for name in STREAMED if isinstance(decoder_of(name), BodyDecoder)])
@given(data=st.data())
def test_damaged_bodies_accumulate(subject: Subject, data: st.DataObject) -> None:
    responses = SUBJECTS.get(f"{subject.name}-response", subject).payloads(48)
    payload = data.draw(st.sampled_from(list(responses.values())))
    body = data.draw(damaged(payload) | json_values(4))
    decoder, accumulator = decoder_of(subject.name), Accumulator(id="message")
    assert isinstance(decoder, BodyDecoder)
    for chunk in decoder.read_body(body):
        accumulator.feed(chunk)
    assert not accumulator.diagnostics


# Damage


@of_each(subjects(READ, "refused"))
def test_invalid_payloads_are_refused_with_a_path_and_a_hint(subject: Subject) -> None:
    each(subject.data["refused"], lambda payload: laws.check_refused(subject.format, payload))


@of_each(READ)
def test_a_damaged_payload_is_read_or_refused(subject: Subject) -> None:
    cases = {**subject.payloads(48), **subject.streams(48)}
    chosen = cases if FULL else dict(picked(list(cases.items()), 3))

    def law(payload: Json) -> None:
        laws.check_damage(subject.format, islice(misplaced(payload), None if FULL else 30))
        laws.check_damage(subject.format, mistaken(payload, 1 if FULL else 197))

    each(chosen, law)


@of_each(READ)
@settings(max_examples=settings().max_examples // (1 if FULL else 2))
@given(data=st.data(), target=st.sampled_from(WRITTEN))
def test_a_damaged_payload_converts_or_is_refused(subject: Subject, data: st.DataObject, target: str) -> None:
    payload = data.draw(st.sampled_from(smallest({**subject.payloads(48), **subject.streams(48)})))
    outcome(data.draw(damaged(payload)), subject.name, target)


@of_each(subjects(READ, "damage"))
def test_unusual_values_are_read(subject: Subject) -> None:
    def law(payload: Json) -> None:
        for target in WRITTEN:
            outcome(payload, subject.name, target)
            assert outcome(payload, subject.name, target, carry=True) is not None

    each(subject.data["damage"], law)
