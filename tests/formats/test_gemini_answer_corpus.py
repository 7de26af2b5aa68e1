"""Recorded answers of Gemini, and what others made of them."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Final

from partita.formats.model_view import model_view
from partita.types.codec import encode
from partita.types.json import Json, JsonObject, loads
from partita.types.messages import UserMessage
from tests.formats.gemini_answers import build_request, decode, fold
from tests.provider_truth.reading import chunks_of, truth_of
from tests.recordings import answers, cases_in, sdk_chunks, truth_about

# What each recording amounts to


def same_calls(ours: Json, theirs: Json) -> bool:
    """Whether calls are the same; where the provider told no id or no text of the input, any will do."""
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


def test_every_recording_amounts_to_what_is_known_of_it() -> None:
    wrong: JsonObject = {}
    for file in answers("gemini"):
        ours = truth_of("gemini", file)
        for key, theirs in truth_about(file).items():
            if not SAME.get(key, equal)(ours.get(key), theirs):
                wrong[f"{file.name}: {key}"] = (ours.get(key), theirs)
    assert not wrong


# Beside the chunks of the AI SDK

MEANT: Final = {
    "derived-max-tokens": "texts before and after code are two, in order; there one text goes on around it",
    "fb-googleai-streaming-success-code-execution": "the same",
    "fb-googleai-streaming-success-citations": "a page whose words are repeated is a source",
    "fb-vertex-streaming-failure-recitation-no-content": "the same",
    "gemini-recited": "the same",
    "pai-google-model-file-search-grounding-gemini-3-true-s4": "a document is a source, as in a body there",
}
"""Where our chunks are others on purpose.

Levelled out by `plain`: we keep what is not understood as data, give citations to texts, say more in
metadata, and know more of the end. Invented ids are ours, and where the provider told an id, ours is that.
"""


def plain(chunk: JsonObject) -> JsonObject | None:
    """A chunk without what only one side tells."""
    if chunk["type"].startswith("data-google"):
        return None
    hidden = {"messageId", "messageMetadata", "citations"}
    return {key: value for key, value in chunk.items() if key not in hidden}


def differs(ours: JsonObject, theirs: JsonObject, ids: dict[str, str]) -> bool:
    """Whether two chunks tell different things. Ids are the same if they always stand for each other."""
    for key in ("toolCallId", "sourceId"):
        if key in theirs and ids.setdefault(theirs[key], ours.get(key, "")) != ours.get(key):
            return True
    ids_and_metadata = {"toolCallId", "sourceId", "providerMetadata"}
    told = {key: value for key, value in theirs.items() if key not in ids_and_metadata}
    metadata = theirs.get("providerMetadata", {}).get("google", {})
    kept = ours.get("providerMetadata", {}).get("google", {})
    return told != {key: value for key, value in ours.items() if key not in ids_and_metadata} or any(
        kept.get(key) != value for key, value in metadata.items()
    )


def first_difference(ours: list[JsonObject], theirs: list[JsonObject]) -> Json:
    ids: dict[str, str] = {}
    for place, pair in enumerate(zip(ours, theirs, strict=False)):
        if differs(*pair, ids):
            return [place, *pair]
    return None if len(ours) == len(theirs) else [len(ours), len(theirs)]


def test_streams_are_told_in_the_chunks_of_the_ai_sdk() -> None:
    different: JsonObject = {}
    for file in answers("gemini", ".jsonl"):
        ours = [plain(loads(encode(chunk))) for chunk in chunks_of("gemini", file)[0]]
        theirs = [plain(chunk) for chunk in sdk_chunks(file)]
        found = first_difference([c for c in ours if c], [c for c in theirs if c])
        if found is not None and file.stem not in MEANT:
            different[file.stem] = found
        if found is None and file.stem in MEANT:
            different[file.stem] = "the same after all"
    assert not different


# Cut anywhere, and sent back


@cache
def recorded() -> dict[str, list[JsonObject]]:
    return {file.stem: cases_in(file) for file in answers("gemini", ".jsonl")}


def signatures(parts: list[JsonObject]) -> list[str]:
    return [part["thoughtSignature"] for part in parts if "thoughtSignature" in part]


def test_signatures_of_recordings_go_back_byte_for_byte() -> None:
    asked = UserMessage(id="u", content="-")
    changed: JsonObject = {}
    for name, events in recorded().items():
        came = [part for event in events for part in parts_in(event)]
        view = model_view([asked, fold(decode(events)), asked])
        sent = build_request(view.messages, model="gemini-2.5-pro").payload["contents"]
        went = [part for content in sent for part in content["parts"]]
        if signatures(went) != signatures(came):
            changed[name] = (signatures(went), signatures(came))
    assert not changed


def parts_in(event: JsonObject) -> list[JsonObject]:
    candidates: list[JsonObject] = event.get("candidates", [])
    return [part for candidate in candidates for part in candidate.get("content", {}).get("parts", [])]
