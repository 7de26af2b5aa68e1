"""Detection of recordings: all of ours, and a sample of the shared ones or all with `PARTITA_FULL=1`."""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from partita.formats.detection.guess import sniff
from partita.types.json import Json, JsonObject, is_array, is_object, loads
from tests.converting import read_payload
from tests.recordings import FAMILIES as PROVIDERS
from tests.recordings import cases_in, chosen, files, folders, is_own
from tests.sampling import FULL, sampled
from tests.tables import each_row

ONE_IN: Final = 12
"""The sample of shared recordings: one in this many."""


def cases(*path: str) -> list[JsonObject]:
    found: list[JsonObject] = []
    for file in folders("/".join(path)):
        known = cases_in(file)
        found += known if is_own(file) else sampled(known, ONE_IN, lambda case: case["id"])
    return found


def detected(payload: Json) -> str:
    return next((guess.format for guess in sniff(payload)), "")


def misdetected(found: Iterable[tuple[str, Json]], *starts: str) -> dict[str, str]:
    """Return what was detected as another format."""
    found_formats = {name: detected(payload) for name, payload in found}
    assert found_formats
    return {name: format_ for name, format_ in found_formats.items() if not format_.startswith(starts)}


def is_ambiguous(folder: str, payload: Json) -> bool:
    """Return whether a payload is an error that several APIs have, or has no form at all."""
    if not is_object(payload):
        return False
    is_shapeless = payload.keys() in ({"detail"}, {"this"}, {"message"}, {"id", "message"})
    return is_shapeless or (folder == "openai-responses" and "error" in payload)


@each_row("folder", PROVIDERS)
def test_recordings_of_providers_are_detected(folder: str) -> None:
    found: list[tuple[str, Json]] = []
    for path in chosen(files(f"providers/{folder}", "*.json*"), ONE_IN):
        payload = read_payload(path)
        first = next(iter(listed(payload)), None)
        if not is_ambiguous(folder, first):
            found.append((path.name, payload))
    assert misdetected(found, PROVIDERS[folder]) == {}


def test_chunks_of_mastra_are_detected() -> None:
    for name in ("agent-chunks.jsonl", "network-chunks.jsonl"):
        found = [(case["id"], case["input"]["chunks"]) for case in cases("mastra", name)]
        assert misdetected([one for one in found if one[1]], "mastra-stream") == {}


def test_messages_of_mastra_are_detected() -> None:
    """Rows without specific members have the canonical format."""
    expected = {
        "mastra-v2": ("mastra-v2", "canonical"),
        "mastra-v1": ("mastra-v1",),
        "model": ("ai-sdk-model-v",),
        "ui": ("ai-sdk-ui-v",),
        "aiv4-ui": ("ai-sdk-ui-v4",),
        "aiv5-ui": ("ai-sdk-ui-v",),
        "aiv6-ui": ("ai-sdk-ui-v",),
    }
    for case in cases("mastra", "message-list.jsonl"):
        formats = case["tags"]["formats"]
        if len(formats) == 1 and formats[0] in expected:
            added = [(case["id"], one["messages"]) for one in case["input"]["ops"] if one["op"] == "add"]
            specific = [one for one in added if any(is_object(item) and item for item in listed(one[1]))]
            assert not specific or misdetected(specific, *expected[formats[0]]) == {}


def listed(payload: Json) -> list[Json]:
    return payload if is_array(payload) else [payload]


def test_ui_messages_are_detected() -> None:
    known = cases("ai-sdk", "model_messages.jsonl")
    found = [(case["id"], case["messages"]) for case in known if case["messages"]]
    assert misdetected(found, "ai-sdk-ui-v") == {}
    shown = [(case["id"], [case["input"]]) for case in cases("mastra", "ui-roundtrip.jsonl")]
    assert misdetected(shown, "ai-sdk-ui-v") == {}


def test_model_messages_are_detected() -> None:
    found = [
        (case["id"], expected["result"])
        for case in cases("ai-sdk", "model_messages.jsonl")
        for expected in case["expected"].values()
        if expected.get("result")
    ]
    assert misdetected(found, "ai-sdk-model-v") == {}


def test_ui_chunks_are_detected() -> None:
    found = [
        (case["id"], case["chunks"]) for case in cases("ai-sdk", "accumulate.jsonl") if case.get("chunks")
    ]
    assert misdetected(found, "ai-sdk-chunks") == {}


def test_messages_of_the_agent_sdk_are_detected() -> None:
    found = [(case["id"], case["input"]) for case in cases("cherry", "claude-sdk-messages.jsonl")]
    assert misdetected(found, "claude-code-stream") == {}


LOGS: Final = {
    "claude-code/single": "claude-code-log",
    "claude-code/scenarios": "claude-code-log",
    "codex/exec-json": "codex-exec",
    "codex/scenarios": "codex-rollout",
    "gemini/jsonl": "gemini-cli",
    "opencode/parts-jsonl": "opencode-parts",
}


def test_agent_logs_are_detected() -> None:
    for folder, format_ in LOGS.items():
        paths = files(f"agent-logs/{folder}", "*.jsonl")
        few = paths if FULL else [*filter(is_own, paths), *[path for path in paths if not is_own(path)][:2]]
        found = [(path.name, [loads(line) for line in head(path)]) for path in few]
        assert misdetected(found, format_) == {}


def head(path: Path) -> list[bytes]:
    """Return the first complete lines."""
    return [line for line in path.read_bytes().splitlines()[:50] if line.strip().endswith(b"}")]
