"""The messages of a request while they are gathered, with the repairs that servers insist on."""

from collections import Counter, defaultdict, deque
from collections.abc import Sequence
from typing import Final, NamedTuple, assert_never

from partita.formats.losses import Loss
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject
from partita.types.messages import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolCallPart,
    ToolMessage,
    UserMessage,
)
from partita.types.parts import TextPart
from partita.types.tools import ToolResultPart

from .dialects import Dialect
from .names import name_of
from .notes import CONTENT, LEGACY, PLACE, ROLE
from .outputs import UNANSWERED, Said, result_content
from .owning import own_item, own_of
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
    """The messages of a request. `last_user` is where the user spoke last in the view."""

    def __init__(self, dialect: Dialect, losses: list[Loss], last_user: int = -1) -> None:
        self.messages: list[JsonObject] = []
        self.losses = losses
        self._dialect = dialect
        self._last_user = last_user
        self._instructions: list[Instruction] = []
        self._waiting: list[Waiting] = []
        self._results: defaultdict[str, deque[Result]] = defaultdict(deque)
        self._path = "$"
        self.is_hoisted = False
        """Whether instructions were put before all that was gathered."""

    def add(
        self, message: Message, path: str, places: Sequence[str], notes: JsonObject, index: int = 0
    ) -> None:
        """Take a message that stood at `path`, its parts at `places`, in the form that `notes` tell."""
        if not isinstance(message, ToolMessage):
            self.settle()
            self._path = path
        match message:
            case SystemMessage():
                self._instruct(message, path, places, notes)
            case UserMessage():
                content = user_content(message, path, places, self._dialect, self.losses, notes)
                self._ask(content, notes)
            case AssistantMessage():
                is_over = index < self._last_user
                turn = Turn(self._dialect, path, self.losses, is_over=is_over, notes=notes)
                said = assistant_turn(turn, message, places).message()
                self.messages += [] if said is None else [said]
                self._waiting = turn.waiting
            case ToolMessage():
                self._take_results(message, places)
            case _:
                assert_never(message)

    def settle(self) -> None:
        """Give every call of the last answer its result, in their order; then what results cannot hold."""
        media: list[JsonObject] = []
        found = [(waiting, self._result_of(waiting.call)) for waiting in self._waiting]
        for (call, sent), result in sorted(found, key=lambda pair: _place(pair[1])):
            if result is NOTHING:
                self.losses.append(Loss(self._path, f"no result of {call.id}", NEVER, "repaired"))
            self.messages.append(self._result(call, sent, result))
            if result.said.media:
                told = f"Given by {name_of(call.name)} ({sent}):"
                media += [{"type": "text", "text": told}, *result.said.media]
        self._waiting = []
        self._results.clear()
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
        own = own_of(call.call_provider_metadata, self._dialect) or {}
        content = in_form(result.said.content, result.notes)
        kept = fields_in(result.notes)
        if own.get("type") == LEGACY:
            return {"role": "function", "name": name_of(call.name), **content, **kept}
        return {"role": "tool", "tool_call_id": sent, **content, **kept}

    def _instruct(self, message: SystemMessage, path: str, places: Sequence[str], notes: JsonObject) -> None:
        items = self._items(message, places)
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

    def _items(self, message: SystemMessage, places: Sequence[str]) -> list[JsonObject]:
        items: list[JsonObject] = []
        for part, place in zip(message.parts, places, strict=True):
            if isinstance(part, TextPart):
                items.append(text_item(part.text, own_of(part.provider_metadata, self._dialect)))
                continue
            item = own_item(part, self._dialect)
            if item is None:
                self.losses.append(Loss.of(place, to_json(part), ONLY_TEXT))
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
        results = self._results[call.id]
        return results.popleft() if results else NOTHING

    def _take_results(self, message: ToolMessage, places: Sequence[str]) -> None:
        open_ = Counter(waiting.call.id for waiting in self._waiting)
        for part, place in zip(message.parts, places, strict=True):
            if isinstance(part, ToolResultPart) and open_[part.id] > len(self._results[part.id]):
                notes = own_of(part.provider_metadata, self._dialect) or {}
                said = result_content(part.output, f"{place}.output", self._dialect, self.losses, notes)
                self._results[part.id].append(Result(said, notes))
            else:
                self.losses.append(Loss.of(place, to_json(part), NO_CALL))


def _place(result: Result) -> int:
    place = result.notes.get(PLACE)
    return place if isinstance(place, int) else 0
