"""Recorded payloads by format, where the folder that holds them is there."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from partita.types.json import Json, is_array, loads
from tests.converting import read_payload

CORPORA = Path(__file__).parents[2] / "shared" / "corpora"
FAMILIES = {
    "anthropic": "anthropic",
    "gemini": "gemini",
    "openai-chat": "openai-chat",
    "openai-compatible": "openai-chat",
    "openai-responses": "openai-responses",
}
"""Folders of recordings, and the format of what is in them."""


class Recording(NamedTuple):
    """A payload that was recorded: its name, its format, and where it is."""

    name: str
    format: str
    path: Path
    line: int | None = None
    member: str = ""

    def payload(self) -> Json:
        """What was recorded."""
        if self.line is None:
            return read_payload(self.path)
        return loads(self.path.read_bytes().splitlines()[self.line])[self.member]


def recordings() -> list[Recording]:
    """All of them."""
    return [*_providers(), *_mastra(), *_cherry(), *_ui(), *_logs()]


def _providers() -> Iterator[Recording]:
    for folder, format_ in FAMILIES.items():
        for path in sorted((CORPORA / "providers" / folder).glob("*.json*")):
            yield Recording(f"{folder}/{path.name}", format_, path)
    for path in sorted((CORPORA / "providers" / "aisdk-chunks").glob("*.jsonl")):
        yield Recording(f"chunks/{path.name}", "ai-sdk-chunks", path)


def _lines(path: Path, format_: str, member: str, needs: str = "") -> Iterator[Recording]:
    for number, line in enumerate(path.read_bytes().splitlines() if path.is_file() else ()):
        case = loads(line)
        if not needs or case["kind"] == needs:
            yield Recording(f"{path.stem}/{case['id']}", format_, path, number, member)


def _mastra() -> Iterator[Recording]:
    yield from _lines(CORPORA / "mastra" / "network-payloads.jsonl", "mastra-v2", "input", "network-row")


def _cherry() -> Iterator[Recording]:
    yield from _lines(CORPORA / "cherry" / "claude-sdk-messages.jsonl", "claude-code-stream", "input")


def _ui() -> Iterator[Recording]:
    path = CORPORA / "ai-sdk" / "model_messages.jsonl"
    for one in _lines(path, "ai-sdk-ui-v7", "messages"):
        if is_array(one.payload()):
            yield one


LOGS = {
    "codex/scenarios/*.jsonl": "codex-rollout",
    "codex/single/*.jsonl": "codex-rollout",
    "codex/exec-json/*.jsonl": "codex-exec",
    "gemini/json/*.json": "gemini-cli",
    "gemini/jsonl/*.jsonl": "gemini-cli",
    "opencode/export/*.json": "opencode-export",
    "opencode/parts-jsonl/*.jsonl": "opencode-parts",
    "claude-code/scenarios/**/*.jsonl": "claude-code-log",
    "claude-code/single/*.jsonl": "claude-code-log",
    "claude-code/stream-json/*.jsonl": "claude-code-stream",
}
LARGEST = 200_000
"""Logs of more bytes are left to the tests of logs."""


def _logs() -> Iterator[Recording]:
    for pattern, format_ in LOGS.items():
        for path in sorted((CORPORA / "agent-logs").glob(pattern)):
            if path.stat().st_size <= LARGEST:
                yield Recording(f"{format_}/{path.name}", format_, path)
