"""Records of a Claude Code session file → what they say. Nothing is lost: see `notes` for what is no talk.

Progress of tools is told as preliminary output and stays in the raw log alone; so do hooks at work.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Final

from partita.formats.links import Links
from partita.formats.log.sink import LogSink
from partita.types.chunks import ToolOutputAvailable
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import SystemContent, SystemMessage, UserContent, UserMessage
from partita.types.parts import DataPart, TextPart

from .branches import Branches, Mark
from .envelope import AGENT, KIND, LINE, SOURCE, SUBAGENT
from .kinds import ATTACHMENTS, FACTS, METADATA, PRELIMINARY, SHOWN, SYSTEM
from .side import FindAgent, nobody
from .talk import Talk
from .users import HIDDEN, TALK, first_text, kind_of_user, parts_of_kind

SUMMARIES: Final = 256
"""How many summaries wait for their leaf."""

COMPACTING: Final = "acompact"
"""The prefix of agents that compact a session. Their first records have parents in the session file."""

MISSHAPEN: Final = (TypeError, KeyError, AttributeError, ValueError)


class ClaudeLogDecoder:
    """The records of a session file, or of a sub-agent's."""

    def __init__(self, sink: LogSink, *, elsewhere: frozenset[str] = frozenset()) -> None:
        """`elsewhere`: sub-agents whose own files are read, so that their progress need not be."""
        self._sink = sink
        self._elsewhere = elsewhere
        self._branches = Branches()
        self._links = Links(sink)
        self.find_agent: FindAgent = nobody
        self._talk = Talk(sink, self._branches, self._agent_of)
        self._agents: dict[str, Talk] = {}
        self._sides: dict[str, str] = {}  # of lines of unnamed sub-agents to the first of each
        self._home: str | None = None
        self._told: JsonObject = {}
        self._summaries: dict[str, str] = {}  # by the leaves that have not been seen
        self._started = False
        self._handlers: dict[Json, Callable[[JsonObject], None]] = {
            "assistant": self._assistant,
            "user": self._user,
            "system": self._system,
            "progress": self._progress,
            "attachment": self._attachment,
        }

    def feed(self, record: JsonObject) -> None:
        """Take the next record."""
        stamp = record.get("timestamp")
        if type(stamp) is str:
            self._tick(stamp)
        uuid = record.get("uuid")
        if type(uuid) is str:
            agent = record.get("agentId")
            compacts = type(agent) is str and agent.startswith(COMPACTING)
            self._links.add(uuid, record.get("parentUuid"), may_be_elsewhere=compacts)
            if self._summaries and (words := self._summaries.get(uuid)) is not None:
                self._sink.set_fact("summary", words)
        kind = record.get("type")
        handler = self._handlers.get(kind) if type(kind) is str else None
        try:
            if kind == "assistant" and self._started and not record.get("isSidechain"):
                record[LINE] = self._sink.line
                self._talk.assistant(record)
            elif handler is not None:
                handler(record)
            else:
                self._about(kind, record)
        except MISSHAPEN as error:
            self._sink.report_unknown(
                "a record of an unexpected shape", detail=f"{kind!r:.40}: {error!r:.120}"
            )
            self._note("claude-code-unknown", record)

    def finish(self) -> None:
        """Tell what was held back: results that came before their calls."""
        for talk in (self._talk, *self._agents.values()):
            talk.finish()

    def check_links(self) -> None:
        """Report parents that are in no record. More records would have to be fed before."""
        self._links.finish()

    def mark(self) -> Mark:
        """Remember this place between two turns."""
        return self._branches.mark()

    def state(self, mark: Mark) -> JsonObject:
        """What must be known to go on from a mark, as JSON."""
        return {"branches": self._branches.state(mark), "facts": dict(self._told), "home": self._home}

    def restore(self, state: JsonObject) -> None:
        """Go on from a state."""
        self._branches.restore(state["branches"])
        self._told = dict(state["facts"])
        self._home = state["home"]
        self._started = True
        self._links.forget()

    # Talk

    def _assistant(self, record: JsonObject) -> None:
        self._talk_of(record).assistant(record)

    def _user(self, record: JsonObject) -> None:
        self._talk_of(record).user(record)

    def _talk_of(self, record: JsonObject) -> Talk:
        record[LINE] = self._sink.line
        if record["type"] == "user" or not self._started:
            self._learn(record)
        if not record.get("isSidechain"):
            self._started = True
            return self._talk
        agent = record.get("agentId")
        if not self._started:
            self._started = True
            self._home = agent if isinstance(agent, str) else None
            if self._home is not None:
                self._sink.set_fact("agentName", self._home)
        if agent is not None and agent == self._home:
            return self._talk
        record[SOURCE] = "inline"
        return self._agent(agent) if isinstance(agent, str) else self._side(record)

    def _learn(self, record: JsonObject) -> None:
        told = self._told
        for name, fact in FACTS:
            value = record.get(name)
            if value is not None and told.get(name) != value:
                told[name] = value
                self._sink.set_fact(fact, value)

    def _agent(self, name: str) -> Talk:
        talk = self._agents.get(name)
        if talk is None:
            talk = self._agents[name] = Talk(self._sink.agent(name), None, self._agent_of)
        return talk

    def _agent_of(self, prompt: str) -> str | None:
        return self.find_agent(prompt)

    def _side(self, record: JsonObject) -> Talk:
        """A sub-agent without a name: its first line says what a call asked for."""
        uuid, parent = record.get("uuid"), record.get("parentUuid")
        root = self._sides.get(parent) if isinstance(parent, str) else None
        if root is None:
            root = str(uuid)
            message = record.get("message")
            words = first_text(message.get("content")) if is_object(message) else ""
            call = self.claim(words.strip())
            if call is not None:
                self._sink.link(root, call)
        if isinstance(uuid, str):
            self._sides[uuid] = root
        return self._agent(root)

    def claim(self, prompt: str) -> str | None:
        """The call that asked for a prompt."""
        for talk in (self._talk, *self._agents.values()):
            call = talk.claim(prompt)
            if call is not None:
                return call
        return None

    # What is no talk

    def _about(self, kind: Json, record: JsonObject) -> None:
        """A record about the session, or one that is not known."""
        known = METADATA.get(kind) if isinstance(kind, str) else None
        if known is None:
            self._sink.report_unknown(f"unknown record type {kind!r:.60}")
            self._note("claude-code-unknown", record)
            return
        name, fact = known
        value = record.get(name)
        if fact is not None and value is not None:
            self._sink.set_fact(fact, value)
        if kind == "last-prompt" and isinstance(value, str):
            self._sink.set_fact("leaf", value)
        elif kind == "summary" and isinstance(value, str):
            self._summary(value, record.get("leafUuid"))
        self._note(f"claude-code-{kind}", record)

    def _note(self, name: str, record: JsonObject) -> None:
        """Keep a record that is no talk, under the number of its line."""
        self._sink.note(name, record, str(self._sink.line))

    def _summary(self, words: str, leaf: Json) -> None:
        """A summary is of the session that has the leaf, and that is often another one."""
        if not isinstance(leaf, str) or self._branches.knows(leaf):
            self._sink.set_fact("summary", words)
            return
        self._summaries[leaf] = words
        if len(self._summaries) > SUMMARIES:
            del self._summaries[next(iter(self._summaries))]

    def _system(self, record: JsonObject) -> None:
        subtype = record.get("subtype")
        uuid = record.get("uuid")
        if isinstance(uuid, str):
            again = self._branches.knows(uuid)
            self._branches.other(uuid, record.get("parentUuid") or record.get("logicalParentUuid"))
            if again:
                self._note("claude-code-again", record)
                return
        if subtype not in SYSTEM and subtype is not None:
            self._sink.report_unknown(f"unknown system record {subtype!r:.60}")
        if subtype == "turn_duration":
            self._sink.end_turn("completed")
        if subtype not in SHOWN or not isinstance(uuid, str):
            self._note("claude-code-system", record)
            return
        text = record.get("content")
        line = str(self._sink.line)
        parts: list[DataPart | TextPart] = [DataPart(f"claude-code-{subtype}", record, line)]
        if isinstance(text, str):
            parts.append(TextPart(text))
        self._sink.add_message(
            SystemMessage(
                id=uuid,
                type="event",
                created_at=self._sink.time,
                content=SystemContent(parts=tuple(parts)),
            )
        )

    def _attachment(self, record: JsonObject) -> None:
        uuid, attachment = record.get("uuid"), record.get("attachment")
        kind = attachment.get("type") if is_object(attachment) else None
        if isinstance(uuid, str):
            again = self._branches.knows(uuid)
            self._branches.other(uuid, record.get("parentUuid"))
            if again:
                self._note("claude-code-again", record)
                return
        if kind == "queued_command" and is_object(attachment) and isinstance(uuid, str):
            prompt = attachment.get("prompt")
            if isinstance(prompt, (str, list)):
                self._queued(uuid, record, attachment, prompt)
                return
        if kind not in ATTACHMENTS:
            self._sink.report_unknown(f"unknown attachment {kind!r:.60}")
        self._note("claude-code-attachment", record)

    def _queued(self, uuid: str, record: JsonObject, attachment: JsonObject, prompt: Json) -> None:
        """Words for an agent that is at work: a person's, or of a task that has ended meanwhile."""
        text = first_text(prompt)
        kind = kind_of_user(attachment, text)
        self._sink.add_message(
            UserMessage(
                id=uuid,
                type="text" if kind in TALK else "event",
                internal=kind in HIDDEN,
                created_at=self._sink.time,
                content=UserContent(
                    parts=tuple(parts_of_kind(kind, prompt, text)),
                    metadata={AGENT: record | {KIND: "queued", LINE: self._sink.line}},
                ),
            )
        )

    def _progress(self, record: JsonObject) -> None:
        """What a tool says while it works. The raw log keeps it; the message shows the last of it."""
        uuid, data, call = record.get("uuid"), record.get("data"), record.get("parentToolUseID")
        if isinstance(uuid, str):
            self._branches.other(uuid, record.get("parentUuid"))
        if not is_object(data):
            self._sink.report_unknown("progress without data")
            self._note("claude-code-unknown", record)
            return
        kind = data.get("type")
        if kind == "agent_progress":
            self._agent_progress(record, data, call)
        elif kind in PRELIMINARY and isinstance(call, str):
            message_id = self._sink.call_message(call)
            if message_id is not None and message_id not in self._agents:
                self._preliminary(message_id, call, data)
        elif kind != "hook_progress":
            self._sink.report_unknown(f"unknown progress {kind!r:.60}")
            self._note("claude-code-unknown", record)

    def _preliminary(self, message_id: str, call: str, data: JsonObject) -> None:
        output = data.get("fullOutput") if data.get("type") == "bash_progress" else data
        if self._sink.is_waiting(call):
            self._sink.append(message_id, ToolOutputAvailable(call, output, preliminary=True))

    def _agent_progress(self, record: JsonObject, data: JsonObject, call: Json) -> None:
        """A message of a sub-agent, told by the conversation's own file."""
        agent, inner = data.get("agentId"), data.get("message")
        kind = inner.get("type") if is_object(inner) else None
        if not isinstance(agent, str) or not is_object(inner) or kind not in ("assistant", "user"):
            self._sink.report_unknown(f"unknown progress of a sub-agent {kind!r:.60}")
            self._note("claude-code-unknown", record)
            return
        if agent in self._elsewhere:
            return
        if isinstance(call, str):
            self._sink.link(agent, call)
        stamp = inner.get("timestamp")
        if isinstance(stamp, str):
            self._tick(stamp)
        talk = self._agent(agent)
        inner |= {SOURCE: "progress", SUBAGENT: agent, LINE: self._sink.line}
        if kind == "assistant":
            talk.assistant(inner)
        else:
            talk.user(inner)

    def _tick(self, stamp: str) -> None:
        try:
            time = datetime.fromisoformat(stamp)
        except ValueError:
            time = None
        if time is None or time.tzinfo is None:
            self._sink.report_unknown("a time that is none", detail=stamp)
        else:
            self._sink.set_time(time)
