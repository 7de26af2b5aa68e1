"""Recorded answers of Chat Completions with known truth."""

from collections.abc import Iterator
from pathlib import Path

from partita.formats.format import Request
from partita.formats.openai_chat.dialects import DIALECTS
from partita.formats.openai_chat.format import OVER, dump, load
from partita.formats.openai_chat.stream import ChatDecoder
from partita.stream.accumulator import Accumulator
from partita.types.codec import to_json
from partita.types.json import JsonObject
from tests.converting import read_payload
from tests.provider_truth.reading import chunks_of, truth_of
from tests.recordings import (
    answers,
    at_least,
    cases_in,
    files,
    is_own,
    name_of,
    sdk_chunks,
    truth_about,
)
from tests.tables import each_row

FAMILIES = ("openai-chat", "openai-compatible")

DEVIATIONS = {
    "derived-cut-mid-tool-arguments": "a call that was cut stays open instead of failing",
    "oaipy-multiple-choices": "the other choices are not mixed into the first",
    "lc-web-search-s1": "tools that the server ran are told",
    "pai-snowflake-model-streaming": "without a reason a stream is interrupted, which is no error",
}
"""Streams of which we make other chunks than the AI SDK, and why."""


def difference(found: JsonObject, truth: JsonObject) -> JsonObject:
    """The fields that differ. Inputs of the server's tools are not in the truth."""
    finish = found["finish"]
    found = {
        **found,
        "finish": {**truth["finish"], "raw": finish["raw"]}
        if finish["unified"] in truth["finish"]["accept"]
        else finish,
        "server_tools": [{"id": tool["id"], "name": tool["name"]} for tool in found["server_tools"]],
    }
    return {key: (found.get(key), value) for key, value in truth.items() if found.get(key) != value}


@each_row("family", FAMILIES)
def test_every_recording_amounts_to_the_truth(family: str) -> None:
    wrong = {
        name_of(path): told
        for path in answers(family)
        if (told := difference(truth_of(family, path), truth_about(path)))
    }
    assert not wrong


def test_every_stream_gives_the_chunks_of_the_ai_sdk() -> None:
    wrong: dict[str, tuple[JsonObject | None, JsonObject | None]] = {}
    for family in FAMILIES:
        for path in answers(family, ".jsonl"):
            if path.stem not in DEVIATIONS:
                ours = [to_json(chunk) for chunk in chunks_of(family, path)[0]]
                found, expected = list(alike(ours)), list(alike(sdk_chunks(path)))
                if found != expected:
                    wrong[path.stem] = next(pair for pair in _pairs(found, expected) if pair[0] != pair[1])
    assert not wrong


def _pairs(
    found: list[JsonObject], expected: list[JsonObject]
) -> Iterator[tuple[JsonObject | None, JsonObject | None]]:
    for place in range(max(len(found), len(expected))):
        yield (
            found[place] if place < len(found) else None,
            expected[place] if place < len(expected) else None,
        )


def alike(chunks: list[JsonObject]) -> Iterator[JsonObject]:
    """Chunks as they can be compared.

    Ids that were made up are numbered, pieces and texts without words are left out, as is what only one of
    us says in metadata. Where one text ends and the next begins at once, their packages differ in the order.
    """
    spoken = {chunk["id"] for chunk in chunks if chunk.get("delta")}
    numbers: dict[str, str] = {}
    held: JsonObject | None = None
    for chunk in chunks:
        kind, kept = chunk["type"], _without_metadata(chunk)
        if "id" in chunk:
            if chunk["id"] not in spoken or (kind.endswith("-delta") and not chunk["delta"]):
                continue
            number = numbers.setdefault(chunk["id"], f"{kind.partition('-')[0]}-{len(numbers)}")
            kept["id"] = number
        if kind == "tool-input-delta" and not chunk["inputTextDelta"]:
            continue
        if kind == "text-start":
            held = kept
            continue
        if held is not None and kind != "reasoning-end":
            yield held
            held = None
        yield kept


UNEQUAL = ("providerMetadata", "messageMetadata", "messageId", "finishReason", "sourceId", "citations")


def _without_metadata(chunk: JsonObject) -> JsonObject:
    return {key: value for key, value in chunk.items() if key not in UNEQUAL}


def test_every_stream_folds_wherever_it_is_cut() -> None:
    """Each stream is cut at a few places; a prefix that gives no reason is told as interrupted."""
    for family in FAMILIES:
        for path in answers(family, ".jsonl"):
            events = cases_in(path)
            for cut in {0, 1, len(events) // 2, len(events) - 1}:
                assert _reason(events[:cut]), (path.name, cut)


def _reason(events: list[JsonObject]) -> str | None:
    decoder = ChatDecoder()
    accumulator = Accumulator(id="message")
    for chunk in [chunk for event in events for chunk in decoder.feed(event)] + decoder.finish():
        accumulator.feed(chunk)
    return accumulator.finish_reason


def test_every_request_comes_back_as_it_was_but_for_repairs_that_are_told() -> None:
    """Of the shared ones two lack a reasoning that DeepSeek now requires, one has a picture in a result, and
    one has the reasoning of an earlier turn, which vLLM does not take back.
    """
    servers = {"deepseek": "deepseek", "ollama": "vllm"}
    repaired: list[Path] = []
    for path in files("providers", "openai-c*/*.request.json"):
        server = next((server for word, server in servers.items() if word in path.name), "openai")
        payload = read_payload(path)
        loaded = load(payload, DIALECTS[server])
        dumped = dump(loaded.messages, loaded.request or Request(), dialect=DIALECTS[server])
        assert not loaded.losses, path.name
        told = {loss.severity for loss in dumped.losses}
        assert {loss.severity for loss in dumped.losses if loss.why != OVER} <= {"repaired"}, path.name
        assert (dumped.payload == payload) is not bool(told), path.name
        repaired += [path] if told else []
    assert not list(filter(is_own, repaired))
    assert len(repaired) == at_least(0, 4)
