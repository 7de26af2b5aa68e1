"""Canonical messages → Pydantic AI's message history.

Each step of an answer is a response; what stands between two responses is one request: what came of the
calls, system prompts, and what the user said. Lost is what reading it again would not give back: ids, owners,
titles, approvals, sub-agents, data, sources, names of files.
"""

from collections.abc import Sequence
from typing import Final, assert_never

from partita.formats.bare import is_bare_around
from partita.formats.format import Dumped
from partita.formats.framework.arrivals import Arrivals, answered, bare
from partita.formats.framework.members import noted
from partita.formats.framework.plain import plain_text
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
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import (
    AssistantMessage,
    AssistantPart,
    Message,
    SystemMessage,
    ToolCallPart,
    ToolMessage,
    UserMessage,
)
from partita.types.parts import ForeignPart, TextPart
from partita.types.tools import ToolResultPart

from .asking import RequestWriter
from .items import read_item, write_item
from .moments import written_moment
from .outputs import write_output
from .parts import read_builtin_return, read_part, write_builtin_return, write_part
from .plain import plain_prompt, plain_response, plain_steps
from .requests import FEEDBACK, read_return
from .responses import read_response, write_response
from .shapes import NAME, members_of, written

DEFAULT: Final = "Pydantic AI's messages have no place for it"
STEERED: Final = "it is written as a prompt of the user"
STEP: Final = "each step is a response of its own"
JOINED: Final = "a system prompt is one text"
SPELLING: Final = frozenset(
    {"spelt", "untyped", "of", "args", "bare", "made", "unnamed", "at", "list", "apart"}
)
REASONS: Final = {
    "id": "Pydantic AI's messages have no id",
    "filename": "files have no names there",
    "output": "how a call went is one word there, and what it gave is text, JSON or files",
}


def dump(messages: Sequence[Message]) -> Dumped:
    """Messages as `ModelMessagesTypeAdapter` takes them."""
    return _Writer().write(messages)


class _Writer:
    """One history on its way."""

    def __init__(self) -> None:
        self.payload: list[JsonObject] = []
        self.losses = Arrivals(DEFAULT, REASONS, NAME, SPELLING)
        self.request = RequestWriter(self.losses)

    def write(self, messages: Sequence[Message]) -> Dumped:
        """All of them."""
        for place, message in enumerate(fold(messages)):
            path = f"$[{place}]"
            if not self._plainly(message, path):
                for turn in turns_in(message, path, _is_told):
                    self._turn(turn)
        self._end_request()
        return Dumped(self.payload, tuple(self.losses.told))

    def _turn(self, turn: Turn) -> None:
        match turn:
            case Spoken():
                self._said(turn.message, turn.path)
            case Unasked():
                self._orphans(turn.message, turn.path)
            case Step():
                self._step(turn)
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
        if text is None or message.type != "text" or not is_bare_around(message):
            return False
        kind = "system-prompt" if type(message) is SystemMessage else "user-prompt"
        self.request.add_plainly(message, path, plain_prompt(kind, text))
        return True

    def _plain_answer(self, message: AssistantMessage, path: str) -> bool:
        steps = plain_steps(message)
        if steps is None:
            return False
        first = steps[0]
        for step in steps:
            is_there = step is first or bool(step.parts)
            if is_there:
                self._end_request()
            if step.starts:
                self.losses.steps(step.starts, path, STEP)
            if step is first:
                self.losses.renamed(message, self.request.made_id(), path)
            if is_there:
                self.payload.append(plain_response(step.parts))
                self.request.answered_plainly(step.names, step.returns)
        return True

    def _end_request(self) -> None:
        self.payload.extend(self.request.finish())

    def _starts(self, starts: Sequence[Placed]) -> None:
        for start, path in starts:
            self.losses.tell(path, {"type": "step-start"}, STEP, "minor")
            if start.extra or getattr(start, "provider_metadata", None):
                self.losses.whole(start, path)

    # Requests

    def _said(self, message: SystemMessage | UserMessage, path: str) -> None:
        if isinstance(message, SystemMessage):
            self._system(message, path)
        else:
            self._user(message, path)

    def _system(self, message: SystemMessage, path: str) -> None:
        texts = [part.text for part in message.parts if isinstance(part, TextPart)]
        for index, part in enumerate(message.parts):
            again = TextPart(part.text) if isinstance(part, TextPart) else None
            self.losses.part(part, again, f"{path}.content.parts[{index}]")
        if len(texts) > 1:
            self.losses.tell(f"{path}.content.parts", texts, JOINED, "changed")
        text = "\n\n".join(texts)
        if noted(message.content.provider_metadata, NAME).get("instructions") is True:
            self.request.instruct(message, path, text)
        elif texts or not message.parts:
            said = {"content": text, "part_kind": "system-prompt"}
            self.request.add(message, path, _stamped("system-prompt", message, said))
        else:
            self.losses.shell(message, None, path)

    def _user(self, message: UserMessage, path: str) -> None:
        note = noted(message.content.provider_metadata, NAME)
        match message.parts:
            case (ForeignPart(format="pydantic-ai", value=value),) if _is_whole(value, message):
                self.request.add(message, path, value)
                return
            case (TextPart(text=text) as part,) if note.get("of") in FEEDBACK:
                self.losses.part(part, TextPart(text), f"{path}.content.parts[0]")
                kind: str = note["of"]
                said: JsonObject = {"content": text, "part_kind": kind}
                self.request.add(message, path, _stamped(kind, message, said))
                return
            case () if note.get("empty") is True:
                self.request.open(message, path)
                return
            case _:
                pass
        items = self._items(message.parts, f"{path}.content.parts")
        if message.parts and not items:
            self.losses.shell(message, None, path)
            return
        said = {"content": items if note.get("list") else _as_text(items), "part_kind": "user-prompt"}
        self.request.add(message, path, _stamped("user-prompt", message, said))

    def _items(self, parts: Sequence[object], path: str) -> list[Json]:
        items: list[Json] = []
        for index, part in enumerate(parts):
            item = write_item(part)
            if item is not None:
                items.append(item)
            self.losses.part(part, None if item is None else read_item(item), f"{path}[{index}]")
        return items

    def _steered(self, turn: Steered) -> None:
        items = self._items(turn.part.parts, f"{turn.path}.parts")
        about = {"type": "steering-message", "id": turn.part.id}
        self.losses.tell(turn.path, about, STEERED, "changed")
        if items:
            said = {"content": _as_text(items), "part_kind": "user-prompt"}
            self.request.add(None, turn.path, written("user-prompt", said))

    def _orphans(self, message: ToolMessage, path: str) -> None:
        is_there = False
        for index, part in enumerate(message.parts):
            where = f"{path}.content.parts[{index}]"
            if isinstance(part, ToolResultPart):
                raw = _write_return(part)
                self.request.give_back(message, path, raw, is_alone=not is_there)
                self.losses.part(part, read_return(raw, {}), where)
                is_there = True
            else:
                self.losses.whole(part, where)
        if not is_there:
            self.losses.shell(message, None, path)

    # Responses

    def _step(self, step: Step) -> None:
        self._end_request()
        self._starts(step.starts)
        parts: list[JsonObject] = []
        moved: list[tuple[int, JsonObject]] = []
        for part, _ in step.parts:
            raw = write_part(part)
            if raw is None:
                continue
            parts.append(raw)
            back = write_builtin_return(part) if isinstance(part, ToolCallPart) else None
            if back is not None:
                at = back.pop("at", None)
                moved.append((at if type(at) is int else len(parts), back))
                if type(at) is not int:
                    parts.append(moved.pop()[1])
        insert_at_places(parts, moved)
        if step.said is not None:
            parts.append(written("text", {"content": step.said, "part_kind": "text"}))
        raw = write_response(step.message, parts, is_first=step.number == 1)
        if parts or step.number == 1:
            self.payload.append(raw)
            self._tell_response(step, raw)
        self._tell(step, raw["provider_name"])
        self._results(step)

    def _tell_response(self, step: Step, raw: JsonObject) -> None:
        members = members_of(raw, "response", "kind", "parts")
        again = read_response(members, [], self.request.made_id())
        names = {part.id: part.name for part, _ in step.parts if isinstance(part, ToolCallPart)}
        self.request.answered_by(again, names)
        if step.number == 1:
            self.losses.shell(step.message, again, step.path)

    def _tell(self, step: Step, provider: Json) -> None:
        for part, path in step.parts:
            if not isinstance(part, ToolCallPart):
                self.losses.part(part, _read_again(part, provider), path)
            elif part.provider_executed or part.output is None:
                self.losses.call(part, _read_again(part, provider), path)
                self._origin(part, path)

    def _origin(self, call: ToolCallPart, path: str) -> None:
        if call.result_message is not None:
            self.losses.shell(bare(call.result_message), None, f"{path}.resultMessage")

    def _results(self, step: Step) -> None:
        provider = noted(step.message.content.provider_metadata, NAME).get("provider_name")
        for part, path in step.parts:
            if not isinstance(part, ToolCallPart) or part.provider_executed or part.output is None:
                continue
            origin = part.result_message
            kept = origin.parts if origin is not None else ()
            named = next((one for one in kept if isinstance(one, ToolResultPart)), None)
            name = part.name if named is None else named.name
            result = ToolResultPart(part.id, name, part.output, part.result_provider_metadata)
            raw = _write_return(result)
            self.request.give_back(origin, f"{path}.resultMessage", raw)
            again = answered(_read_again(part, provider), read_return(raw, {}))
            self.losses.call(part, again, path)
            if named is not None and named.extra:
                self.losses.tell(f"{path}.resultMessage.parts[0]", dict(named.extra), DEFAULT)


def _stamped(kind: str, message: Message, said: JsonObject) -> JsonObject:
    note = noted(message.content.provider_metadata, NAME).get("part")
    moment = {} if message.created_at is None else {"timestamp": written_moment(message.created_at)}
    return written(kind, note if is_object(note) else {}, moment, said)


def _write_return(result: ToolResultPart) -> JsonObject:
    note = dict(noted(result.provider_metadata, NAME))
    kind = note.pop("of", "tool-return")
    output = write_output(result.output, note)
    said: JsonObject = {"tool_name": result.name, "tool_call_id": result.id, "part_kind": kind}
    if kind == "retry-prompt":
        return written(kind, note, {"content": output["content"]}, said)
    return written("tool-return", note, output, {**said, "part_kind": "tool-return"})


def _is_told(part: AssistantPart) -> bool:
    return isinstance(part, ToolCallPart) or write_part(part) is not None


def _read_again(part: AssistantPart, provider: Json) -> AssistantPart | None:
    raw = write_part(part)
    if raw is None:
        return None
    again = read_part(raw, provider, getattr(part, "id", None) or "")
    back = write_builtin_return(part) if isinstance(part, ToolCallPart) else None
    if back is None or not isinstance(again, ToolCallPart):
        return again
    return read_builtin_return(again, back, None)


def _is_whole(value: Json, message: UserMessage) -> bool:
    return is_object(value) and isinstance(value.get("part_kind"), str) and message.type == "event"


def _as_text(items: list[Json]) -> Json:
    """The prompt as text, if it is one text and no more."""
    if not items:
        return ""
    return items[0] if len(items) == 1 and isinstance(items[0], str) else items
