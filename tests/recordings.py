"""Recorded payloads by format: our own in `tests/fixtures`, and the shared corpora if they exist.

Both folders have the same layout, so tests read all `ROOTS` in the same way. All of our own
recordings are read, and a sample of the shared ones, or all with `PARTITA_FULL=1`.
"""

import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from partita.logs.files import find_logs
from partita.logs.sources.source import LogFile
from partita.types.json import Json, JsonObject, is_array, loads
from tests.converting import read_payload
from tests.sampling import sampled

T = TypeVar("T")

FIXTURES: Final = Path(__file__).parent / "fixtures"
CORPORA: Final = Path(__file__).parents[2] / "shared" / "corpora"
ROOTS: Final = [FIXTURES, *([CORPORA] if CORPORA.is_dir() else [])]

FAMILIES = {
    "anthropic": "anthropic",
    "bedrock": "bedrock-converse",
    "cohere": "cohere",
    "gemini": "gemini",
    "openai-chat": "openai-chat",
    "openai-compatible": "openai-chat",
    "openai-responses": "openai-responses",
}
"""Folders of recordings, and the format of their content."""


def at_least(own: int, shared: int) -> int:
    """Return the minimum number of cases: of ours, and of the shared ones if they exist."""
    return own + shared * (len(ROOTS) - 1)


def is_own(path: Path) -> bool:
    """Return whether a recording is one of ours."""
    return path.is_relative_to(FIXTURES)


def folders(name: str) -> list[Path]:
    """Return a folder or a file in every root that has it."""
    return [root / name for root in ROOTS if (root / name).exists()]


def files(folder: str, *patterns: str) -> list[Path]:
    """Return the files of a folder in every root."""
    return [
        path
        for place in folders(folder)
        for path in sorted({path for pattern in patterns for path in place.glob(pattern)})
    ]


def chosen(paths: Iterable[Path], one_in: int) -> list[Path]:
    """Return all of our own recordings, and one in `one_in` of the others."""
    found = list(paths)
    others = sampled((path for path in found if not is_own(path)), one_in, key=lambda path: path.name)
    return [*(path for path in found if is_own(path)), *others]


@cache
def read_json(path: Path) -> JsonObject:
    """Return the content of a JSON file that several tests read."""
    found: JsonObject = loads(path.read_bytes())
    return found


@cache
def cases_in(path: Path) -> list[JsonObject]:
    """Return the cases of a file: one per line."""
    return [loads(line) for line in path.read_bytes().splitlines() if line.strip()]


def cases(name: str) -> list[JsonObject]:
    """Return the cases of a file in every root."""
    return [case for path in folders(name) for case in cases_in(path)]


# Recordings of providers


def answers(family: str, *endings: str) -> list[Path]:
    """Return the recorded responses of a family: streams and bodies, or those with one of the endings."""
    return files(f"providers/{family}", *(f"*{ending}" for ending in endings or (".jsonl", ".response.json")))


def name_of(path: Path) -> str:
    """Return the name of a recorded response, without its last ending."""
    return path.name.removesuffix(".jsonl").removesuffix(".json")


def truth_about(path: Path) -> JsonObject:
    """Return the known facts about a recorded response."""
    found: JsonObject = read_json(path.parents[1] / "truth.json")[f"{path.parent.name}/{name_of(path)}"]
    return found


def sdk_chunks(path: Path) -> list[JsonObject]:
    """Return the chunks of the AI SDK for a recorded stream."""
    return cases_in(path.parents[1] / "aisdk-chunks" / path.name)


def sdk_package(path: Path) -> str:
    """Return the package of the AI SDK that read a recorded stream."""
    index = read_json(path.parents[1] / "aisdk-chunks" / "index.json")
    return str(index[path.stem]["package"])


# Logs of agents

LEFT: Final = 1_700_000_000
"""The time of the files: long ago, so that their agents count as finished."""


def counted(path: Path) -> JsonObject:
    """Return the recorded counts of a log, which is a file or a folder."""
    (root,) = (root for root in ROOTS if path.is_relative_to(root))
    name = path.relative_to(root / "agent-logs").as_posix()
    found: JsonObject = read_json(root / "agent-logs" / "truth.json")["files"][name + "/" * path.is_dir()]
    return found


def sessions(copy: Path, one_in: int) -> list[LogFile]:
    """Return our own logs, copied to a separate folder, and one in `one_in` of the others."""
    shutil.copytree(FIXTURES / "agent-logs", copy)
    for path in copy.rglob("*"):
        os.utime(path, (LEFT, LEFT))
    found = list(find_logs([copy]).files)
    for root in ROOTS[1:]:
        others = find_logs([root / "agent-logs"]).files
        found += sampled(others, one_in, key=lambda file: file.session or file.path.name)
    return found


# Recordings of any format


class Recording(NamedTuple):
    """A recorded payload: its name, its format, and its file."""

    name: str
    format: str
    path: Path
    line: int | None = None
    member: str = ""

    def payload(self) -> Json:
        """Return the recorded payload."""
        if self.line is None:
            return read_payload(self.path)
        return loads(self.path.read_bytes().splitlines()[self.line])[self.member]

    @property
    def size(self) -> int:
        """The size in bytes of the file, or the average size of its lines."""
        size = self.path.stat().st_size
        return size if self.line is None else size // len(cases_in(self.path))


@cache
def recordings(root: Path | None = None) -> list[Recording]:
    """Return all recordings, or those of one root."""
    roots = ROOTS if root is None else [root]
    kinds: list[Callable[[Path], Iterator[Recording]]] = [_providers, _mastra, _cherry, _ui, _logs]
    return [recording for kind in kinds for root in roots for recording in kind(root)]


def _providers(root: Path) -> Iterator[Recording]:
    for folder, format_ in FAMILIES.items():
        for path in sorted((root / "providers" / folder).glob("*.json*")):
            yield Recording(f"{folder}/{path.name}", format_, path)
    for path in sorted((root / "providers" / "aisdk-chunks").glob("*.jsonl")):
        yield Recording(f"chunks/{path.name}", "ai-sdk-chunks", path)


def _lines(path: Path, format_: str, member: str, needs: str = "") -> Iterator[Recording]:
    for number, case in enumerate(cases_in(path) if path.is_file() else ()):
        if not needs or case["kind"] == needs:
            yield Recording(f"{path.stem}/{case['id']}", format_, path, number, member)


def _mastra(root: Path) -> Iterator[Recording]:
    yield from _lines(root / "mastra" / "network-payloads.jsonl", "mastra-v2", "input", "network-row")


def _cherry(root: Path) -> Iterator[Recording]:
    yield from _lines(root / "cherry" / "claude-sdk-messages.jsonl", "claude-code-stream", "input")


def _ui(root: Path) -> Iterator[Recording]:
    path = root / "ai-sdk" / "model_messages.jsonl"
    for one in _lines(path, "ai-sdk-ui-v7", "messages"):
        assert one.line is not None
        case = cases_in(path)[one.line]
        if is_array(case["messages"]) and "broken:bad-role" not in case["tags"]:
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
"""Larger logs are only read by the tests of logs."""


def _logs(root: Path) -> Iterator[Recording]:
    for pattern, format_ in LOGS.items():
        for path in sorted((root / "agent-logs").glob(pattern)):
            if path.stat().st_size <= LARGEST:
                yield Recording(f"{format_}/{path.name}", format_, path)
