"""Canonical messages → attributes of OpenTelemetry's conventions for generative AI.

The last answer is the output, and all before it the input. Each step of an answer is a message, followed by
what came of its calls. Lost is what reading it again would not give back: ids, times, owners, signatures,
whether a call failed, approvals, sub-agents, data, sources.
"""

from collections.abc import Sequence
from typing import Any, Final, assert_never

from msgspec.structs import replace

from partita.formats.format import Dumped, Request
from partita.formats.framework.arrivals import Arrivals, answered, bare
from partita.formats.framework.members import metadata_of, noted, present
from partita.formats.framework.plain import plain_steps, plain_text
from partita.formats.framework.steps import (
    Idle,
    Placed,
    Spoken,
    Steered,
    Step,
    Turn,
    Unasked,
    insert_at_places,
    turns_in,
)
from partita.types.fold import fold
from partita.types.json import Json, JsonObject, dumps, is_object
from partita.types.messages import (
    AssistantMessage,
    AssistantPart,
    Message,
    SystemMessage,
    ToolCallPart,
    ToolMessage,
)
from partita.types.tools import ToolResultPart
from partita.types.usage import Usage

from .calls import read_back, read_call, read_result, write_back, write_call, write_result
from .parts import read_plain, write_plain
from .plain import write_output, write_said
from .reading import ROLES, Reader
from .wrapping import CONVERSATION, INPUT, NAME, OUTPUT, SYSTEM, USAGE, write_tools

DEFAULT: Final = "the conventions have no place for it"
STEERED: Final = "it is written as a message of the user"
STEP: Final = "each step is a message of its own"
SPELLING: Final = frozenset(
    {"of", "untyped", "args", "bare", "made", "key", "named", "at", "form", "joined", "instructions"}
)
REASONS: Final = {
    "id": "recorded messages have no id",
    "createdAt": "recorded messages have no time",
    "runId": "recorded messages do not name their run",
    "threadId": "messages of one recording are of one conversation",
    "filename": "files have no names there",
    "usage": "only the last answer tells what it cost",
    "output": "what came of a call is a value, and nothing says whether it failed",
}


def dump(messages: Sequence[Message]) -> Dumped:
    """Messages as attributes, or as the bare list that they came in."""
    return _Writer().write(messages)


def ask(messages: Sequence[Message], request: Request) -> Dumped:
    """The same with the tools and the attributes of a request."""
    dumped = dump(messages)
    payload = dumped.payload if is_object(dumped.payload) else {INPUT: dumped.payload}
    rest = {key: value for key, value in request.settings.items() if key not in payload}
    return Dumped({**rest, **payload, **write_tools(request.tools)}, dumped.losses)


class _Writer:
    """One recording on its way."""

    def __init__(self) -> None:
        self.written: list[tuple[JsonObject, JsonObject]] = []
        self.system: list[JsonObject] | None = None
        self.losses = Arrivals(DEFAULT, REASONS, NAME, SPELLING)
        self.thread_id: str | None = None
        self.count = 0
        self.head: str | None = None
        self.usage: Usage | None = None

    def write(self, messages: Sequence[Message]) -> Dumped:
        """All of them."""
        noticed = noted(messages[0].content.provider_metadata, NAME).get("form") if messages else None
        form = noticed if isinstance(noticed, str) else None
        self.thread_id = next((one.thread_id for one in messages if one.thread_id is not None), None)
        if form in {"list", "events"}:
            self.thread_id = None
        folded = fold(messages)
        for place, message in enumerate(folded):
            path = f"$[{place}]"
            if not self._plainly(message, path):
                is_end = place == len(folded) - 1 and form not in {"list", "events"}
                turns = list(turns_in(message, path, _is_told))
                for index, turn in enumerate(turns):
                    self._turn(turn, is_last=is_end and index == len(turns) - 1)
        return Dumped(self._payload(form), tuple(self.losses.told))

    def _turn(self, turn: Turn, *, is_last: bool) -> None:
        match turn:
            case Unasked():
                self._orphans(turn.message, turn.path)
            case Spoken():
                self._said(turn.message, turn.path)
            case Step():
                self._step(turn, is_last=is_last)
            case Steered():
                self._steered(turn)
            case Idle():
                self._starts(turn.starts)
            case _:
                assert_never(turn)

    # Plain messages

    def _plainly(self, message: Message, path: str) -> bool:
        """Write a message that is plain; all others are left."""
        if type(message) is AssistantMessage:
            return self._plain_answer(message, path)
        text = plain_text(message)
        if text is None:
            return False
        role = "system" if type(message) is SystemMessage else "user"
        made = self._emit_plain(role, [{"type": "text", "content": text}])
        self.losses.alone(message, made, path, self.thread_id)
        return True

    def _plain_answer(self, message: AssistantMessage, path: str) -> bool:
        steps = plain_steps(message)
        if steps is None:
            return False
        for number, step in enumerate(steps, 1):
            self.losses.steps(step.starts, path, STEP)
            if number == 1 or step.parts:
                made = self._emit_plain("assistant", [write_said(part) for part in step.parts])
                self.head = made
                if number == 1:
                    self.losses.alone(message, made, path, self.thread_id)
            outputs = [write_output(call, value) for call, value in step.outputs]
            if outputs:
                self._emit_plain("tool", outputs)
        return True

    def _emit_plain(self, role: str, parts: list[JsonObject]) -> str:
        """Write a message, and say what it is called when it is read again."""
        self.written.append(({"role": role, "parts": parts}, {"ours": role, "made": None}))
        self.count += 1
        self.head = None
        return f"message-{self.count}"

    def _payload(self, form: Json) -> Json:
        given, made = self._divided()
        if form in {"list", "events"} and self.system is None:
            return [*given, *made]
        found: JsonObject = {} if self.system is None else {SYSTEM: self.system}
        found |= {INPUT: given} if given or not made else {}
        found |= {OUTPUT: made} if made else {}
        if form == "strings":
            found = {key: dumps(value).decode() for key, value in found.items()}
        if self.thread_id is not None and self.count:
            found[CONVERSATION] = self.thread_id
        for key, name in USAGE.items():
            count = None if self.usage is None else getattr(self.usage, name)
            if count is not None:
                found[key] = count
        return found

    def _divided(self) -> tuple[list[JsonObject], list[JsonObject]]:
        """What the model was given, and what it made of it: the last message if it is an answer."""
        given: list[JsonObject] = []
        made: list[JsonObject] = []
        last = len(self.written) - 1
        for index, (raw, note) in enumerate(self.written):
            is_answer = index == last and note.get("ours") == "assistant"
            marked = note.get("made")
            is_made = marked if isinstance(marked, bool) else is_answer
            (made if is_made else given).append(raw)
        return given, made

    def _emit(self, role: str, parts: list[JsonObject], note: JsonObject) -> None:
        """Write a message, or go on with the one before if they were one."""
        if note.get("joined") is True and self.written:
            self.written[-1][0]["parts"].extend(parts)
            return
        about = {key: value for key, value in note.items() if key not in {"made", "form", "joined", "role"}}
        raw = {"role": _role(note, role), "parts": parts, **about}
        self.written.append((raw, {"ours": role, "made": note.get("made")}))

    def _read(self, role: str, parts: list[JsonObject], note: JsonObject) -> Message:
        """A message as it is read again, without its parts."""
        reader = Reader(self.thread_id, self.count)
        reader.head = self.head
        about = {key: value for key, value in note.items() if key not in {"made", "form", "joined", "role"}}
        raw = {"role": _role(note, role), "parts": parts, **about}
        reader.add({**raw, **present(joined=note.get("joined"))}, "$", is_made=False, is_last=False)
        self.head = reader.head
        self.count += 1
        return _placed(reader.messages[0], note)

    def _starts(self, starts: Sequence[Placed]) -> None:
        for start, path in starts:
            self.losses.tell(path, {"type": "step-start"}, STEP, "minor")
            if start.extra or getattr(start, "provider_metadata", None):
                self.losses.whole(start, path)

    # What is not the assistant's

    def _said(self, message: Any, path: str) -> None:
        note = noted(message.content.provider_metadata, NAME)
        parts = self._parts(message.parts, f"{path}.content.parts")
        is_system = isinstance(message, SystemMessage)
        if message.parts and not parts:
            self.losses.shell(message, None, path)
            return
        if is_system and note.get("instructions") is True and self.system is None and not self.written:
            self.system = parts
            reader = Reader(self.thread_id, self.count)
            reader.instruct([])
            self.count += 1
            self.losses.shell(message, _placed(reader.messages[0], note), path)
            return
        role = "system" if is_system else "user"
        self._emit(role, parts, {key: value for key, value in note.items() if key != "instructions"})
        self.losses.shell(message, self._read(role, [], note), path)

    def _parts(self, parts: Sequence[Any], path: str) -> list[JsonObject]:
        written: list[JsonObject] = []
        for index, part in enumerate(parts):
            raw = write_plain(part)
            if raw is not None:
                written.append(raw)
            self.losses.part(part, None if raw is None else read_plain(raw), f"{path}[{index}]")
        return written

    def _steered(self, turn: Steered) -> None:
        parts = self._parts(turn.part.parts, f"{turn.path}.parts")
        about = {"type": "steering-message", "id": turn.part.id}
        self.losses.tell(turn.path, about, STEERED, "changed")
        if parts:
            self._emit("user", parts, {})
            self.count += 1
            self.head = None

    def _orphans(self, message: ToolMessage, path: str) -> None:
        parts: list[JsonObject] = []
        for index, part in enumerate(message.parts):
            where = f"{path}.content.parts[{index}]"
            if isinstance(part, ToolResultPart):
                parts.append(write_result(part))
                self.losses.part(part, read_result(parts[-1], part.id, part.name), where)
            else:
                self.losses.whole(part, where)
        note = noted(message.content.provider_metadata, NAME)
        if parts or not message.parts:
            self._emit("tool", parts, note)
            self.losses.shell(message, self._read("tool", parts[:1], note), path)
        else:
            self.losses.shell(message, None, path)

    # Answers

    def _step(self, step: Step, *, is_last: bool) -> None:
        self._starts(step.starts)
        parts: list[JsonObject] = []
        moved: list[tuple[int, JsonObject]] = []
        for part, _ in step.parts:
            raw = write_call(part) if isinstance(part, ToolCallPart) else write_plain(part)
            if raw is None:
                continue
            parts.append(raw)
            back = write_back(part) if isinstance(part, ToolCallPart) and part.provider_executed else None
            if back is not None and type(back.get("at")) is int:
                moved.append((back.pop("at"), back))
            elif back is not None:
                parts.append(back)
        insert_at_places(parts, moved)
        if step.said is not None:
            parts.append({"type": "text", "content": step.said})
        results = self._results(step)
        if parts or step.number == 1:
            self._answer(step, parts, is_last=is_last and not results)
        for part, path in step.parts:
            if not isinstance(part, ToolCallPart):
                self.losses.part(part, _read_again(part), path)
            elif part.provider_executed or part.output is None:
                self.losses.call(part, _read_again(part), path)
                if part.result_message is not None:
                    self.losses.shell(bare(part.result_message), None, f"{path}.resultMessage")
        self._give_back(results)

    def _answer(self, step: Step, parts: list[JsonObject], *, is_last: bool) -> None:
        note = noted(step.message.content.provider_metadata, NAME) if step.number == 1 else {}
        self._emit("assistant", parts, note)
        again = self._read("assistant", [], note)
        self.head = again.id
        if step.number > 1 or not isinstance(again, AssistantMessage):
            return
        usage = step.message.content.usage
        if is_last and usage is not None:
            self.usage = usage
            counts = {name: getattr(usage, name) for name in USAGE.values()}
            again = _costing(again, Usage(**counts))
        self.losses.shell(step.message, again, step.path)

    def _results(self, step: Step) -> list[tuple[ToolCallPart, ToolResultPart, str]]:
        found: list[tuple[ToolCallPart, ToolResultPart, str]] = []
        for part, path in step.parts:
            if not isinstance(part, ToolCallPart) or part.provider_executed or part.output is None:
                continue
            kept = part.result_message.parts if part.result_message is not None else ()
            named = next((one for one in kept if isinstance(one, ToolResultPart)), None)
            name = part.name if named is None else named.name
            result = ToolResultPart(part.id, name, part.output, part.result_provider_metadata)
            found.append((part, result, path))
            if named is not None and named.extra:
                self.losses.tell(f"{path}.resultMessage.parts[0]", dict(named.extra), DEFAULT)
        return found

    def _give_back(self, results: list[tuple[ToolCallPart, ToolResultPart, str]]) -> None:
        """Write what came of calls, those that came in one message together."""
        last: object = self
        again: Message | None = None
        for call, result, path in results:
            origin = call.result_message
            shell = None if origin is None else bare(origin)
            raw = write_result(result)
            note = {} if origin is None else noted(origin.content.provider_metadata, NAME)
            if shell != last:
                self._emit("tool", [raw], note)
                again = self._read("tool", [raw], note)
            else:
                self.written[-1][0]["parts"].append(raw)
            last = shell
            self.losses.call(call, answered(_read_again(call), read_result(raw, call.id, call.name)), path)
            if shell is not None:
                self.losses.shell(shell, again, f"{path}.resultMessage")


def _role(note: JsonObject, role: str) -> str:
    """The role that a message had; results stand in messages of tools or of the user."""
    own = note.get("role")
    ours = ROLES.get(own, "user") if isinstance(own, str) else role
    is_right = ours == role or {ours, role} == {"user", "tool"}
    return own if isinstance(own, str) and is_right else role


def _placed(message: Message, note: JsonObject) -> Message:
    """A message that was read alone, with what only its place in the recording tells."""
    told: JsonObject = {
        key: note[key] for key in ("made", "joined", "form") if key in note and note[key] != "events"
    }
    own: JsonObject = {**noted(message.content.provider_metadata, NAME), **told}
    content = replace(message.content, provider_metadata=metadata_of(NAME, own))
    return replace(message, content=content)  # pyright: ignore[reportArgumentType] # each role takes its own content


def _costing(message: AssistantMessage, usage: Usage) -> AssistantMessage:
    return replace(message, content=replace(message.content, usage=usage))


def _is_told(part: AssistantPart) -> bool:
    return isinstance(part, ToolCallPart) or write_plain(part) is not None


def _read_again(part: AssistantPart) -> AssistantPart | None:
    if not isinstance(part, ToolCallPart):
        raw = write_plain(part)
        return None if raw is None else read_plain(raw)
    call = read_call(write_call(part), part.id)
    back = write_back(part) if part.provider_executed else None
    return call if call is None or back is None else read_back(call, back, None)
