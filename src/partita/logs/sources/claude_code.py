"""Claude Code. Its home: https://docs.claude.com/en/docs/claude-code/settings

| path below the home | holds |
|---|---|
| `projects/KEY/SESSION.jsonl` | a session |
| `projects/KEY/agent-NAME.jsonl` | a sub-agent, from 2.0.28 to 2.0.55 |
| `projects/KEY/SESSION/subagents/**/agent-NAME.jsonl` | a sub-agent, from 2.1.17 |
| `…/agent-NAME.meta.json` | what is known of a sub-agent besides its log: its sidecar |

Where not documented, seen in recordings.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from partita.errors import PartitaError
from partita.lazy import lazy_function
from partita.logs.lines.heads import first_values
from partita.types.json import Json, JsonObject, is_object

from .source import (
    Environment,
    Folders,
    LogFile,
    LogFormat,
    LogSource,
    PathInfo,
    SubAgentFiles,
    first_text,
    is_uuid,
    stem_of,
    stream_decoder,
)

AGENT: Final = "claude-code"
PREFIX: Final = "agent-"
"""The prefix of the files of sub-agents."""

SIDECAR: Final = ".meta.json"
FOLDER: Final = "subagents"

LISTS: Final = frozenset({"journal.jsonl", "history.jsonl"})
"""Lists of prompts and of sub-agents."""


# Where the logs are


def _homes(environment: Environment) -> Iterator[Path]:
    named = environment.paths("CLAUDE_CONFIG_DIR")
    if named:
        yield from (path.parent if path.name == "projects" else path for path in named)
        return
    yield environment.home / ".claude"
    yield (environment.path("XDG_CONFIG_HOME") or environment.home / ".config") / "claude"


def _may_contain(folders: Folders) -> bool:
    match folders:
        case () | ("projects",) | ("projects", _):
            return True
        case ("projects", _, session):
            return session != "memory"
        case ("projects", _, _, "subagents", *_):
            return True
        case _:
            return False


def _classify(folders: Folders, name: str) -> PathInfo | None:
    if not name.endswith(".jsonl") or name in LISTS:
        return None
    match folders:
        case ("projects", _) if name.startswith(PREFIX):
            return PathInfo("subagent")  # only its records name the session
        case ("projects", _):
            return PathInfo("session", name.removesuffix(".jsonl"))
        case ("projects", _, session, "subagents", *_):
            return PathInfo("subagent", session)
        case _:
            return None


# What files outside of a home are


def _is_certain(info: PathInfo, name: str) -> bool:
    return info.kind != "session" or is_uuid(info.session or "")


def _is_named(name: str) -> bool:
    return is_uuid(name.partition(".")[0]) or name.startswith(PREFIX)


def _recognize(record: JsonObject, name: str) -> str | None:
    stem = name.partition(".")[0]
    is_own = is_uuid(stem) and record.get("sessionId") == stem and isinstance(record.get("type"), str)
    return "records of the session that names the file" if is_own else None


def _path_info(path: Path) -> PathInfo | None:
    if not path.name.startswith(PREFIX):
        return None
    session = path.parent.parent.name if path.parent.name == FOLDER else ""
    return PathInfo("subagent", session if is_uuid(session) else None)


def _session_id(stem: str, records: Sequence[JsonObject]) -> str | None:
    return stem if is_uuid(stem) or stem.startswith(PREFIX) else first_text(records, "sessionId")


def _is_ignored(name: str) -> bool:
    return name in LISTS or name.endswith(SIDECAR)


def _log_path(path: Path) -> Path:
    name = path.name
    return path.with_name(name.removesuffix(SIDECAR) + ".jsonl") if name.endswith(SIDECAR) else path


# Sub-agents


def _agent_name(path: Path) -> str:
    return stem_of(path).removeprefix(PREFIX)


def _find_agents(session: Path) -> Iterator[Path]:
    stem = stem_of(session)
    for folder in (session.parent / stem / FOLDER, session.parent / FOLDER):
        if folder.is_dir():
            yield from sorted(folder.rglob(f"{PREFIX}*.jsonl*"))
    for path in sorted(session.parent.glob(f"{PREFIX}*.jsonl*")):
        if path != session and _session_of(path) == stem:
            yield path


def _session_of(agent: Path) -> Json:
    """The session that the records of a sub-agent name."""
    try:
        values = first_values(agent)
    except PartitaError:
        return None
    return next((value.get("sessionId") for value in values if is_object(value)), None)


def _owners(files: Sequence[LogFile]) -> Mapping[LogFile, LogFile]:
    sessions = [file for file in files if file.kind != "subagent"]
    named = {stem_of(file.path): file for file in sessions}
    in_folder = {file.path.parent: file for file in sessions}
    owners: dict[LogFile, LogFile] = {}
    for file in files:
        if file.kind == "subagent":
            owner = named.get(str(file.session or _session_of(file.path)))
            if owner is None and file.path.parent.name == FOLDER:
                folder = file.path.parent.parent
                owner = named.get(folder.name) or in_folder.get(folder)
            if owner is not None:
                owners[file] = owner
    return owners


def _session_path(agent: LogFile) -> Path | None:
    if agent.kind != "subagent" or agent.session is None:
        return None
    for folder in agent.path.parents:
        path = folder / f"{agent.session}.jsonl"
        if path.is_file():
            return path
        if folder.name == "projects":
            break
    return None


def sidecar_of(path: Path) -> Path | None:
    """The sidecar of a sub-agent's log, if it exists."""
    if not path.name.startswith(PREFIX):
        return None
    sidecar = path.with_name(path.name.partition(".jsonl")[0] + SIDECAR)
    return sidecar if sidecar.is_file() else None


def _call_of(agent: Path) -> str | None:
    """The call that the sidecar of a sub-agent names."""
    sidecar = sidecar_of(agent)
    if sidecar is None:
        return None
    try:
        found: Json = msgspec.json.decode(sidecar.read_bytes())
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    call = found.get("toolUseId") if is_object(found) else None
    return call if isinstance(call, str) else None


SOURCE: Final = LogSource(
    agent=AGENT,
    formats=(
        LogFormat(
            "claude-code-log",
            AGENT,
            lazy_function("partita.formats.claude_code.log.ClaudeLogDecoder"),
            session_id=_session_id,
            is_session_in_name=True,
            path_info=_path_info,
            agent_keys=lazy_function("partita.formats.claude_code.log.agent_keys"),
        ),
        LogFormat(
            "claude-code-stream",
            AGENT,
            stream_decoder("partita.formats.claude_code.stream.ClaudeStreamDecoder"),
            kind="stream",
        ),
    ),
    resume=("claude", "--resume", "{session}"),  # https://code.claude.com/docs/en/cli-reference
    homes=_homes,
    watched=("projects",),
    may_contain=_may_contain,
    classify=_classify,
    is_certain=_is_certain,
    is_named=_is_named,
    recognize=_recognize,
    is_ignored=_is_ignored,
    log_path=_log_path,
    sub_agents=SubAgentFiles(
        name=_agent_name,
        find=_find_agents,
        owners=_owners,
        session=_session_path,
        call=_call_of,
    ),
)
