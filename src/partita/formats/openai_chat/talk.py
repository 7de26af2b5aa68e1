"""The messages of a request while they are gathered, with the repairs that servers insist on."""

from collections import deque
from collections.abc import Sequence
from typing import Final, NamedTuple, assert_never

from partita.formats.losses import Loss
from partita.types.json import Json, JsonObject
from partita.types.messages import (
    AssistantMessage,
    AssistantPart,
    Message,
    SystemMessage,
    SystemPart,
    ToolCallPart,
    ToolMessage,
    ToolPart,
    UserMessage,
    UserPart,
)
from partita.types.parts import TextPart
from partita.types.tools import ToolResultPart

from .dialects import Dialect
from .names import name_of
from .notes import CONTENT, LEGACY, PLACE, ROLE
from .outputs import UNANSWERED, Said, result_content
from .owning import own_item, own_of
from .plainly import PlainWriter
from .texts import fields_in, in_form, text_item
from .turns import Turn, Waiting, assistant_turn
from .user_turns import user_content

BRIDGE: Final = "OK."
"""What the model says between results and the user, where the server insists that it says something."""

HOISTED: Final = "the server takes instructions only before the talk"
ONE_SYSTEM: Final = "the server takes one system message"
BRIDGED: Final = "the server wants the model to speak between results and the user"
NO_CALL: Final = "a result whose call is not right before it"
ONLY_TEXT: Final = "instructions are text"
TEXTS_JOINED: Final = "instructions are one text"
NEVER: Final = "the server wants a result for every call"


class Result(NamedTuple):
    """What a tool gave back, and the form it came in."""

    said: Said
    notes: JsonObject


class Instruction(NamedTuple):
    """A system message, and where it stood."""

    path: str
    message: JsonObject
    text: str


NOTHING: Final = Result(Said(UNANSWERED, []), {})


class Talk:
    """The messages of a request. Everything is taken with the path that it stood at, parts with their places,
    and notes of the form that it came in.
    """

    def __init__(self, dialect: Dialect, losses: list[Loss]) -> None:
        self.messages: list[JsonObject] = []
        self.losses = losses
        self.begun: dict[str, int] = {}
        """How many messages there were when that of a path began."""
        self.plain: dict[str, Sequence[Loss]] = {}
        """What has no place of messages of which that is known, by their paths."""
        self.is_hoisted = False
        """Whether instructions were put before all that was gathered."""
        self._dialect = dialect
        self._instructions: list[Instruction] = []
        self._waiting: list[Waiting] = []
        self._open: dict[str, int] = {}
        """How many calls of an id wait for a result."""
        self._results: dict[str, deque[Result]] = {}
        self._path = "$"

    def add(self, message: Message, path: str, places: Sequence[str], *, is_over: bool) -> None:
        """Take a message of the model's view. `is_over` says that the user has spoken since."""
        match message:
            case SystemMessage():
                self.instruct(message.parts, path, places, {})
            case UserMessage():
                self.ask(message.parts, path, places, {})
            case AssistantMessage():
                self.answer(message.parts, path, places, {}, is_over=is_over)
            case ToolMessage():
                self.take_results(message.parts, places)
            case _:
                assert_never(message)

    def _begin(self, path: str) -> None:
        self.settle()
        self._path = path
        self.begun.setdefault(path, len(self.messages))

    def instruct(
        self, parts: Sequence[SystemPart], path: str, places: Sequence[str], notes: JsonObject
    ) -> None:
        """Instructions."""
        self._begin(path)
        items = self._items(parts, places)
        is_list = notes.get(CONTENT) == "list" or any(len(item) != 2 or "text" not in item for item in items)
        texts = [item["text"] for item in items if isinstance(item.get("text"), str) and item["text"]]
        said = "\n".join(texts)
        content: Json = items if is_list else said
        if not content and not notes:
            return
        if len(texts) > 1 and not is_list:
            self.losses.append(Loss(f"{path}.content.parts", "where one text ends", TEXTS_JOINED, "changed"))
        role = notes.get(ROLE) if notes.get(ROLE) in ("system", "developer") else self._dialect.system_role
        written = {"role": role, **in_form(content, notes), **fields_in(notes)}
        if self._dialect.system_anywhere:
            self.messages.append(written)
            return
        if self.messages:
            self.losses.append(Loss(path, "the place of the instructions", HOISTED, "repaired"))
        self._instructions.append(Instruction(path, written, said))

    def take(self, written: PlainWriter, path: str) -> None:
        """An answer and the results of its calls, as they are written already."""
        self._begin(path)
        self.messages += written.messages
        self.losses += written.losses
        self.plain[path] = written.untold

    def say(self, question: str, path: str) -> None:
        """What a person says in one text."""
        self._begin(path)
        self._ask(question, {})
        self.plain[path] = ()

    def ask(self, parts: Sequence[UserPart], path: str, places: Sequence[str], notes: JsonObject) -> None:
        """What a person says."""
        self._begin(path)
        self._ask(user_content(parts, path, places, self._dialect, self.losses, notes), notes)

    def answer(
        self,
        parts: Sequence[AssistantPart],
        path: str,
        places: Sequence[str],
        notes: JsonObject,
        *,
        is_over: bool = False,
    ) -> None:
        """What the model says and calls in a step; what came of the calls is taken behind it."""
        self._begin(path)
        turn = Turn(self._dialect, path, self.losses, is_over=is_over, notes=notes)
        said = assistant_turn(turn, parts, places).message()
        if said is not None:
            self.messages.append(said)
        self._waiting = turn.waiting
        for call, _ in turn.waiting:
            self._open[call.id] = self._open.get(call.id, 0) + 1

    def take_results(self, parts: Sequence[ToolPart], places: Sequence[str]) -> None:
        """What came of calls: of the last answer, each of a call that has none yet."""
        for part, place in zip(parts, places, strict=True):
            if isinstance(part, ToolResultPart) and self._open.get(part.id):
                notes = own_of(part.provider_metadata, self._dialect) or {}
                said = result_content(part.output, f"{place}.output", self._dialect, self.losses, notes)
                self._results.setdefault(part.id, deque()).append(Result(said, notes))
                self._open[part.id] -= 1
            else:
                self.losses.append(Loss.of(place, part, NO_CALL))

    def settle(self) -> None:
        """Give every call of the last answer its result, in their order; then what results cannot hold."""
        if not self._waiting:
            return
        media: list[JsonObject] = []
        found = [(waiting, self._result_of(waiting.call)) for waiting in self._waiting]
        if any(result.notes for _, result in found):
            found.sort(key=lambda pair: _place(pair[1]))
        for (call, sent), result in found:
            if result is NOTHING:
                self.losses.append(Loss(self._path, f"no result of {call.id}", NEVER, "repaired"))
            self.messages.append(self._result(call, sent, result))
            if result.said.media:
                told = f"Given by {name_of(call.name)} ({sent}):"
                media += [{"type": "text", "text": told}, *result.said.media]
        self._waiting, self._open, self._results = [], {}, {}
        if media:
            self._ask(media, {})

    def end(self) -> None:
        """Nothing more comes."""
        self.settle()
        self.is_hoisted = bool(self._instructions)
        match self._instructions:
            case [only]:
                self.messages.insert(0, only.message)
            case [_, *others]:
                self.losses += [
                    Loss.of(given.path, given.message, ONE_SYSTEM, "changed")
                    for given in self._instructions
                    if given.message != {"role": self._dialect.system_role, "content": given.text}
                ]
                said = "\n\n".join(instruction.text for instruction in self._instructions)
                self.messages.insert(0, {"role": self._dialect.system_role, "content": said})
                self.losses += [
                    Loss(other.path, "where it begins", ONE_SYSTEM, "changed") for other in others
                ]
            case _:
                pass

    def _result(self, call: ToolCallPart, sent: str, result: Result) -> JsonObject:
        own = own_of(call.call_provider_metadata, self._dialect)
        if own is None and not result.notes:
            return {"role": "tool", "tool_call_id": sent, "content": result.said.content}
        content = in_form(result.said.content, result.notes)
        kept = fields_in(result.notes)
        if own is not None and own.get("type") == LEGACY:
            return {"role": "function", "name": name_of(call.name), **content, **kept}
        return {"role": "tool", "tool_call_id": sent, **content, **kept}

    def _items(self, parts: Sequence[SystemPart], places: Sequence[str]) -> list[JsonObject]:
        items: list[JsonObject] = []
        for part, place in zip(parts, places, strict=True):
            if isinstance(part, TextPart):
                items.append(text_item(part.text, own_of(part.provider_metadata, self._dialect)))
                continue
            item = own_item(part, self._dialect)
            if item is None:
                self.losses.append(Loss.of(place, part, ONLY_TEXT))
            else:
                items.append(item)
        return items

    def _ask(self, content: str | list[JsonObject], notes: JsonObject) -> None:
        if not content and not notes:
            return
        if not self._dialect.user_after_tool and self.messages and self.messages[-1]["role"] == "tool":
            self.messages.append({"role": "assistant", "content": BRIDGE})
            self.losses.append(Loss(self._path, f"{BRIDGE!r} before it", BRIDGED, "repaired"))
        self.messages.append({"role": "user", **in_form(content, notes), **fields_in(notes)})

    def _result_of(self, call: ToolCallPart) -> Result:
        results = self._results.get(call.id)
        return results.popleft() if results else NOTHING


def _place(result: Result) -> int:
    place = result.notes.get(PLACE)
    return place if isinstance(place, int) else 0
