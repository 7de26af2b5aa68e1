"""Messages → a request without a model, or a whole one with tools and settings.

Written as the runtime sends it, but told in full: every repair, and everything that reading the result again
does not give back. Notices and internal turns are not sent; reasoning and calls of other providers neither.
"""

from collections.abc import Sequence
from typing import Final, TypeVar, assert_never

from partita.formats.answers.model_view import NO_CALL, UNANSWERED, WAITS, model_view
from partita.formats.format import Dumped, Request
from partita.formats.losses import Loss
from partita.formats.openai_responses.amending import OUTPUT, amended
from partita.formats.openai_responses.fields import NAMESPACE, inner, text
from partita.formats.openai_responses.reading.conversation import message_id, read_message, write_message
from partita.formats.openai_responses.reading.load import INSTRUCTIONS, PLACE
from partita.formats.openai_responses.reading.outputs import CALLS, read_lone_output
from partita.formats.openai_responses.request_calls import fit_call_id
from partita.formats.openai_responses.request_content import own
from partita.formats.openai_responses.request_outputs import output_item
from partita.formats.openai_responses.tools import write_tools
from partita.types.codec import to_json
from partita.types.fold import fold
from partita.types.json import Json, JsonObject
from partita.types.messages import (
    AssistantMessage,
    Message,
    SystemContent,
    SystemMessage,
    ToolMessage,
    UserContent,
    UserMessage,
)
from partita.types.parts import TextPart
from partita.types.tools import ToolResultPart

from .comparing import difference
from .parts import shell_losses, tell_shown
from .turn import TurnWriter

NOT_TALK: Final = "notices and internal turns are not sent to a model"
NO_WORDS: Final = "nothing of it can be sent"
NOT_ALONE: Final = "words are the whole input only when nothing follows"
ONE_TURN: Final = "answers with nothing of the user between are one turn"
INPUT: Final = "input"

C = TypeVar("C", SystemContent, UserContent)

INSERTED: Final = frozenset({UNANSWERED, WAITS})
"""Repairs that add something."""


def dump(messages: Sequence[Message]) -> Dumped:
    """Messages as the input of a request."""
    return _Writer().write(messages, None)


def ask(messages: Sequence[Message], request: Request) -> Dumped:
    """A whole request. Settings have the provider's names."""
    return _Writer().write(messages, request)


class _Writer:
    """One list of messages on its way."""

    def __init__(self) -> None:
        self.items: list[JsonObject] = []
        self.losses: list[Loss] = []
        self.payload: JsonObject = {}
        self._input = ""
        """Where the message is whose words are the whole input."""
        self._in_turn = False
        """Whether the message before is an answer too: both are read as one."""

    def write(self, messages: Sequence[Message], request: Request | None) -> Dumped:
        """All of them."""
        settings = {} if request is None else request.settings
        stored = settings.get("store") is not False
        for index, message in enumerate(fold(messages)):
            self._add(message, f"$[{index}]", stored=stored)
        payload: JsonObject = {**settings, **self.payload}
        if self.items or INPUT not in payload:
            payload[INPUT] = self.items
        if request is not None and (tools := write_tools(request, self.losses)):
            payload["tools"] = tools
        return Dumped(payload, tuple(self.losses))

    def _add(self, message: Message, path: str, *, stored: bool) -> None:
        if message.internal or message.type == "event":
            self._lose(path, message, NOT_TALK)
            return
        match message:
            case SystemMessage() | UserMessage():
                self._add_said(message, path)
            case AssistantMessage():
                self._add_turn(message, path, stored=stored)
            case ToolMessage():
                self._add_results(message, path)
            case _:
                assert_never(message)

    def _add_said(self, message: SystemMessage | UserMessage, path: str) -> None:
        place = text(own(message.content.provider_metadata), PLACE)
        words = _words(message)
        is_first = words is not None and not self.items and INPUT not in self.payload
        if is_first and place == INSTRUCTIONS and isinstance(message, SystemMessage) and not self.payload:
            self.payload[INSTRUCTIONS] = words
            self._tell(
                message, path, SystemMessage(id=INSTRUCTIONS, content=_placed(SystemContent, words, place))
            )
            return
        if is_first and place == INPUT and isinstance(message, UserMessage):
            self.payload[INPUT], self._input = words, path
            self._tell(
                message, path, UserMessage(id=message_id(0), content=_placed(UserContent, words, place))
            )
            return
        self._end_input()
        item = amended(write_message(message), own(message.content.provider_metadata))
        if message.parts and not item.get("content"):
            self._lose(path, message, NO_WORDS)
            return
        tell_shown(message.parts, f"{path}.content.parts", self.losses)
        id_ = message_id(len(self.items))
        self.items.append(item)
        self._in_turn = False
        self._compare(message, path, read_message(item, id_))

    def _add_turn(self, message: AssistantMessage, path: str, *, stored: bool) -> None:
        self._end_input()
        id_ = message_id(len(self.items))
        view = model_view([message])
        self.losses += [
            Loss(path + repair.path.removeprefix("$[0]"), repair.what, repair.why, "repaired")
            for repair in view.repairs
            if repair.why in INSERTED
        ]
        written = TurnWriter(message, path, self.losses, stored=stored).write(view.messages)
        self.items += written
        self._compare(message, path, AssistantMessage(id=id_ if written else "", content=()))
        if written and self._in_turn:
            self.losses.append(Loss(path, "where the message begins", ONE_TURN, "changed"))
        self._in_turn = self._in_turn or bool(written)

    def _add_results(self, message: ToolMessage, path: str) -> None:
        """Outputs without a call: those of an earlier request, which the provider has stored."""
        self._end_input()
        id_ = message_id(len(self.items))
        for place, part in enumerate(message.parts):
            where = f"{path}.content.parts[{place}]"
            said = inner(own(part.provider_metadata), OUTPUT) if isinstance(part, ToolResultPart) else {}
            kind = CALLS.get(text(said, "type"))
            if not isinstance(part, ToolResultPart) or kind is None:
                self._lose(where, part, NO_CALL)
                continue
            items = output_item(part, kind, fit_call_id(part.id), where, [])
            for item in items:
                self.items.append(item)
                self._in_turn = False
                self.losses += difference(to_json(part), to_json(read_lone_output(item)), where)
            if not items:
                self._lose(where, part, NO_WORDS)
        self._compare(message, path, ToolMessage(id=id_, content=()))

    def _end_input(self) -> None:
        """Words that were the whole input are an item when more comes."""
        words = self.payload.pop(INPUT, None)
        if words is not None:
            self.losses.append(Loss.of(self._input, INPUT, NOT_ALONE, "changed"))
            self.items.append({"role": "user", "content": words})

    def _tell(self, message: SystemMessage | UserMessage, path: str, again: Message) -> None:
        """Tell what of a message in another place than the list is not there."""
        tell_shown(message.parts, f"{path}.content.parts", self.losses)
        self._compare(message, path, again)

    def _compare(self, message: Message, path: str, again: Message) -> None:
        """Tell what around the parts of a message is not in what it is read as."""
        self.losses += shell_losses(message, again, path)

    def _lose(self, path: str, value: Json, why: str) -> None:
        self.losses.append(Loss.of(path, value, why))


def _words(message: SystemMessage | UserMessage) -> str | None:
    """What a message says, if it is one text."""
    match message.parts:
        case (TextPart(text=words),):
            return words
        case _:
            return None


def _placed(type_: type[C], words: str | None, place: str) -> C:
    """The content of words that stand in a place of their own."""
    return type_(parts=(), content=words, provider_metadata={NAMESPACE: {PLACE: place}})
