"""Messages → the lines of a session file.

Messages that were read from such a file are written as they were. Other messages are written so that the
agent can continue from them: a line for each block of a response, then the results of its calls.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, Final, NamedTuple

from msgspec import UNSET

from partita.formats.core.metadata import notes
from partita.formats.core.turns import Instructions, Prompt, Results, Step, Turn, split
from partita.formats.log.session_file import (
    UNKNOWN_MODEL,
    Names,
    SessionFacts,
    derived_uuid,
    is_uuid,
    model_of,
)
from partita.formats.losses import JOINED, NOT_MODEL, Loss
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import Message, ToolCallPart, text_of
from partita.types.parts import InterruptedOutput, ReasoningPart
from partita.types.times import EPOCH, iso_text
from partita.types.tool_results import fold

from .envelope import SOURCE, SUBAGENT
from .restored_lines import Line, Restored, envelope_of, in_order, join_lines, restore
from .tool_results import new_result
from .user_content import new_block
from .wire import ANTHROPIC, CLAUDE_CODE, write_usage

VERSION: Final = "2.1.81"
"""The version of Claude Code in new lines."""

UNKNOWN_TOOL: Final = "unknown"
LONGEST_NAME: Final = 200
"""https://docs.claude.com/en/docs/agents-and-tools/tool-use/implement-tool-use allows fewer characters, but
names of MCP tools in recordings are longer."""

COMMON_MEMBERS: Final = frozenset(
    {"isSidechain", "agentId", "userType", "cwd", "sessionId", "version", "gitBranch", "timestamp"}
)
"""Members that the line for a missing record has in common with the line after it."""

MISSING_PARENT: Final = "the record was not kept; an empty one replaces it in the chain of parents"


class Facts(NamedTuple):
    """The facts about a session that every line has."""

    session_id: str
    cwd: str
    version: str
    git_branch: str
    agent: str | None = None


class WrittenMessage(NamedTuple):
    """A message of the file, and the turn that was written, or `None` if its lines were restored.

    `owner` is the number that its lines have in `Line.owners`; `parts` are the positions of its blocks.
    """

    message: Message
    path: str
    owner: int
    turn: Turn | None = None
    parts: Sequence[int | None] = ()


def facts_of(messages: Sequence[Message], known: SessionFacts) -> Facts:
    """The facts in restored messages, else those that are known."""
    thread = next((message.thread_id for message in messages if message.thread_id), "")
    found: JsonObject = {}
    for message in messages:
        found |= envelope_of(message) or {}
    session_id = (
        thread if is_uuid(thread) else str(derived_uuid("session", thread, *(one.id for one in messages[:1])))
    )
    return Facts(
        _text(found, "sessionId", session_id),
        _text(found, "cwd", known.cwd or "/"),
        _text(found, "version", (known.version if known.agent == "claude-code" else None) or VERSION),
        _text(found, "gitBranch", known.git_branch or ""),
    )


def _text(found: JsonObject, name: str, otherwise: str) -> str:
    value = found.get(name)
    return value if isinstance(value, str) else otherwise


def agents_of(messages: Sequence[Message]) -> Iterator[tuple[str, Sequence[Message]]]:
    """The sub-agents with separate files: those of calls, and those without a call."""
    other_agents: dict[str, list[Message]] = {}
    for message in messages:
        record = envelope_of(message) or {}
        if record.get(SOURCE) == "progress":
            other_agents.setdefault(str(record.get(SUBAGENT)), []).append(message)
        for part in message.content.parts:
            if isinstance(part, ToolCallPart) and part.children:
                if not _is_inline(part.children):
                    yield _agent_name(part), part.children
                yield from agents_of(part.children)
    yield from other_agents.items()


def _agent_name(call: ToolCallPart) -> str:
    """The name of the sub-agent under a call, from its lines or the result of the call."""
    result = notes(call.tool_metadata, CLAUDE_CODE).get("toolUseResult")
    found = [envelope_of(child) or {} for child in call.children] + [result if is_object(result) else {}]
    names = [record.get(key) for record in found for key in (SUBAGENT, "agentId")]
    return next((name for name in names if isinstance(name, str)), derived_uuid("agent", call.id).hex[:17])


def _is_inline(messages: Iterable[Message]) -> bool:
    """Whether the messages of a sub-agent were in the file of the conversation."""
    return any((envelope_of(message) or {}).get(SOURCE) == "inline" for message in messages)


class SessionWriter:
    """Writes one file: its `lines`, the messages that were `written`, and the `losses` of repairs."""

    def __init__(self, messages: Sequence[Message], facts: Facts) -> None:
        self.facts = facts
        self.losses: list[Loss] = []
        self.written: list[WrittenMessage] = []
        folded = fold(messages)
        restored = [restore(message) for message in folded]
        is_mixed = None in restored
        thread = next((message.thread_id or "" for message in messages), "")
        self.names = Names(thread, _names_in(folded, restored) if is_mixed else ())
        writer = _ThreadWriter(self, add_results=is_mixed, is_sub_agent=facts.agent is not None)
        turns = groupby(split(folded, _is_written, results="none"), _index_of) if is_mixed else ()
        new = {index: list(some) for index, some in turns if restored[index] is None}
        lines: list[Line] = []
        for index, (message, found) in enumerate(zip(folded, restored, strict=True)):
            if found is None:
                lines += writer.write(message, new[index])
                continue
            self.written.append(WrittenMessage(message, f"$[{index}]", len(self.written)))
            source = (envelope_of(message) or {}).get(SOURCE)
            if source != "progress" or facts.agent is not None:  # else it is in the file of the sub-agent
                lines += writer.write_restored(message, found, is_nested=source == "inline")
        self.lines = list(self._linked(in_order(join_lines(lines))))

    def add(self, message: Message, turn: Turn, parts: Sequence[int | None] = ()) -> None:
        """Note that the next lines belong to a turn."""
        self.written.append(WrittenMessage(message, turn.path, len(self.written), turn, parts))

    def _linked(self, lines: Sequence[Line]) -> Iterator[Line]:
        """Return the lines, with an empty one before each line whose parent is missing."""
        known = {line.uuid for line in lines}
        last: dict[Json, str | None] = {}
        for line in lines:
            if not is_object(line.record):
                yield line
                continue
            chain = str(line.record.get("agentId")) if line.record.get("isSidechain") else None
            parent = line.record.get("parentUuid")
            if isinstance(parent, str) and parent not in known:
                known.add(parent)
                self.losses.append(Loss.of("$", parent, MISSING_PARENT, "repaired"))
                above = last.get(chain) if line.parent is UNSET else line.parent
                yield Line(_empty_record(line.record, parent, above), is_added=True)
            last[chain] = line.uuid or last.get(chain)
            yield line


class _ThreadWriter:
    """Writes the lines of one thread: the conversation, or a sub-agent."""

    def __init__(self, file: SessionWriter, *, add_results: bool, is_sub_agent: bool = False) -> None:
        """`add_results`: write results for calls of restored responses that have none."""
        self._file = file
        self._add_results = add_results
        self._is_sub_agent = is_sub_agent
        self._time = EPOCH
        self._last: str | None = None  # the line that the next new one follows
        self._tails: dict[str, str | None] = {}  # the last line of each message
        self._message = ""
        self._count = 0

    def _begin(self, message: Message) -> None:
        parent = message.parent_id
        if parent is not None:
            self._last = None if parent == "" else self._tails.get(parent, self._last)
        self._time = message.created_at or self._time
        self._message, self._count = message.id, 0

    # Restored messages

    def write_restored(self, message: Message, found: Restored, *, is_nested: bool = False) -> list[Line]:
        """Return the lines of a restored message. `is_nested`: it is of a sub-agent in the same file."""
        last = self._last
        self._begin(message)
        owners = (len(self._file.written) - 1,)
        lines = [
            line._replace(parent=self._last if line.starts_message else line.parent, owners=owners)
            for line in found.lines
        ]
        named = sorted([line for line in lines if line.uuid is not None], key=lambda line: line.number or 0)
        self._last = named[-1].uuid if named else self._last
        for part in message.content.parts:
            if isinstance(part, ToolCallPart):
                if part.id in found.calls and part.id not in found.answered and self._needs_result(part):
                    lines.append(self._result(part, part.id, found.calls[part.id]))
                lines += self._children(part)
        self._tails[message.id] = self._last
        if is_nested:
            self._last = last
            lines = [line._replace(starts_message=False) for line in lines]
        return lines

    def _needs_result(self, call: ToolCallPart) -> bool:
        """Whether a result must be written for a call."""
        if call.provider_executed:
            return False  # it is in the response
        is_lost = isinstance(call.output, InterruptedOutput) and call.output.reason == "lost"
        return (call.output is not None and not call.preliminary and not is_lost) or self._add_results

    def _children(self, call: ToolCallPart) -> list[Line]:
        """Return the lines of a sub-agent that are in the file of the conversation."""
        if not _is_inline(call.children):
            return []
        writer = _ThreadWriter(self._file, add_results=False, is_sub_agent=True)
        found = [(child, restore(child)) for child in call.children]
        return [
            line
            for child, own in found
            if own is not None
            for line in writer.write_restored(child, own, is_nested=True)
        ]

    # New messages

    def write(self, message: Message, turns: Sequence[Turn]) -> list[Line]:
        """Return the lines of a message that was not read from a session file."""
        self._begin(message)
        last = max((at for at, turn in enumerate(turns) if _has_blocks(turn)), default=-1)
        lines: list[Line] = []
        for number, turn in enumerate(turns):
            match turn:
                case Step():
                    usage = turn.message.content.usage if number == last else None
                    own = self._response(turn, number, write_usage(usage))
                case Prompt():
                    own = self._prompt(turn)
                case Instructions():
                    own = self._notice(turn)
                case Results():
                    self._file.add(message, turn, [None] * len(turn.parts))
                    own = []
            owners = (len(self._file.written) - 1,)
            lines += [line._replace(owners=owners) for line in own]
        self._tails[message.id] = self._last
        return lines

    def _prompt(self, turn: Prompt) -> list[Line]:
        found = [new_block(part) for part, _ in turn.parts]
        self._file.add(turn.message, turn, _positions(found))
        blocks = [block for block in found if block is not None]
        if not blocks:
            return []
        is_alone = len(blocks) == 1 and blocks[0]["type"] == "text"
        message: JsonObject = {"role": "user", "content": blocks[0]["text"] if is_alone else blocks}
        is_meta = turn.message.internal or turn.message.type == "event"
        return [self._line("user", message=message, **({"isMeta": True} if is_meta else {}))]

    def _notice(self, turn: Instructions) -> list[Line]:
        """Return the line of a notice or of instructions. It is shown, and not sent to the model."""
        text, texts = text_of(turn.message), [part.type == "text" for part, _ in turn.parts]
        self._file.add(turn.message, turn, [1 if is_text and text.strip() else None for is_text in texts])
        if not text.strip():
            return []
        if turn.message.type != "event":
            self._file.losses.append(Loss.of(f"{turn.path}.role", "system", NOT_MODEL))
        if sum(texts) > 1:
            self._file.losses.append(Loss.of(f"{turn.path}.content.parts", sum(texts), JOINED, "changed"))
        more: JsonObject = {"isMeta": turn.message.internal, "level": "info"}
        return [self._line("system", subtype="informational", content=text, **more)]

    def _response(self, turn: Step, number: int, usage: JsonObject) -> list[Line]:
        """Return a line for each block, all with the id of the response; then the results of its calls."""
        found = [self._block(part) for part, _ in turn.parts]
        self._file.add(turn.message, turn, [None if at is None else at + 1 for at in _positions(found)])
        blocks = [block for block in found if block is not None]
        if not blocks:
            return []
        is_calling = any(block["type"] == "tool_use" for block in blocks)
        envelope: JsonObject = {
            "id": self._file.names.response(self._message, number),
            "type": "message",
            "role": "assistant",
            "model": model_of(turn.message) or UNKNOWN_MODEL,
            "stop_reason": "tool_use" if is_calling else "end_turn",
            "stop_sequence": None,
            "usage": usage,
        }
        lines = [self._line("assistant", message={**envelope, "content": [block]}) for block in blocks]
        uuids = [line.uuid for line in lines]
        calls = [part for part, _ in turn.parts if isinstance(part, ToolCallPart)]
        calls_at = [(at, block["id"]) for at, block in enumerate(blocks) if block["type"] == "tool_use"]
        for call, (at, call_id) in zip(calls, calls_at, strict=True):
            lines.append(self._result(call, call_id, uuids[at]))
        return lines

    def _block(self, part: Any) -> JsonObject | None:
        if isinstance(part, ToolCallPart):
            value: Json = part.raw_input if part.input is UNSET else part.input
            input_: JsonObject = {} if value is UNSET else value if is_object(value) else {"input": value}
            id_ = self._file.names.call(part.id, self._message)
            name = part.name[:LONGEST_NAME] or UNKNOWN_TOOL
            return {"type": "tool_use", "id": id_, "name": name, "input": input_}
        return _reasoning(part) if isinstance(part, ReasoningPart) else _text_block(part)

    def _result(self, call: ToolCallPart, call_id: str, call_uuid: str | None) -> Line:
        block, more = new_result(call, call_id)
        message: JsonObject = {"role": "user", "content": [block]}
        return self._line("user", message=message, sourceToolAssistantUUID=call_uuid, **more)

    def _line(self, type: str, **members: Json) -> Line:
        """Return a new line, which follows the last one."""
        facts = self._file.facts
        uuid = self._file.names.line(self._message, self._count)
        record: JsonObject = {
            "parentUuid": self._last,
            "isSidechain": self._is_sub_agent,
            "userType": "external",
            "cwd": facts.cwd,
            "sessionId": facts.session_id,
            "version": facts.version,
            "gitBranch": facts.git_branch,
            **({} if facts.agent is None else {"agentId": facts.agent}),
            "type": type,
            **members,
            "uuid": uuid,
            "timestamp": iso_text(self._time, "milliseconds"),
        }
        self._last = uuid
        self._count += 1
        return Line(record)


def _positions(blocks: Sequence[JsonObject | None]) -> list[int | None]:
    """The positions of blocks among those that are not `None`."""
    numbers = iter(range(len(blocks)))
    return [None if block is None else next(numbers) for block in blocks]


def _text_block(part: Any) -> JsonObject | None:
    return new_block(part) if part.type == "text" else None  # the API accepts no files in a response


def _reasoning(part: ReasoningPart) -> JsonObject | None:
    """The block of reasoning by Anthropic, which is signed or encrypted. The API refuses any other:
    https://docs.claude.com/en/docs/build-with-claude/extended-thinking#preserving-thinking-blocks
    """
    own = notes(part.provider_metadata, ANTHROPIC)
    data, signature = own.get("redactedData"), own.get("signature")
    if isinstance(data, str):
        return {"type": "redacted_thinking", "data": data}
    if isinstance(signature, str) and signature:
        return {"type": "thinking", "thinking": part.text, "signature": signature}
    return None


def _is_written(part: Any) -> bool:
    if isinstance(part, ToolCallPart):
        return True
    return (_reasoning(part) if isinstance(part, ReasoningPart) else _text_block(part)) is not None


def _has_blocks(turn: Turn) -> bool:
    return isinstance(turn, Step) and any(_is_written(part) for part, _ in turn.parts)


_INDEX: Final = re.compile(r"\$\[(\d+)\]")


def _index_of(turn: Turn) -> int:
    """The position of the message of a turn."""
    found = _INDEX.match(turn.path)
    assert found is not None, "every turn has a path in the messages"
    return int(found[1])


def _names_in(messages: Sequence[Message], restored: Sequence[Restored | None]) -> Iterator[str]:
    """The ids in restored lines: of lines, responses and calls."""
    for message, found in zip(messages, restored, strict=True):
        for line in () if found is None else found.lines:
            inner = line.record.get("message") if is_object(line.record) else None
            own = inner.get("id") if is_object(inner) else None
            yield from (name for name in (line.uuid, own) if isinstance(name, str))
        yield from () if found is None else found.calls
        for part in message.content.parts:
            if isinstance(part, ToolCallPart):
                yield from _names_in(part.children, [restore(child) for child in part.children])


def _empty_record(record: JsonObject, uuid: str, parent: str | None) -> JsonObject:
    """A progress record without content, which only links lines."""
    envelope: JsonObject = {name: value for name, value in record.items() if name in COMMON_MEMBERS}
    return {
        "parentUuid": parent,
        **envelope,
        "type": "progress",
        "data": {"type": "hook_progress"},
        "uuid": uuid,
    }
