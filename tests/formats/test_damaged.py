"""Damaged payloads are read or refused with words; they are never changed, and nothing else is raised."""

from contextlib import suppress
from functools import cache
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partita.errors import PartitaError
from partita.formats.converting import convert
from partita.formats.events import load_events
from partita.formats.registry import all_formats
from partita.testing.everything import everything
from partita.types.json import Json, JsonObject, is_array
from tests.converting import outcome
from tests.damage import damaged, misplaced, mistaken
from tests.formats.mastra_streams import STREAMS
from tests.recordings import FAMILIES, LOGS, Recording, recordings
from tests.sampling import FULL
from tests.tables import each_row

TARGETS = sorted(name for name, one in all_formats().items() if one.dump)
BOTH_WAYS = sorted(name for name in TARGETS if all_formats()[name].load)
RECORDED = sorted({*FAMILIES.values(), *LOGS.values(), "ai-sdk-chunks", "claude-code-stream", "mastra-v2"})
EXAMPLES = settings().max_examples // (1 if FULL else 2)
SMALLEST = 60
"""So many of the recordings of a format: larger ones take their time, and are as good as these."""


@cache
def written(name: str) -> Json:
    """Everything there is, in a format."""
    dump = all_formats()[name].dump
    assert dump is not None
    return dump(everything()).payload


@cache
def recorded(name: str) -> list[Recording]:
    """The smaller recordings of a format."""
    found = [one for one in recordings() if one.format == name]
    return sorted(found, key=lambda one: one.size)[:SMALLEST]


@cache
def payload_of(recording: Recording) -> Json:
    return recording.payload()


@pytest.mark.parametrize("name", BOTH_WAYS)
@settings(max_examples=EXAMPLES)
@given(data=st.data(), target=st.sampled_from(TARGETS))
def test_damage_to_what_we_write(name: str, data: st.DataObject, target: str) -> None:
    outcome(data.draw(damaged(written(name))), name, target)


@pytest.mark.parametrize("name", STREAMS)
@given(data=st.data(), target=st.sampled_from(TARGETS))
def test_damage_to_streams_of_mastra(name: str, data: st.DataObject, target: str) -> None:
    outcome(data.draw(damaged(STREAMS[name])), "mastra-stream", target)


@pytest.mark.parametrize("name", RECORDED)
@given(data=st.data(), target=st.sampled_from(TARGETS))
def test_damage_to_recordings(name: str, data: st.DataObject, target: str) -> None:
    recording = data.draw(st.sampled_from(recorded(name)))
    outcome(data.draw(damaged(payload_of(recording))), name, target)


def read_or_refused(payload: Json, name: str) -> None:
    """A format, and its decoder of streams, read a payload or refuse it with an error of ours."""
    format_ = all_formats()[name]
    if format_.load is not None:
        with suppress(PartitaError):
            format_.load(payload)
    if format_.decoder is not None:
        with suppress(PartitaError):
            load_events(format_.decoder(), payload if is_array(payload) else [payload])


READ = sorted(name for name, one in all_formats().items() if one.load or one.decoder)


def sources_of(name: str) -> list[Json]:
    """What is known in a format: what we write, and recordings."""
    own = [written(name)] if name in BOTH_WAYS else []
    streams = list(STREAMS.values()) if name == "mastra-stream" else []
    return [*own, *streams, *map(payload_of, recorded(name)[: SMALLEST if FULL else 1])]


@each_row("name", READ, ids=READ)
def test_a_piece_of_a_payload_in_its_place(name: str) -> None:
    for payload in sources_of(name):
        for value in misplaced(payload) if FULL else islice(misplaced(payload), 30):
            read_or_refused(value, name)


@each_row("name", READ, ids=READ)
def test_every_kind_of_place_in_a_recording_may_be_wrong(name: str) -> None:
    for payload in sources_of(name) if FULL else sources_of(name)[-1:]:
        for value in mistaken(payload, 1 if FULL else 197):
            read_or_refused(value, name)


def gemini(said: Json) -> Json:
    return {
        "candidates": [{"content": {"role": "model", "parts": [{"text": "a"}]}, "citationMetadata": said}]
    }


DAMAGE: dict[str, tuple[str, Json]] = {
    "a member that is an object only later": (
        "gemini",
        [gemini("x"), gemini({"citationSources": [{"uri": "https://example.com"}]})],
    ),
    "a number that is a list": (
        "anthropic",
        [
            {"type": "content_block_start", "index": [1], "content_block": {"type": "text", "text": ""}},
            {"type": "content_block_delta", "index": [1], "delta": {"type": "text_delta", "text": "x"}},
        ],
    ),
    "an id that is an object": (
        "ai-sdk-chunks",
        [
            {
                "type": "source-url",
                "sourceId": "s",
                "url": "https://example.com",
                "title": "T",
                "toolCallId": {},
            }
        ],
    ),
    "a status that is a list": (
        "gemini-cli",
        {
            "sessionId": "s",
            "messages": [{"id": "1", "type": "gemini", "toolCalls": [{"id": "c", "status": ["success"]}]}],
        },
    ),
    "a count that no float holds": (
        "anthropic",
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "text", "text": "a"}],
            "model": 10**401,
            "usage": {"input_tokens": 10**400, "cache_read_input_tokens": []},
        },
    ),
    "a number that is not one": (
        "anthropic",
        [{"role": "user", "content": [{"type": "text", "text": "a", "more": float("nan")}]}],
    ),
    "counts that are words": (
        "ai-sdk-ui-v7",
        [
            {
                "id": "a",
                "role": "assistant",
                "parts": [{"type": "text", "text": "a"}],
                "metadata": {"usage": {"inputTokens": 5, "cachedInputTokens": "x", "cacheWriteTokens": []}},
            }
        ],
    ),
    "child messages that are none": (
        "ai-sdk-ui-v7",
        [
            {
                "id": "a",
                "role": "assistant",
                "parts": [
                    {
                        "type": "tool-look",
                        "toolCallId": "c",
                        "state": "input-available",
                        "input": {},
                        "childMessages": [None, 5, {"role": "user"}, {"id": "b", "parts": 5}],
                    }
                ],
            }
        ],
    ),
    "half a character": ("openai-chat", {"messages": [{"role": "user", "content": "\ud800", "more": 1}]}),
}


@each_row(("source", "payload"), DAMAGE.values(), ids=DAMAGE)
def test_what_is_no_longer_what_it_was_is_read(source: str, payload: Json) -> None:
    for target in TARGETS:
        outcome(payload, source, target)
        assert outcome(payload, source, target, carry=True) is not None


def nested(levels: int) -> Json:
    """A value of so many levels."""
    value: Json = "x"
    for _ in range(levels):
        value = [value]
    return value


def deep(place: str) -> tuple[str, Json]:
    """A message with a value nested too deeply, in a place."""
    block: JsonObject = {
        "type": "tool_use",
        "id": "c",
        "name": "look",
        "input": {},
        place: {"x": nested(3000)},
    }
    return "anthropic", [{"role": "assistant", "content": [block]}]


REFUSED: dict[str, tuple[str, Json]] = {
    "a type that is an object": (
        "otel-genai",
        [{"role": "user", "parts": [{"type": {"type": "text"}, "content": "x"}]}],
    ),
    "a message without parts": ("otel-genai", {"role": "user"}),
    "parts that are null": ("otel-genai", {"role": "assistant", "parts": None}),
    "a member nested too deeply": deep("more"),
    "an input nested too deeply": deep("input"),
}


@each_row(("source", "payload"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_read_is_refused(source: str, payload: Json) -> None:
    with pytest.raises(PartitaError):
        assert convert(payload, source, "canonical").lossless


def test_what_was_given_stays_as_it_was() -> None:
    part = {"type": "output_text", "text": "", "logprobs": [{"token": "a"}]}
    at: JsonObject = {"item_id": "m", "output_index": 0, "content_index": 0}
    stream: list[Json] = [
        {
            "type": "response.output_item.added",
            "output_index": 0,
            "item": {"id": "m", "type": "message", "role": "assistant", "content": []},
        },
        {"type": "response.content_part.added", **at, "part": part},
        {"type": "response.output_text.delta", **at, "delta": "b", "logprobs": [{"token": "b"}]},
    ]
    convert(stream, "openai-responses", "canonical")
    assert part["logprobs"] == [{"token": "a"}]


def test_a_member_of_another_format_takes_no_place_that_means_something_else() -> None:
    file = {"url": "https://example.com/a.png", "contentType": "image/png", "name": "a.png", "type": "text"}
    message = {"id": "u", "role": "user", "content": "", "parts": [], "experimental_attachments": [file]}
    found = convert([message], "ai-sdk-ui-v4", "ai-sdk-ui-v7")
    part = found.payload[0]["parts"][-1]
    assert part["type"] == "file"
    assert part["providerMetadata"] == {"ai-sdk-ui-v4": {"type": "text"}}
