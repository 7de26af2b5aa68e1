"""The contents of a request → messages: one a content, results merged into their calls.

A content has no id: its message is `message-N`, where N is its place, counted from one. A call without an id
gets one from its message.
"""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from partita.errors import ConversionError
from partita.formats.answers.outlet import Outlet
from partita.formats.losses import Loss
from partita.stream.accumulator import Accumulator
from partita.types.fold import fold
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    AssistantPart,
    Message,
    SystemContent,
    SystemMessage,
    ToolCallPart,
    ToolMessage,
    UserContent,
    UserMessage,
)
from partita.types.parts import DataPart, ForeignPart, ReasoningPart, StepStartPart, TextPart
from partita.types.tools import ToolResultPart

from .answered import Answers, Asked
from .ids import CallIds
from .looking import APART, AROUND, CALL_ID, FORMAT, NAMESPACE, ROLE, object_at, text_at
from .parts import UNKNOWN, Parts
from .seen import system_part, user_part
from .spelling import spelled_part
from .spoken import plain_parts

INSTRUCTIONS: Final = "instructions"
"""The id of the message that stands before all others."""

BEFORE: Final = "answers to calls come before words"
EMPTY: Final = "a text without words says nothing"
BETWEEN: Final = "a call is answered in the next content"
SPREAD: Final = "the answers to the calls of one turn stand in one content"


class Contents:
    """Reads one content after the other."""

    def __init__(self) -> None:
        self.losses: list[Loss] = []
        self._messages: list[Message] = []
        self._asked: list[Asked] = []
        self._last = ""
        """Who spoke last."""
        self._answered = False

    def messages(self) -> tuple[Message, ...]:
        """What was read, in the merged view."""
        return tuple(fold(self._messages))

    def instruct(self, content: Json, path: str) -> None:
        """The instructions, which stand apart: a content, or its text alone."""
        if content is None:
            return
        raw = {"parts": [{"text": content}]} if isinstance(content, str) else content
        if not is_object(raw):
            raise _bad(raw, path, "instructions", "a content or a string")
        parts = [system_part(spelled_part(part), part) for part in _parts(raw, path)]
        more = {key: value for key, value in raw.items() if key != "parts" and value is not None}
        metadata = {NAMESPACE: {AROUND: more}} if more else None
        content_ = SystemContent(parts=tuple(parts), provider_metadata=metadata)
        self._messages.append(SystemMessage(id=INSTRUCTIONS, content=content_))

    def take(self, content: Json, number: int, path: str) -> None:
        """The next content, the `number`th counted from one."""
        if not is_object(content):
            raise _bad(content, path, "a content", "{role, parts}")
        if "role" not in content and "parts" not in content:
            raise ConversionError("a content without parts", where=path, hint="give {role, parts}")
        role = content.get("role")
        message_id = f"message-{number}"
        parts = _parts(content, path)
        marks = _marks(content)
        match role:
            case "model":
                marks |= {APART: True} if self._last == role else {}
                self._say(parts, message_id, path, marks)
            case None | "" | "user" | "function":
                self._ask(parts, message_id, path, role, marks)
            case _:
                what = f"unknown role {role!r:.40}" if isinstance(role, str) else f"role is {kind_of(role)}"
                raise ConversionError(what, where=f"{path}.role", hint="use user or model")
        self._last = "model" if role == "model" else "user"

    def _say(self, parts: Sequence[Json], message_id: str, path: str, marks: JsonObject) -> None:
        said = plain_parts(parts, message_id)
        if said is None:
            read = (_plain(part) for part in self._read(parts, message_id, path))
            said = [part for part in read if part is not None]
        metadata = {NAMESPACE: marks} if marks else None
        content = AssistantContent(parts=tuple(said), provider_metadata=metadata)
        self._messages.append(AssistantMessage(id=message_id, content=content))
        if self._asked and self._last == "model":
            self.losses.append(Loss(path, "calls of another content before it", BETWEEN, "changed"))
        else:
            self._asked = []
        self._asked += [
            Asked(part.id, part.name, _told_id(part), message_id)
            for part in content.parts
            if type(part) is ToolCallPart and not part.provider_executed
        ]
        self._answered = False

    def _read(self, parts: Sequence[Json], message_id: str, path: str) -> Sequence[AssistantPart]:
        """The parts of a model's turn, by the one reader that answers have too."""
        outlet = Outlet(NAMESPACE)
        reader = Parts(outlet, CallIds(message_id))
        reader.words.parts_are_whole = reader.words.signatures_stand_alone = True
        for number, raw in enumerate(parts):
            part = spelled_part(raw)
            if is_object(part) and part.get("text") == "" and not part.keys() - {"text", "thought"}:
                self.losses.append(Loss.of(f"{path}.parts[{number}]", raw, EMPTY, "minor"))
            reader.take(part)
        reader.calls.end()
        reader.words.close()
        accumulator = Accumulator(id=message_id)
        for chunk in outlet.take():
            accumulator.feed(chunk)
        return accumulator.snapshot().parts

    def _ask(self, parts: Sequence[Json], message_id: str, path: str, role: Json, marks: JsonObject) -> None:
        answers = Answers(self._asked, message_id, role, self.losses)
        results: dict[str, list[ToolResultPart]] = {}
        said: list[Json] = []
        for number, raw in enumerate(parts):
            part, where = spelled_part(raw), f"{path}.parts[{number}]"
            if not is_object(part) or not is_object(part.get("functionResponse")) or "text" in part:
                said.append(user_part(part, raw))
                continue
            if said:
                self.losses.append(Loss(where, "where an answer to a call stood", BEFORE, "changed"))
            caller, result = answers.read(part, where)
            results.setdefault(caller, []).append(result)
        if results and self._answered:
            self.losses.append(Loss(path, "where answers to calls stood", SPREAD, "changed"))
        self._answered |= bool(results)
        for caller, given in results.items():
            self._messages.append(
                ToolMessage(id=f"{caller}#1:results" if caller else message_id, content=given)
            )
        if said or not results:
            is_apart = self._last == "user" and not results
            self._user(said, message_id, role, {**marks, **({APART: True} if is_apart else {})})
        elif marks:
            self.losses.append(Loss.of(path, marks, "a content of answers alone has no place for it"))

    def _user(self, said: Sequence[Json], message_id: str, role: Json, marks: JsonObject) -> None:
        kept = {**marks, **({ROLE: role} if role == "function" else {})}
        content = UserContent(parts=tuple(said), provider_metadata={NAMESPACE: kept} if kept else None)
        self._messages.append(UserMessage(id=message_id, content=content))


def _parts(content: JsonObject, path: str) -> Sequence[Json]:
    parts = content.get("parts")
    if parts is None:
        return []
    if is_object(parts):
        return [parts]
    if not is_array(parts):
        raise _bad(parts, f"{path}.parts", "the parts of a content", "an array")
    for number, part in enumerate(parts):
        if not is_object(part):
            raise _bad(part, f"{path}.parts[{number}]", "a part", "an object such as {text}")
    return parts


def _marks(content: JsonObject) -> JsonObject:
    more = {
        key: value for key, value in content.items() if key not in ("role", "parts") and value is not None
    }
    return {AROUND: more} if more else {}


def _plain(part: AssistantPart) -> AssistantPart | None:
    """A part as it is in a history, where nothing is on its way any more."""
    match part:
        case StepStartPart():
            return None
        case TextPart():
            return replace(part, state=None)
        case ReasoningPart():
            return replace(part, state=None, id=None)
        case DataPart(name=name, data=data) if f"data-{name}" == UNKNOWN:
            return ForeignPart(FORMAT, data)
        case _:
            return part


def _told_id(call: ToolCallPart) -> str | None:
    return text_at(object_at(call.call_provider_metadata, NAMESPACE), CALL_ID)


def _bad(value: Json, path: str, what: str, hint: str) -> ConversionError:
    return ConversionError(f"{what} is {kind_of(value)}", where=path, hint=f"make it {hint}")
