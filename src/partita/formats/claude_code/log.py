"""The decoder of session files. Records that are not part of the conversation are kept as notes.

Only progress is not kept, except in the raw log: that of tools becomes preliminary output.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from partita.formats.log.message_tree import RecordLinks
from partita.formats.log.sink import LogSink
from partita.types.chunks import ToolOutputAvailable
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import SystemContent, SystemMessage, UserContent, UserMessage
from partita.types.parts import DataPart, TextPart

from .branches import Branches, Mark
from .conversation import Conversation
from .envelope import KIND, LINE, SOURCE, SUBAGENT
from .user_content import CONVERSATION, HIDDEN, first_text, kind_of_user, parts_of_kind
from .wire import ATTACHMENTS, CLAUDE_CODE, COMPACTING, FACTS, METADATA, PRELIMINARY, SHOWN, SYSTEM

MAX_SUMMARIES: Final = 256
"""How many summaries are remembered until their leaf is read."""

UNKNOWN: Final = "claude-code-unknown"
REPEATED: Final = "claude-code-again"
SHAPE_ERRORS: Final = (TypeError, KeyError, AttributeError, ValueError)


class ClaudeLogDecoder:
    """Reads the records of a session file, or of the file of a sub-agent."""

    def __init__(self, sink: LogSink) -> None:
        self._sink = sink
        self._branches = Branches()
        self._links = RecordLinks(sink)
        self._conversation = Conversation(sink, self._branches)
        self._agents: dict[str, Conversation] = {}
        self._first_lines: dict[str, str] = {}  # of sub-agents without a name, by their lines
        self._file_agent: str | None = None
        self._facts: JsonObject = {}
        self._summaries: dict[str, str] = {}  # by leaves that were not read yet
        self._has_begun = False
        self._readers: dict[Json, Callable[[JsonObject], None]] = {
            "assistant": self._assistant,
            "user": self._user,
            "system": self._system,
            "progress": self._progress,
            "attachment": self._attachment,
        }

    def feed(self, record: JsonObject) -> None:
        """Read the next record."""
        timestamp = record.get("timestamp")
        if type(timestamp) is str:
            self._set_time(timestamp)
        uuid = record.get("uuid")
        if type(uuid) is str:
            agent = record.get("agentId")
            compacts = type(agent) is str and agent.startswith(COMPACTING)
            self._links.add(uuid, record.get("parentUuid"), may_be_elsewhere=compacts)
            if self._summaries and (summary := self._summaries.get(uuid)) is not None:
                self._sink.set_fact("summary", summary)
        kind = record.get("type")
        read = self._readers.get(kind) if type(kind) is str else None
        try:
            if read is None:
                self._session_record(kind, record)
            else:
                read(record)
        except SHAPE_ERRORS as error:
            detail = f"{kind!r:.40}: {error!r:.120}"
            self._keep_unknown("a record of an unexpected shape", record, detail)

    def finish(self) -> None:
        """Keep the results that came before their calls."""
        for conversation in (self._conversation, *self._agents.values()):
            conversation.finish()

    def check_links(self) -> None:
        """Report parents that are in no record. All records must have been fed."""
        self._links.finish()

    def mark(self) -> Mark:
        """Return a mark of the current position, which is between two turns."""
        return self._branches.mark()

    def state(self, mark: Mark) -> JsonObject:
        """Return the state that reading continues from at a mark, as JSON."""
        return {"branches": self._branches.state(mark), "facts": dict(self._facts), "home": self._file_agent}

    def restore(self, state: JsonObject) -> None:
        """Continue from a state."""
        self._branches.restore(state["branches"])
        self._facts = dict(state["facts"])
        self._file_agent = state["home"]
        self._has_begun = True
        self._links.forget()

    # The conversation

    def _assistant(self, record: JsonObject) -> None:
        self._conversation_of(record).read_assistant(record)

    def _user(self, record: JsonObject) -> None:
        self._conversation_of(record).read_user(record)

    def _conversation_of(self, record: JsonObject) -> Conversation:
        record[LINE] = self._sink.line
        if record["type"] == "user" or not self._has_begun:
            self._set_facts(record)
        if not record.get("isSidechain"):
            self._has_begun = True
            return self._conversation
        agent = record.get("agentId")
        if not self._has_begun:
            self._has_begun = True
            self._file_agent = agent if isinstance(agent, str) else None
            if self._file_agent is not None:
                self._sink.set_fact("agentName", self._file_agent)
        if agent is not None and agent == self._file_agent:
            return self._conversation
        record[SOURCE] = "inline"
        return self._agent(agent) if isinstance(agent, str) else self._unnamed_agent(record)

    def _set_facts(self, record: JsonObject) -> None:
        for name, fact in FACTS:
            value = record.get(name)
            if value is not None and self._facts.get(name) != value:
                self._facts[name] = value
                self._sink.set_fact(fact, value)

    def _agent(self, name: str) -> Conversation:
        agent = self._agents.get(name)
        if agent is None:
            agent = self._agents[name] = Conversation(self._sink.agent(name))
        return agent

    def _unnamed_agent(self, record: JsonObject) -> Conversation:
        """Return a sub-agent without a name (before 2.0.28). Its first line has the prompt of its call."""
        uuid, parent = record.get("uuid"), record.get("parentUuid")
        first_line = self._first_lines.get(parent) if isinstance(parent, str) else None
        if first_line is None:
            first_line = str(uuid)
            message = record.get("message")
            text = first_text(message.get("content")) if is_object(message) else ""
            call = self._sink.claim_call(text.strip())
            if call is not None:
                self._sink.link_agent(first_line, call)
        if isinstance(uuid, str):
            self._first_lines[uuid] = first_line
        return self._agent(first_line)

    # Other records

    def _note(self, name: str, record: JsonObject) -> None:
        """Keep a record under the number of its line."""
        self._sink.add_record(name, record, str(self._sink.line))

    def _keep_unknown(self, what: str, record: JsonObject, detail: str = "") -> None:
        """Keep a record that is unknown or damaged."""
        self._sink.report_unknown(what, detail=detail)
        self._note(UNKNOWN, record)

    def _session_record(self, kind: Json, record: JsonObject) -> None:
        """Read a record about the session, or an unknown one."""
        known = METADATA.get(kind) if isinstance(kind, str) else None
        if known is None:
            self._keep_unknown(f"unknown record type {kind!r:.60}", record)
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

    def _summary(self, summary: str, leaf: Json) -> None:
        """Use a summary if its leaf is in this session. Often it is in another one."""
        if not isinstance(leaf, str) or self._branches.has_recent(leaf):
            self._sink.set_fact("summary", summary)
            return
        self._summaries[leaf] = summary
        if len(self._summaries) > MAX_SUMMARIES:
            del self._summaries[next(iter(self._summaries))]

    def _is_repeated(self, record: JsonObject, parent: Json) -> bool:
        """Whether a line with this uuid was read before. It is kept as a note."""
        uuid = record.get("uuid")
        if not isinstance(uuid, str):
            return False
        known = self._branches.has_recent(uuid)
        self._branches.add_line(uuid, parent)
        if known:
            self._note(REPEATED, record)
        return known

    def _system(self, record: JsonObject) -> None:
        if self._is_repeated(record, record.get("parentUuid") or record.get("logicalParentUuid")):
            return
        subtype, uuid = record.get("subtype"), record.get("uuid")
        if subtype not in SYSTEM and subtype is not None:
            self._sink.report_unknown(f"unknown system record {subtype!r:.60}")
        if subtype == "turn_duration":
            self._sink.end_turn("completed")
        if subtype not in SHOWN or not isinstance(uuid, str):
            self._note("claude-code-system", record)
            return
        text = record.get("content")
        parts: list[DataPart | TextPart] = [
            DataPart(f"claude-code-{subtype}", record, str(self._sink.line)),
            *([TextPart(text)] if isinstance(text, str) else ()),
        ]
        content = SystemContent(parts=tuple(parts))
        self._sink.add_message(
            SystemMessage(id=uuid, type="event", created_at=self._sink.time, content=content)
        )

    def _attachment(self, record: JsonObject) -> None:
        if self._is_repeated(record, record.get("parentUuid")):
            return
        uuid, attachment = record.get("uuid"), record.get("attachment")
        kind = attachment.get("type") if is_object(attachment) else None
        if kind == "queued_command" and is_object(attachment) and isinstance(uuid, str):
            prompt = attachment.get("prompt")
            if isinstance(prompt, (str, list)):
                self._queued_prompt(uuid, record, attachment, prompt)
                return
        if kind not in ATTACHMENTS:
            self._sink.report_unknown(f"unknown attachment {kind!r:.60}")
        self._note("claude-code-attachment", record)

    def _queued_prompt(self, uuid: str, record: JsonObject, attachment: JsonObject, prompt: Json) -> None:
        """Add a text that was sent to the running agent: by a person, or by a task that has ended."""
        text = first_text(prompt)
        kind = kind_of_user(attachment, text)
        self._sink.add_message(
            UserMessage(
                id=uuid,
                type="text" if kind in CONVERSATION else "event",
                internal=kind in HIDDEN,
                created_at=self._sink.time,
                content=UserContent(
                    parts=tuple(parts_of_kind(kind, prompt, text)),
                    metadata={CLAUDE_CODE: record | {KIND: "queued", LINE: self._sink.line}},
                ),
            )
        )

    # Progress (2.1.12 to 2.1.81)

    def _progress(self, record: JsonObject) -> None:
        """Add the progress of a tool as a preliminary output. Only the last one is kept in the message."""
        uuid, data, call = record.get("uuid"), record.get("data"), record.get("parentToolUseID")
        if isinstance(uuid, str):
            self._branches.add_line(uuid, record.get("parentUuid"))
        if not is_object(data):
            self._keep_unknown("progress without data", record)
            return
        kind = data.get("type")
        if kind == "agent_progress":
            self._agent_progress(record, data, call)
        elif kind in PRELIMINARY and isinstance(call, str):
            message_id = self._sink.call_message(call)
            if message_id is not None and message_id not in self._agents and self._sink.is_pending(call):
                output = data.get("fullOutput") if kind == "bash_progress" else data
                self._sink.append(message_id, ToolOutputAvailable(call, output, preliminary=True))
        elif kind != "hook_progress":
            self._keep_unknown(f"unknown progress {kind!r:.60}", record)

    def _agent_progress(self, record: JsonObject, data: JsonObject, call: Json) -> None:
        """Add a message of a sub-agent in a progress record."""
        agent, message_record = data.get("agentId"), data.get("message")
        kind = message_record.get("type") if is_object(message_record) else None
        if not isinstance(agent, str) or not is_object(message_record) or kind not in ("assistant", "user"):
            self._keep_unknown(f"unknown progress of a sub-agent {kind!r:.60}", record)
            return
        if self._sink.has_own_log(agent):
            return
        if isinstance(call, str):
            self._sink.link_agent(agent, call)
        timestamp = message_record.get("timestamp")
        if isinstance(timestamp, str):
            self._set_time(timestamp)
        message_record |= {SOURCE: "progress", SUBAGENT: agent, LINE: self._sink.line}
        conversation = self._agent(agent)
        read = conversation.read_assistant if kind == "assistant" else conversation.read_user
        read(message_record)

    def _set_time(self, timestamp: str) -> None:
        try:
            time = datetime.fromisoformat(timestamp)
        except ValueError:
            time = None
        if time is None or time.tzinfo is None:
            self._sink.report_unknown("a time that cannot be read", detail=timestamp)
        else:
            self._sink.set_time(time)


def agent_keys(values: Sequence[Json]) -> Sequence[str]:
    """The key of a sub-agent, by the first values of its file: its prompt, which its call has too."""
    for value in values:
        message = value.get("message") if is_object(value) else None
        if is_object(message) and message.get("role") == "user":
            return (first_text(message.get("content")).strip(),)
    return ()
