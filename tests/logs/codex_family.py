"""Builds rollouts of Codex for tests: sessions, sub-agents, and their folders."""

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from partita.types.json import Json, JsonObject, dumps
from partita.types.messages import Message, ToolCallPart, text_of
from tests.formats.codex_examples import START, Script


def id_at(time: datetime, number: int) -> str:
    """An id created at a time."""
    stamp = f"{int(time.timestamp() * 1000):012x}"
    return f"{stamp[:8]}-{stamp[8:]}-7000-8000-{number:012d}"


class Rollout(Script):
    """The rollout of one thread."""

    def __init__(self, number: int, start: datetime = START) -> None:
        super().__init__(start)
        self.thread = id_at(start, number)
        self.path = "/root"

    def add_turn(self, prompt: str, answer: str, tokens: int = 10) -> "Rollout":
        """A whole turn."""
        self.begin(prompt)
        self.answer(answer).count(self.total + tokens)
        return self

    def begin(self, prompt: str) -> "Rollout":
        """The beginning of a turn."""
        turn = id_at(self.time, 0)
        self.start(turn).context(turn).prompt(prompt)
        return self

    def spawn(self, child: "Rollout", call: str, **output: Json) -> "Rollout":
        """A call that starts an agent, with its output."""
        self.call(call, "spawn_agent", message="Go.")
        self.output(call, dumps(output or {"agent_id": child.thread}).decode())
        return self

    def agent(self, number: int, *, copies: bool = True, **fields: Json) -> "Rollout":
        """A sub-agent started now, with a copy of the history so far."""
        child = Rollout(number, self.time)
        child.path = f"{self.path}/worker{number}"
        spawn = {"parent_thread_id": self.thread, "depth": 1, "agent_path": child.path}
        source = {"subagent": {"thread_spawn": spawn}}
        child.meta(child.thread, **{"source": source, "parent_thread_id": self.thread, **fields})
        for record in self.records if copies else ():
            child.records.append({**record, "timestamp": child.records[0]["timestamp"]})
        child.total = self.total if copies else 0
        return child

    def lines(self) -> bytes:
        return b"".join(dumps(record) + b"\n" for record in self.records)

    def name(self) -> str:
        began = datetime.fromtimestamp(int(self.thread.replace("-", "")[:12], 16) / 1000, UTC)
        return f"rollout-{began:%Y-%m-%dT%H-%M-%S}-{self.thread}.jsonl"

    def write(self, home: Path) -> Path:
        """Write it where Codex would."""
        name = self.name()
        folder = home / "sessions" / name[8:12] / name[13:15] / name[16:18]
        return self.write_to(folder)

    def write_to(self, folder: Path) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / self.name()
        path.write_bytes(self.lines())
        return path


def session(number: int = 1, start: datetime = START) -> Rollout:
    """A session that no call started."""
    rollout = Rollout(number, start)
    rollout.meta(rollout.thread)
    return rollout


def under(messages: Iterable[Message], call: str) -> list[str]:
    """The texts of the messages nested under a call, at any depth."""
    for part in calls_in(messages):
        if part.id == call:
            return [text_of(child) for child in part.children if not child.internal and text_of(child)]
    return []


def calls_in(messages: Iterable[Message]) -> list[ToolCallPart]:
    """All calls, with those of sub-agents."""
    found: list[ToolCallPart] = []
    for message in messages:
        for part in message.content.parts:
            if isinstance(part, ToolCallPart):
                found += [part, *calls_in(part.children)]
    return found


def completed(item: JsonObject) -> JsonObject:
    """The fields of an event that contains an item."""
    return {"item": item, "turn_id": "1"}
