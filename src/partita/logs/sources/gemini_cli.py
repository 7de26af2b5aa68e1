"""Gemini CLI: https://github.com/google-gemini/gemini-cli/blob/main/docs/cli/session-management.md

| path below the home | holds |
|---|---|
| `tmp/PROJECT/chats/session-TIME-ID.jsonl` | a chat; the name has the first 8 characters of its id |
| `tmp/PROJECT/chats/session-TIME-ID.json` | a chat of an older version: one document |
| `tmp/PROJECT/chats/SESSION/NAME.jsonl` | a sub-agent |
"""

import glob
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from partita.lazy import lazy_function

from .source import (
    Environment,
    Folders,
    LogFile,
    LogFormat,
    LogSource,
    PathInfo,
    SubAgentFiles,
    is_uuid,
    stem_of,
    stream_decoder,
)

AGENT: Final = "gemini-cli"
PREFIX: Final = "session-"
SHORT: Final = 8
"""The length of the ids in the names of chats."""


def _homes(environment: Environment) -> Iterator[Path]:
    yield (environment.path("GEMINI_CLI_HOME") or environment.home) / ".gemini"


def _may_contain(folders: Folders) -> bool:
    match folders:
        case () | ("tmp",) | ("tmp", _) | ("tmp", _, "chats") | ("tmp", _, "chats", _):
            return True
        case _:
            return False


def _classify(folders: Folders, name: str) -> PathInfo | None:
    if not name.endswith((".json", ".jsonl")):
        return None
    match folders:
        case ("tmp", _, "chats"):
            return PathInfo("document" if name.endswith(".json") else "session")
        case ("tmp", _, "chats", session):
            return PathInfo("subagent", session)
        case _:
            return None


def _is_certain(info: PathInfo, name: str) -> bool:
    return is_uuid(info.session or "") if info.kind == "subagent" else name.startswith(PREFIX)


def _is_named(name: str) -> bool:
    return name.startswith(PREFIX)


def _path_info(path: Path) -> PathInfo | None:
    return PathInfo("document") if ".json" in path.suffixes else None


# Sub-agents


def _find_agents(session: Path) -> Iterator[Path]:
    """The files in the folder that has the whole id of the session as its name."""
    short_id = stem_of(session).rpartition("-")[2] if session.name.startswith(PREFIX) else ""
    for folder in sorted(session.parent.glob(f"{glob.escape(short_id)}*")) if short_id else ():
        if folder.is_dir():
            yield from sorted(folder.glob("*.json*"))


def _owners(files: Sequence[LogFile]) -> Mapping[LogFile, LogFile]:
    chats = {stem_of(file.path).rpartition("-")[2]: file for file in files if file.kind != "subagent"}
    agents = [file for file in files if file.kind == "subagent" and file.session is not None]
    return {file: chats[name] for file in agents if (name := (file.session or "")[:SHORT]) in chats}


def _session_path(agent: LogFile) -> Path | None:
    if agent.kind != "subagent" or agent.session is None:
        return None
    chats = agent.path.parent.parent.glob(f"{PREFIX}*-{agent.session[:SHORT]}.json*")
    return next(iter(sorted(chats)), None)


SOURCE: Final = LogSource(
    agent=AGENT,
    formats=(
        LogFormat(
            "gemini-cli",
            AGENT,
            lazy_function("partita.formats.gemini_cli.chat.GeminiChatDecoder"),
            records=lazy_function("partita.formats.gemini_cli.chat.records_of"),
            path_info=_path_info,
        ),
        LogFormat(
            "gemini-cli-stream",
            AGENT,
            stream_decoder("partita.formats.gemini_cli.stream.GeminiStreamDecoder"),
            kind="stream",
        ),
    ),
    resume=(
        "gemini",
        "--resume",
        "{session}",
    ),  # https://github.com/google-gemini/gemini-cli/blob/main/docs/cli/session-management.md
    homes=_homes,
    watched=("tmp",),
    may_contain=_may_contain,
    classify=_classify,
    is_certain=_is_certain,
    is_named=_is_named,
    sub_agents=SubAgentFiles(name=stem_of, find=_find_agents, owners=_owners, session=_session_path),
)
