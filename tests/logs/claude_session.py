"""Builds session files of Claude Code for tests, and reads them.

session = Session().prompt("Bake bread").answer(text="Kneading", calls=[use("c1", "Oven")])
session.result("c1", "hot").answer(text="Done")
reading = read(session)
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from partita.formats.log.sink import Consumption
from partita.formats.log.thread_builder import Turn
from partita.logs.log_reader import Batch, LogReader
from partita.logs.sources.registry import log_format
from partita.types.json import Json, JsonObject, dumps
from partita.types.messages import AssistantMessage, Message, Part, SystemMessage, ToolCallPart, UserMessage
from partita.types.parts import DataPart

SESSION = "5e551000-0000-4000-8000-000000000001"
MODEL = "claude-baker"
START = datetime(2026, 4, 1, 8, 0, tzinfo=UTC)
HERE = "here"
"""As a parent: the previous line."""


def text(words: str, **more: Json) -> JsonObject:
    return {"type": "text", "text": words, **more}


def thinking(words: str, signature: str = "sealed") -> JsonObject:
    return {"type": "thinking", "thinking": words, "signature": signature}


def use(call: str, name: str = "Oven", input: Json = None, **more: Json) -> JsonObject:
    return {"type": "tool_use", "id": call, "name": name, "input": {} if input is None else input, **more}


def task(call: str, prompt: str, name: str = "Task") -> JsonObject:
    return use(call, name, {"description": "help", "prompt": prompt, "subagent_type": "baker"})


def usage(output: int = 10, fresh: int = 3, read: int = 100, written: int = 20, **more: Json) -> JsonObject:
    return {
        "input_tokens": fresh,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": written,
        "output_tokens": output,
        **more,
    }


class Session:
    """Builds records. By default each follows the previous one, a second later."""

    def __init__(self, id: str = SESSION, *, mark: str = "u", agent: str | None = None) -> None:
        """`mark`: the prefix of all ids; `agent`: the sub-agent of the lines."""
        self.id = id
        self.mark = mark
        self.records: list[JsonObject] = []
        self.last: str | None = None
        self.time = START
        self.cwd = "/kitchen"
        self.agent = agent
        self.sidechain = agent is not None
        self._answers = 0
        self._lines = 0

    def add(self, type: str, *, parent: str | None = HERE, **fields: Json) -> "Session":
        """Add a record with its envelope. Given fields override those of the envelope."""
        self._lines += 1
        self.time += timedelta(seconds=1)
        uuid = f"{self.mark}-{self._lines}"
        record: JsonObject = {
            "parentUuid": self.last if parent == HERE else parent,
            "isSidechain": self.sidechain,
            "type": type,
            "uuid": uuid,
            "timestamp": stamp(self.time),
            "sessionId": self.id,
            "cwd": self.cwd,
            "version": "2.1.50",
            "gitBranch": "main",
            "userType": "external",
            **({} if self.agent is None else {"agentId": self.agent}),
            **fields,
        }
        self.records.append(record)
        self.last = record["uuid"]
        return self

    def about(self, type: str, **fields: Json) -> "Session":
        """A record about the session: without an id, without a time."""
        self.records.append({"type": type, "sessionId": self.id, **fields})
        return self

    def prompt(self, content: Json, *, parent: str | None = HERE, **fields: Json) -> "Session":
        return self.add("user", parent=parent, message={"role": "user", "content": content}, **fields)

    def answer(
        self,
        *,
        thinking: str | None = None,
        text: str | None = None,
        calls: Sequence[JsonObject] = (),
        usage: JsonObject | None = None,
        parent: str | None = HERE,
        **fields: Json,
    ) -> "Session":
        """A response, a record for each block of it."""
        self._answers += 1
        blocks = [] if thinking is None else [_thinking(thinking)]
        blocks += ([] if text is None else [_text(text)]) + list(calls)
        for block in blocks:
            self.piece(f"msg-{self.mark}-{self._answers}", block, usage=usage, parent=parent, **fields)
            parent = HERE
        return self

    def piece(
        self,
        id: str | None,
        *blocks: Json,
        usage: JsonObject | None = None,
        parent: str | None = HERE,
        model: str = MODEL,
        message: JsonObject | None = None,
        **fields: Json,
    ) -> "Session":
        """One record of a response."""
        whole: JsonObject = {
            "id": id,
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": list(blocks),
            "stop_reason": None,
            "usage": _usage() if usage is None else usage,
            **(message or {}),
        }
        request: JsonObject = {"requestId": f"req-{id}"} if "requestId" not in fields else {}
        return self.add("assistant", parent=parent, message=whole, **request, **fields)

    def result(
        self,
        call: str,
        content: Json = "done",
        *,
        parent: str | None = HERE,
        error: Json = None,
        **fields: Json,
    ) -> "Session":
        """The result of a call."""
        block: JsonObject = {"type": "tool_result", "tool_use_id": call, "content": content}
        if error is not None:
            block["is_error"] = error
        return self.prompt([block], parent=parent, **fields)

    def system(self, subtype: str | None, **fields: Json) -> "Session":
        named: JsonObject = {} if subtype is None else {"subtype": subtype}
        return self.add("system", **named, **fields)

    def attachment(self, type: str, *, parent: str | None = HERE, **fields: Json) -> "Session":
        return self.add("attachment", parent=parent, attachment={"type": type, **fields})

    def progress(self, call: str, type: str, **data: Json) -> "Session":
        return self.add("progress", parentToolUseID=call, toolUseID=f"{type}-1", data={"type": type, **data})

    def turn(self, words: str, answer: str = "Yes.") -> "Session":
        """An ordinary prompt and its response."""
        return self.prompt(words).answer(text=answer)

    def work(self, words: str, *calls: str) -> "Session":
        """A prompt, a response with calls, their results, and a final response."""
        self.prompt(words).answer(thinking="hm", text="On it.", calls=[use(call) for call in calls])
        for call in calls:
            self.result(call, f"{call} is done")
        return self.answer(text="All done.")

    @property
    def data(self) -> bytes:
        return lines_of(self.records)


_text, _thinking, _usage = text, thinking, usage  # arguments have these names too


def rich(mark: str = "u", parent: str | None = None) -> Session:
    """A conversation with a bit of everything."""
    session = Session(mark=mark)
    session.last = parent
    session.about("mode", mode="plan").about("summary", summary="Baking", leafUuid=f"{mark}-5")
    session.attachment("hook_success", hookEvent="SessionStart")
    session.work("Bake", f"{mark}-c1", f"{mark}-c2")
    there = session.last
    session.prompt("Rye").piece(f"{mark}-m", text("I")).attachment("queued_command", prompt="and rolls")
    session.piece(f"{mark}-m", use(f"{mark}-c3")).result(f"{mark}-c3").system("turn_duration", durationMs=5)
    session.prompt("Wheat", parent=there).answer(
        calls=[task(f"{mark}-t1", "look"), task(f"{mark}-t2", "see")]
    )
    helper = Session(mark=f"{mark}-h", agent=f"{mark}-a").prompt("look", parent=None)
    helper.answer(calls=[use(f"{mark}-h-c")]).result(f"{mark}-h-c").answer(text="seen")
    session.records += helper.records
    session.result(f"{mark}-t1", toolUseResult={"agentId": f"{mark}-a"})
    session.prompt("[Request interrupted by user for tool use]").about("custom-title", customTitle="Bread")
    session.add("telepathy").cwd = "/bakery"
    session.system("compact_boundary", parent=None, logicalParentUuid=session.last, content="compacted")
    session.prompt("Continued", isCompactSummary=True).work("More", f"{mark}-c4")
    session.prompt("<command-name>/bake</command-name>").answer(text="Yes.").prompt("The end")
    return session


def stamp(time: datetime) -> str:
    """A time as the log writes it."""
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def data_of(part: Part) -> Json:
    """The data of a data part."""
    assert isinstance(part, DataPart)
    return part.data


def lines_of(records: Iterable[Json]) -> bytes:
    """The bytes of a file with these records."""
    return b"".join(dumps(record) + b"\n" for record in records)


class Reading(NamedTuple):
    """The result of reading a log."""

    messages: list[Message]
    turns: list[Turn]
    ledger: list[Consumption]
    log: LogReader

    @property
    def responses(self) -> list[AssistantMessage]:
        return [message for message in self.messages if isinstance(message, AssistantMessage)]

    @property
    def prompts(self) -> list[UserMessage]:
        """The prompts of the user."""
        return [
            message
            for message in self.messages
            if isinstance(message, UserMessage) and message.type == "text" and not message.internal
        ]

    @property
    def notices(self) -> list[Message]:
        """Events that a reader sees."""
        return [message for message in self.messages if message.type == "event" and not message.internal]

    @property
    def calls(self) -> dict[str, ToolCallPart]:
        return {part.id: part for part in _calls(self.messages)}

    @property
    def notes(self) -> list[DataPart]:
        """Records that are not conversation, kept as data."""
        return [
            part
            for message in self.messages
            if isinstance(message, SystemMessage) and message.internal
            for part in message.parts
            if isinstance(part, DataPart)
        ]

    @property
    def unknown_records(self) -> dict[str, list[int]]:
        """The unknown records by description, each with its lines."""
        return {unknown.what: [one.line for one in unknown.positions] for unknown in self.log.unknown_records}

    @property
    def by_id(self) -> dict[str, Message]:
        return {message.id: message for message in self.messages}

    @property
    def parents(self) -> dict[str, str | None]:
        """The parent of each visible message, skipping hidden ones."""
        shown = {message.id for message in self.messages if not message.internal}
        above = {message.id: message.parent_id for message in self.messages}
        return {id_: _nearest(above[id_], shown, above) for id_ in above if id_ in shown}


def _nearest(id_: str | None, shown: set[str], above: dict[str, str | None]) -> str | None:
    while id_ and id_ not in shown:
        id_ = above.get(id_)
    return id_


def _calls(messages: Iterable[Message]) -> Iterator[ToolCallPart]:
    for message in messages:
        for part in message.content.parts:
            if isinstance(part, ToolCallPart):
                yield part
                yield from _calls(part.children)


def read(
    source: Session | bytes,
    *,
    live: bool = False,
    state: JsonObject | None = None,
    log: LogReader | None = None,
) -> Reading:
    """Read a log at once; or `live`: line by line, taking complete messages after each line."""
    data = source.data if isinstance(source, Session) else source
    log = LogReader(log_format("claude-code-log"), SESSION, state=state) if log is None else log
    batches: list[Batch] = []
    for piece in data.splitlines(keepends=True) if live else [data]:
        log.feed(piece)
        if live:
            batches.append(log.take())
    batches.append(log.finish())
    messages = {message.id: message for batch in batches for message in batch.messages}
    ledger = {one.key: one for batch in batches for one in batch.consumptions}
    return Reading(
        list(messages.values()),
        [turn for batch in batches for turn in batch.turns],
        list(ledger.values()),
        log,
    )
