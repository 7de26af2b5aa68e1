"""Where the logs of agents live on this machine, and which of them are there."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from partita.errors import PartitaError

from .layouts import LAYOUTS, Report, walk
from .log_file import WRITE_AHEAD, LogFile, Shape, log_file

AGENTS = tuple(LAYOUTS)
"""The agents whose logs are known."""

DATABASE = "opencode.db"


def homes(
    *, home: Path | None = None, environment: Mapping[str, str] | None = None
) -> dict[str, tuple[Path, ...]]:
    """The folders under which each agent keeps what is its own, whether they exist or not."""
    environment = os.environ if environment is None else environment
    home = Path.home() if home is None else home
    return {
        "claude-code": tuple(_claude_homes(home, environment)),
        "codex": (_path(environment.get("CODEX_HOME"), home) or home / ".codex",),
        "gemini-cli": ((_path(environment.get("GEMINI_CLI_HOME"), home) or home) / ".gemini",),
        "opencode": (_opencode_home(home, environment),),
    }


def discover(
    *,
    home: Path | None = None,
    environment: Mapping[str, str] | None = None,
    roots: Mapping[str, Sequence[Path]] | None = None,
    agents: Sequence[str] | None = None,
    report: Report | None = None,
) -> tuple[LogFile, ...]:
    """Every log of the agents, each once, without opening any.

    `roots` gives other homes for an agent. A folder that may not be read is reported, and passed by.
    """
    found: dict[str, LogFile] = {}
    for agent, folders in _chosen(home, environment, roots, agents).items():
        for folder in folders:
            for file in walk(folder, LAYOUTS[agent], report or _keep_quiet):
                found.setdefault(file.identity, file)
    for path in _databases(home, environment, roots, agents):
        database = log_file(path, Shape("opencode", "database"))
        if database:
            found.setdefault(database.identity, database)
    return tuple(found.values())


def roots(
    *,
    home: Path | None = None,
    environment: Mapping[str, str] | None = None,
    roots: Mapping[str, Sequence[Path]] | None = None,
    agents: Sequence[str] | None = None,
) -> tuple[Path, ...]:
    """What to watch to learn of changes: folders, and the files of databases. Some may not be there yet."""
    chosen = _chosen(home, environment, roots, agents)
    folders = [
        folder / name for agent in chosen for folder in chosen[agent] for name in LAYOUTS[agent].watched
    ]
    databases = [
        *(folder / DATABASE for folder in chosen.get("opencode", ())),
        *(path for folder in chosen.get("opencode", ()) for path in sorted(folder.glob("opencode*.db"))),
        *_databases(home, environment, roots, agents),
    ]
    files = [path.with_name(path.name + end) for path in databases for end in ("", WRITE_AHEAD)]
    return tuple(dict.fromkeys([*folders, *files]))


def _chosen(
    home: Path | None,
    environment: Mapping[str, str] | None,
    given: Mapping[str, Sequence[Path]] | None,
    agents: Sequence[str] | None,
) -> dict[str, tuple[Path, ...]]:
    """The homes of the agents asked for, those given before those known."""
    given = given or {}
    for name in [*given, *(agents or ())]:
        if name not in LAYOUTS:
            raise PartitaError(f"no logs of {name!r} are known", hint=f"agents: {', '.join(AGENTS)}")
    known = homes(home=home, environment=environment)
    return {
        agent: tuple(given.get(agent, known[agent])) for agent in AGENTS if agents is None or agent in agents
    }


def _databases(
    home: Path | None,
    environment: Mapping[str, str] | None,
    given: Mapping[str, Sequence[Path]] | None,
    agents: Sequence[str] | None,
) -> Iterator[Path]:
    """The database of OpenCode that the environment names; a relative name is below the agent's home."""
    if "opencode" in (given or {}) or (agents is not None and "opencode" not in agents):
        return
    environment = os.environ if environment is None else environment
    named = environment.get("OPENCODE_DB", "").strip()
    if named and named != ":memory:":
        for folder in homes(home=home, environment=environment)["opencode"]:
            yield folder / named


def _claude_homes(home: Path, environment: Mapping[str, str]) -> Iterator[Path]:
    given = [_path(each, home) for each in environment.get("CLAUDE_CONFIG_DIR", "").split(",")]
    folders = [path.parent if path.name == "projects" else path for path in given if path]
    if folders:
        yield from folders
        return
    yield home / ".claude"
    yield (_path(environment.get("XDG_CONFIG_HOME"), home) or home / ".config") / "claude"


def _opencode_home(home: Path, environment: Mapping[str, str]) -> Path:
    data = _path(environment.get("XDG_DATA_HOME"), home) or home / ".local" / "share"
    return data / "opencode"


def _path(text: str | None, home: Path) -> Path | None:
    """The path that a variable holds, if it holds one; `~` is the home given, not that of the process."""
    text = (text or "").strip()
    if not text:
        return None
    return home / text[2:] if text == "~" or text.startswith(("~/", "~\\")) else Path(text)


def _keep_quiet(problem: PartitaError) -> None:
    """Pass a folder by that may not be read."""
