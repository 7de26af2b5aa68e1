"""Small session files of Claude Code, for tests of the import."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from partita.types.json import JsonObject

SESSION = "5b0f6f0e-2f8e-4b52-9d3b-1a52ad1fb6a1"
BEGAN = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


class ClaudeLog:
    """A session that grows, record by record."""

    def __init__(self, session: str = SESSION, *, agent: str | None = None, began: datetime = BEGAN) -> None:
        self.session = session
        self.began = began
        self.agent = agent
        self.records: list[JsonObject] = []
        self._parent: str | None = None

    def prompt(self, text: str) -> "ClaudeLog":
        """What a person asks."""
        return self._add("user", {"role": "user", "content": text})

    def answer(self, text: str = "", *, call: JsonObject | None = None, output: int = 5) -> "ClaudeLog":
        """A response with a text and possibly a call."""
        number = len(self.records)
        blocks: list[JsonObject] = [{"type": "text", "text": text}] if text else []
        if call is not None:
            blocks.append({"type": "tool_use", **call})
        message = {
            "id": f"msg_{self.session[:8]}_{self.agent or 'main'}_{number}",
            "type": "message",
            "role": "assistant",
            "model": "claude-sonnet-4-5-20250929",
            "content": blocks,
            "stop_reason": "tool_use" if call else "end_turn",
            "usage": {
                "input_tokens": 10,
                "cache_creation_input_tokens": 100,
                "cache_read_input_tokens": 1000,
                "output_tokens": output,
            },
        }
        return self._add("assistant", message, requestId=f"req_{self.session[:8]}_{self.agent}_{number}")

    def result(self, call: str, content: str, **fields: object) -> "ClaudeLog":
        """The result of a call."""
        block = {"type": "tool_result", "tool_use_id": call, "content": content}
        return self._add("user", {"role": "user", "content": [block]}, **fields)

    def raw(self, **record: object) -> "ClaudeLog":
        """Any record."""
        self.records.append(dict(record))
        return self

    def lines(self, start: int = 0) -> bytes:
        """The records from one on, as the file holds them."""
        return b"".join(json.dumps(record).encode() + b"\n" for record in self.records[start:])

    def write(self, folder: Path, name: str | None = None) -> Path:
        """The whole session as a file."""
        path = folder / (name or f"{self.session}.jsonl")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.lines())
        return path

    def append(self, path: Path, start: int) -> None:
        """Add the records from one on to a file."""
        with path.open("ab") as file:
            file.write(self.lines(start))

    def _add(self, kind: str, message: JsonObject, **fields: object) -> "ClaudeLog":
        number = len(self.records)
        uuid = f"{self.session[:8]}-{self.agent or 'main'}-{number}"
        self.records.append(
            {
                "parentUuid": self._parent,
                "isSidechain": self.agent is not None,
                **({"agentId": self.agent} if self.agent else {}),
                "userType": "external",
                "cwd": "/home/ada/garden",
                "sessionId": self.session,
                "version": "2.1.98",
                "gitBranch": "main",
                "type": kind,
                "message": message,
                "uuid": uuid,
                "timestamp": (self.began + timedelta(seconds=number)).isoformat().replace("+00:00", ".000Z"),
                **fields,
            }
        )
        self._parent = uuid
        return self


def just_now() -> datetime:
    """The beginning of a session whose agent may be running."""
    return datetime.now(UTC).replace(microsecond=0) - timedelta(minutes=1)


def gardening(session: str = SESSION, began: datetime = BEGAN) -> ClaudeLog:
    """Two turns with a call each."""
    log = ClaudeLog(session, began=began)
    log.prompt("Which beds need water?")
    log.answer("I look.", call={"id": "toolu_1", "name": "Bash", "input": {"command": "beds --dry"}})
    log.result("toolu_1", "north\nsouth", toolUseResult={"stdout": "north\nsouth", "stderr": ""})
    log.answer("The north and the south bed.")
    log.prompt("Water them.")
    log.answer(call={"id": "toolu_2", "name": "Bash", "input": {"command": "water north south"}})
    log.result("toolu_2", "done")
    log.answer("They are watered.")
    return log
