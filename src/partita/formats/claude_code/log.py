"""The decoder of session files. Nothing is lost: records that are not part of the conversation become notes.

Progress of tools becomes preliminary output and is only kept in the raw log, and so is progress of hooks.
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

SUMMARIES: Final = 256
"""How many summaries wait for their leaf."""

UNKNOWN: Final = "claude-code-unknown"
REPEATED: Final = "claude-code-again"
MALFORMED: Final = (TypeError, KeyError, AttributeError, ValueError)


class ClaudeLogDecoder:
    """The records of a session file, or of a sub-agent's."""

    def __init__(self, sink: LogSink) -> None:
        self._sink = sink
        self._branches = Branches()
        self._links = RecordLinks(sink)
        self._conversation = Conversation(sink, self._branches)
        self._agents: dict[str, Conversation] = {}
        self._roots: dict[str, str] = {}  # of lines of sub-agents without a name, to the first line of each
        self._home: str | None = None
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
        """Take the next record."""
        stamp = record.get("timestamp")
        if type(stamp) is str:
            self._set_time(stamp)
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
                self._about(kind, record)
            else:
                read(record)
        except MALFORMED as error:
            detail = f"{kind!r:.40}: {error!r:.120}"
            self._keep("a record of an unexpected shape", record, detail)

    def finish(self) -> None:
        """Keep what was held back: results that came before their calls."""
        for conversation in (self._conversation, *self._agents.values()):
            conversation.finish()

    def check_links(self) -> None:
        """Report parents that are in no record. All records must have been fed."""
        self._links.finish()

    def mark(self) -> Mark:
        """Remember this place between two turns."""
        return self._branches.mark()

    def state(self, mark: Mark) -> JsonObject:
        """What is needed to continue from a mark, as JSON."""
        return {"branches": self._branches.state(mark), "facts": dict(self._facts), "home": self._home}

    def restore(self, state: JsonObject) -> None:
        """Continue from a state."""
        self._branches.restore(state["branches"])
        self._facts = dict(state["facts"])
        self._home = state["home"]
        self._has_begun = True
        self._links.forget()

    # The conversation

    def _assistant(self, record: JsonObject) -> None:
        self._conversation_of(record).assistant(record)

    def _user(self, record: JsonObject) -> None:
        self._conversation_of(record).user(record)

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
            self._home = agent if isinstance(agent, str) else None
            if self._home is not None:
                self._sink.set_fact("agentName", self._home)
        if agent is not None and agent == self._home:
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
        """A sub-agent without a name, before 2.0.28: its first line has the prompt of a call."""
        uuid, parent = record.get("uuid"), record.get("parentUuid")
        root = self._roots.get(parent) if isinstance(parent, str) else None
        if root is None:
            root = str(uuid)
            message = record.get("message")
            text = first_text(message.get("content")) if is_object(message) else ""
            call = self._sink.claim_call(text.strip())
            if call is not None:
                self._sink.link_agent(root, call)
        if isinstance(uuid, str):
            self._roots[uuid] = root
        return self._agent(root)

    # Other records

    def _note(self, name: str, record: JsonObject) -> None:
        """Keep a record under the number of its line."""
        self._sink.add_record(name, record, str(self._sink.line))

    def _keep(self, what: str, record: JsonObject, detail: str = "") -> None:
        """Keep a record that is not understood."""
        self._sink.report_unknown(what, detail=detail)
        self._note(UNKNOWN, record)

    def _about(self, kind: Json, record: JsonObject) -> None:
        """A record about the session, or an unknown one."""
        known = METADATA.get(kind) if isinstance(kind, str) else None
        if known is None:
            self._keep(f"unknown record type {kind!r:.60}", record)
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
        """A summary belongs to the session with the leaf, which is often another one."""
        if not isinstance(leaf, str) or self._branches.knows(leaf):
            self._sink.set_fact("summary", summary)
            return
        self._summaries[leaf] = summary
        if len(self._summaries) > SUMMARIES:
            del self._summaries[next(iter(self._summaries))]

    def _is_repeated(self, record: JsonObject, parent: Json) -> bool:
        """Whether a line with this uuid was read before; it is kept, and changes nothing."""
        uuid = record.get("uuid")
        if not isinstance(uuid, str):
            return False
        known = self._branches.knows(uuid)
        self._branches.other(uuid, parent)
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
                self._queued(uuid, record, attachment, prompt)
                return
        if kind not in ATTACHMENTS:
            self._sink.report_unknown(f"unknown attachment {kind!r:.60}")
        self._note("claude-code-attachment", record)

    def _queued(self, uuid: str, record: JsonObject, attachment: JsonObject, prompt: Json) -> None:
        """A text for an agent that is working: from a person, or from a task that has ended."""
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
        """What a tool reports while it works. The raw log has all of it, the message only the last."""
        uuid, data, call = record.get("uuid"), record.get("data"), record.get("parentToolUseID")
        if isinstance(uuid, str):
            self._branches.other(uuid, record.get("parentUuid"))
        if not is_object(data):
            self._keep("progress without data", record)
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
            self._keep(f"unknown progress {kind!r:.60}", record)

    def _agent_progress(self, record: JsonObject, data: JsonObject, call: Json) -> None:
        """A message of a sub-agent in the session's own file."""
        agent, inner = data.get("agentId"), data.get("message")
        kind = inner.get("type") if is_object(inner) else None
        if not isinstance(agent, str) or not is_object(inner) or kind not in ("assistant", "user"):
            self._keep(f"unknown progress of a sub-agent {kind!r:.60}", record)
            return
        if self._sink.has_own_log(agent):
            return
        if isinstance(call, str):
            self._sink.link_agent(agent, call)
        stamp = inner.get("timestamp")
        if isinstance(stamp, str):
            self._set_time(stamp)
        inner |= {SOURCE: "progress", SUBAGENT: agent, LINE: self._sink.line}
        conversation = self._agent(agent)
        (conversation.assistant if kind == "assistant" else conversation.user)(inner)

    def _set_time(self, stamp: str) -> None:
        try:
            time = datetime.fromisoformat(stamp)
        except ValueError:
            time = None
        if time is None or time.tzinfo is None:
            self._sink.report_unknown("a time that cannot be read", detail=stamp)
        else:
            self._sink.set_time(time)


def agent_keys(values: Sequence[Json]) -> Sequence[str]:
    """The prompt of a sub-agent, by the first values of its file. The call has it too."""
    for value in values:
        message = value.get("message") if is_object(value) else None
        if is_object(message) and message.get("role") == "user":
            return (first_text(message.get("content")).strip(),)
    return ()
