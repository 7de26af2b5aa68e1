"""Sub-agents that have files of their own: which files, and which calls started them."""

import glob
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from partita.errors import PartitaError
from partita.formats.claude_code.log.decoder import ClaudeLogDecoder
from partita.formats.claude_code.log.users import first_text
from partita.formats.diagnostics import Place
from partita.formats.transcript import LogDecoder
from partita.logs.lines.blocks import open_log
from partita.logs.lines.heads import first_values
from partita.logs.lines.reader import Line, LineReader
from partita.logs.places.log_file import sidecar_of
from partita.types.json import Json, JsonObject, is_object

from .reading import LogReading

PREFIX = "agent-"
CHAT = "session-"
"""How the names of Gemini CLI's chats begin."""


class AgentFile(NamedTuple):
    """The file of a sub-agent."""

    name: str
    path: Path


def agent_name(path: Path) -> str:
    """The name of a sub-agent, by its file."""
    return path.name.partition(".")[0].removeprefix(PREFIX)


def agent_files(session: Path) -> Iterator[AgentFile]:
    """The files of the sub-agents of a session, wherever this version of the agent has put them."""
    stem = session.name.partition(".")[0]
    if stem.startswith(CHAT):
        yield from _gemini_agents(session, stem)
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

    def __init__(self, files: Iterable[AgentFile]) -> None:
        self.files: Mapping[str, Path] = {file.name: file.path for file in files}
        self.problems: list[PartitaError] = []
        self._waiting = dict(self.files)
        self._prompts: dict[str, str] | None = None  # of those that wait; looked up when somebody asks

    @property
    def names(self) -> frozenset[str]:
        """The sub-agents that have files."""
        return frozenset(self.files)

    def attend(self, reading: LogReading) -> None:
        """Read each sub-agent's file as soon as its call is known."""
        calls = {name: _sidecar(path).get("toolUseId") for name, path in self.files.items()}
        reading.assembly.claims = {call: name for name, call in calls.items() if isinstance(call, str)}
        reading.assembly.on_link = lambda name: self.read(name, reading)
        if isinstance(reading.decoder, ClaudeLogDecoder):
            reading.decoder.find_agent = self.find

    def find(self, prompt: str) -> str | None:
        """The first sub-agent that was given this prompt, of those that nobody has named yet."""
        if self._prompts is None:
            self._prompts = {name: _prompt_of(path) for name, path in self._waiting.items()}
        return next((name for name in self._waiting if prompt and self._prompts[name] == prompt), None)

    def read(self, name: str, reading: LogReading) -> None:
        """Read a sub-agent's file, if that was not done yet."""
        path = self._waiting.pop(name, None)
        if path is None:
            return
        decoder = self._decoder(name, reading)
        try:
            run_id = f"{reading.thread_id}/{name}@0"
            reading.read_agent(name, self._lines(path), decoder, run_id)
        except PartitaError as error:
            self.problems.append(error)
            reading.diagnostics.add("the file of a sub-agent that cannot be read", Place(0, 0), str(error))

    def _decoder(self, name: str, reading: LogReading) -> LogDecoder:
        if not isinstance(reading.decoder, ClaudeLogDecoder):
            return reading.format.decoder(reading.agent(name))
        decoder = ClaudeLogDecoder(reading.agent(name), elsewhere=self.names)
        decoder.find_agent = self.find
        return decoder

    def read_rest(self, reading: LogReading) -> None:
        """Read those that no result has named: by the prompt they were given, or as what they are.

        Those that were claimed before the place where this reading began are left alone.
        """
        for name, path in list(self._waiting.items()):
            if name in reading.known_agents:
                continue
            prompt = _prompt_of(path)
            call = reading.decoder.claim(prompt) if isinstance(reading.decoder, ClaudeLogDecoder) else None
            if call is not None:
                reading.assembly.link(name, call)
            self.read(name, reading)

    def _lines(self, path: Path) -> Iterator[Line]:
        reader = LineReader()
        for block in open_log(path):
            yield from reader.feed(block)
        yield from reader.finish()


def _prompt_of(path: Path) -> str:
    try:
        values = first_values(path)
    except PartitaError:
        return ""
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
