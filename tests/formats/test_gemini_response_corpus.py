"""Recorded Gemini responses compared with known facts and with the chunks of the AI SDK."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Final

from partita.formats.model_view import model_view
from partita.types.codec import encode
from partita.types.json import Json, JsonObject, loads
from partita.types.messages import UserMessage
from tests.decoding import accumulated
from tests.formats.gemini_responses import build_request, decode
from tests.provider_truth.reading import chunks_of, truth_of
from tests.recordings import answers, cases_in, sdk_chunks, truth_about

# Known facts


def same_calls(ours: Json, theirs: Json) -> bool:
    """Return whether calls are equal; an id or input text that the provider did not send matches anything."""
    return len(ours) == len(theirs) and all(
        value is None or call[key] == value
        for call, expected in zip(ours, theirs, strict=True)
        for key, value in expected.items()
    )


def same_finish(ours: Json, theirs: Json) -> bool:
    return bool(ours["raw"] == theirs["raw"] and ours["unified"] in theirs["accept"])


SAME: Final[Mapping[str, Callable[[Json, Json], bool]]] = {
    "tool_calls": same_calls,
    "server_tools": same_calls,
    "finish": same_finish,
}


def equal(ours: Json, theirs: Json) -> bool:
    return bool(ours == theirs)


def test_every_recording_is_read_correctly() -> None:
    wrong: JsonObject = {}
    for file in answers("gemini"):
        ours = truth_of("gemini", file)
        for key, theirs in truth_about(file).items():
            if not SAME.get(key, equal)(ours.get(key), theirs):
                wrong[f"{file.name}: {key}"] = (ours.get(key), theirs)
    assert not wrong


# Comparison with chunks of the AI SDK

DEVIATIONS: Final = {
    "derived-max-tokens": "texts before and after code are two, in order; there one text goes on around it",
    "fb-googleai-streaming-success-code-execution": "the same",
    "fb-googleai-streaming-success-citations": "a page whose words are repeated is a source",
    "fb-vertex-streaming-failure-recitation-no-content": "the same",
    "gemini-recited": "the same",
    "pai-google-model-file-search-grounding-gemini-3-true-s4": "a document is a source, as in a body there",
}
"""Recordings with intended deviations from the AI SDK.

`plain` removes general ones: we keep unknown values as data, add citations to texts, more metadata,
and finish details. Generated ids differ, and ids that the provider sent are kept.
"""


def plain(chunk: JsonObject) -> JsonObject | None:
    """Return a chunk without members that only one side has."""
    if chunk["type"].startswith("data-google"):
        return None
    hidden = {"messageId", "messageMetadata", "citations"}
    return {key: value for key, value in chunk.items() if key not in hidden}


def differs(ours: JsonObject, theirs: JsonObject, ids: dict[str, str]) -> bool:
    """Return whether two chunks differ. Ids match if each one always corresponds to the same other id."""
    for key in ("toolCallId", "sourceId"):
        if key in theirs and ids.setdefault(theirs[key], ours.get(key, "")) != ours.get(key):
            return True
    ids_and_metadata = {"toolCallId", "sourceId", "providerMetadata"}
    values = {key: value for key, value in theirs.items() if key not in ids_and_metadata}
    metadata = theirs.get("providerMetadata", {}).get("google", {})
    kept = ours.get("providerMetadata", {}).get("google", {})
    return values != {key: value for key, value in ours.items() if key not in ids_and_metadata} or any(
        kept.get(key) != value for key, value in metadata.items()
    )


def first_difference(ours: list[JsonObject], theirs: list[JsonObject]) -> Json:
    ids: dict[str, str] = {}
    for place, pair in enumerate(zip(ours, theirs, strict=False)):
        if differs(*pair, ids):
            return [place, *pair]
    return None if len(ours) == len(theirs) else [len(ours), len(theirs)]


def test_streams_give_the_chunks_of_the_ai_sdk() -> None:
    different: JsonObject = {}
    for file in answers("gemini", ".jsonl"):
        ours = [plain(loads(encode(chunk))) for chunk in chunks_of("gemini", file)[0]]
        theirs = [plain(chunk) for chunk in sdk_chunks(file)]
        found = first_difference([c for c in ours if c], [c for c in theirs if c])
        if found is not None and file.stem not in DEVIATIONS:
            different[file.stem] = found
        if found is None and file.stem in DEVIATIONS:
            different[file.stem] = "not a deviation"
    assert not different


# Sending back


@cache
def recorded() -> dict[str, list[JsonObject]]:
    return {file.stem: cases_in(file) for file in answers("gemini", ".jsonl")}


def signatures(parts: list[JsonObject]) -> list[str]:
    return [part["thoughtSignature"] for part in parts if "thoughtSignature" in part]


def test_signatures_of_recordings_round_trip() -> None:
    asked = UserMessage(id="u", content="-")
    changed: JsonObject = {}
    for name, events in recorded().items():
        came = [part for event in events for part in parts_in(event)]
        view = model_view([asked, accumulated(decode(events)), asked])
        sent = build_request(view.messages, model="gemini-2.5-pro").payload["contents"]
        went = [part for content in sent for part in content["parts"]]
        if signatures(went) != signatures(came):
            changed[name] = (signatures(went), signatures(came))
    assert not changed


def parts_in(event: JsonObject) -> list[JsonObject]:
    candidates: list[JsonObject] = event.get("candidates", [])
    return [part for candidate in candidates for part in candidate.get("content", {}).get("parts", [])]
