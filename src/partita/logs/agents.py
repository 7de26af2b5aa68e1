"""Sub-agents that have files of their own: which files, and which calls started them."""

import glob
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple, Protocol

import msgspec

from partita.errors import PartitaError
from partita.formats.claude_code.user_content import first_text
from partita.formats.log.diagnostics import Place
from partita.formats.log.sink import LogDecoder
from partita.logs.lines.blocks import open_log
from partita.logs.lines.heads import first_values
from partita.logs.lines.reader import Line, LineReader
from partita.logs.places.log_file import sidecar_of
from partita.types.json import Json, JsonObject, is_object

from .codex_agents import ROLLOUT, rollouts_below, thread_in
from .log_format import AgentHost
from .reading import LogReading

PREFIX = "agent-"
CHAT = "session-"
"""How the names of Gemini CLI's chats begin."""

DEEPEST: Final = 16
"""So far files are read while another is; those below wait until that one is done."""


class AgentLog(Protocol):
    """The own log of a sub-agent, wherever it is kept."""

    @property
    def name(self) -> str:
        """The name of the sub-agent."""
        ...

    def blocks(self) -> Iterable[bytes]:
        """Its bytes, in order."""
        ...

    def head(self) -> Sequence[Json]:
        """Its first values."""
        ...

    def call(self) -> str | None:
        """The call that started the sub-agent, if something beside the log tells it."""
        ...


class AgentFile(NamedTuple):
    """The file of a sub-agent."""

    name: str
    path: Path

    def blocks(self) -> Iterable[bytes]:
        """Its bytes, in order."""
        return open_log(self.path)

    def head(self) -> Sequence[Json]:
        """Its first values."""
        return first_values(self.path)

    def call(self) -> str | None:
        """The call that started the sub-agent, by what stands beside the file."""
        call = _sidecar(self.path).get("toolUseId")
        return call if isinstance(call, str) else None


def agent_name(path: Path) -> str:
    """The name of a sub-agent, by its file."""
    return thread_in(path.name) or path.name.partition(".")[0].removeprefix(PREFIX)


def agent_files(session: Path) -> Iterator[AgentFile]:
    """The files of the sub-agents of a session, wherever this version of the agent has put them."""
    stem = session.name.partition(".")[0]
    if stem.startswith(CHAT):
        yield from _gemini_agents(session, stem)
        return
    if stem.startswith(ROLLOUT):
        yield from (AgentFile(*rollout) for rollout in rollouts_below(session))
        return
    for folder in (session.parent / stem / "subagents", session.parent / "subagents"):
        if folder.is_dir():
            for path in sorted(folder.rglob(f"{PREFIX}*.jsonl*")):
                yield AgentFile(agent_name(path), path)
    for path in sorted(session.parent.glob(f"{PREFIX}*.jsonl*")):
        if path != session and _session_of(path) == stem:
            yield AgentFile(agent_name(path), path)


def _gemini_agents(chat: Path, stem: str) -> Iterator[AgentFile]:
    """Gemini CLI has a folder for the sub-agents of a session, named by its whole id."""
    for folder in sorted(chat.parent.glob(f"{glob.escape(stem.rpartition('-')[2])}*")):
        if folder.is_dir():
            for path in sorted(folder.glob("*.json*")):
                yield AgentFile(agent_name(path), path)


def _session_of(path: Path) -> Json:
    try:
        values = first_values(path)
    except PartitaError:
        return None
    return next((value.get("sessionId") for value in values if is_object(value)), None)


class Agents:
    """The sub-agents of a session, read when a call claims them."""

    def __init__(self, files: Iterable[AgentLog]) -> None:
        self.files: Mapping[str, AgentLog] = {file.name: file for file in files}
        self.problems: list[PartitaError] = []
        self._waiting = dict(self.files)
        self._signs: dict[str, str] = {}  # of those that wait; looked up when somebody asks
        self._hosts: list[AgentHost] = []  # the decoders that may claim one
        self._depth = 0

    @property
    def names(self) -> frozenset[str]:
        """The sub-agents that have files."""
        return frozenset(self.files)

    def attend(self, reading: LogReading) -> None:
        """Read each sub-agent's file as soon as its call is known."""
        calls = {name: file.call() for name, file in self.files.items()}
        reading.assembly.claims = {call: name for name, call in calls.items() if call is not None}
        reading.assembly.on_link = lambda name: self.read(name, reading)
        self._serve(reading.decoder, reading)

    def read(self, name: str, reading: LogReading) -> None:
        """Read a sub-agent's file, if that was not done yet."""
        if self._depth == DEEPEST:
            return
        file = self._waiting.pop(name, None)
        if file is None:
            return
        self._depth += 1
        try:
            run_id = f"{reading.thread_id}/{name}@0"
            reading.read_agent(name, _lines(file), self._decoder(name, reading), run_id)
        except PartitaError as error:
            self.problems.append(error)
            reading.diagnostics.add("the file of a sub-agent that cannot be read", Place(0, 0), str(error))
        finally:
            self._depth -= 1

    def read_rest(self, reading: LogReading) -> None:
        """Read those that no result has named: by their signs, or as what they are.

        Those that were claimed before the place where this reading began are left alone.
        """
        while rest := [name for name in self._waiting if name not in reading.known_agents]:
            for name in rest:
                if name in self._waiting:
                    self._claim(name, reading)
                    self.read(name, reading)

    def _claim(self, name: str, reading: LogReading) -> None:
        """Hang a sub-agent under the call that asked for what its file says, unless it hangs already."""
        if name in reading.assembly.linked_agents:
            return
        sign = self._sign(name, reading)
        call = next((call for host in self._hosts if (call := host.claim(sign)) is not None), None)
        if call is not None:
            reading.assembly.link(name, call)

    def _decoder(self, name: str, reading: LogReading) -> LogDecoder:
        kind, sink = reading.format, reading.agent(name)
        if kind.tells_agents:
            decoder = kind.decoder(sink, elsewhere=self.names)
        else:
            decoder = (kind.agent_decoder or kind.decoder)(sink)
        self._serve(decoder, reading)
        return decoder

    def _serve(self, decoder: LogDecoder, reading: LogReading) -> None:
        """Let a decoder ask for sub-agents, and be asked for the calls that started them."""
        if isinstance(decoder, AgentHost):
            decoder.find_agent = lambda sign: self._find(sign, reading)
            self._hosts.append(decoder)

    def _find(self, sign: str, reading: LogReading) -> str | None:
        """The first sub-agent that has this sign, of those that nobody has named yet."""
        return next((name for name in self._waiting if sign and self._sign(name, reading) == sign), None)

    def _sign(self, name: str, reading: LogReading) -> str:
        sign = self._signs.get(name)
        if sign is None:
            try:
                sign = reading.format.agent_sign(self.files[name].head())
            except PartitaError:
                sign = ""
            self._signs[name] = sign
        return sign


def _lines(file: AgentLog) -> Iterator[Line]:
    reader = LineReader()
    for block in file.blocks():
        yield from reader.feed(block)
    yield from reader.finish()


def prompt_in(values: Sequence[Json]) -> str:
    """The prompt that a sub-agent of Claude Code was given, from the first values of its file."""
    for value in values:
        message = value.get("message") if is_object(value) else None
        if is_object(message) and message.get("role") == "user":
            return first_text(message.get("content")).strip()
    return ""


def _sidecar(path: Path) -> JsonObject:
    """What stands beside the file of a sub-agent; nothing when there is none, or none that can be read."""
    sidecar = sidecar_of(path)
    if sidecar is None:
        return {}
    try:
        told = msgspec.json.decode(sidecar.read_bytes())
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}
    return told if is_object(told) else {}
