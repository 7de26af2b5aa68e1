"""Questions, thoughts, answers, and calls with their results, as long as there is nothing else to them.

Most of any talk is like that, so it is written in one go: what `Talk` makes of it, and `Untold` tells of it.
"""

from typing import NamedTuple

from msgspec import UNSET

from partita.formats.bare import is_bare, is_bare_message, plain_result
from partita.formats.losses import Loss
from partita.types.codec import encode
from partita.types.json import JsonObject
from partita.types.messages import AssistantMessage, ToolCallPart, UserMessage
from partita.types.parts import ReasoningPart, StepStartPart, TextPart

from .dialects import Dialect
from .names import id_of, name_of
from .thoughts import NOT_OURS, NOT_WANTED
from .turns import NEW_ID, NO_REASONING

AS_TEXT = "a result is text"


class Plain(NamedTuple):
    """The messages that a message becomes."""

    messages: list[JsonObject]
    losses: list[Loss]
    """What is told while they are written."""
    untold: list[Loss]
    """What has no place in them."""


def plain_question(message: UserMessage) -> str | None:
    """What a person said, if it is one text and no more."""
    parts = message.content.parts
    if len(parts) != 1 or type(parts[0]) is not TextPart:
        return None
    is_plain = is_bare(parts[0]) and is_bare_message(message)
    return parts[0].text or None if is_plain else None


def plain_answer(message: AssistantMessage, path: str, dialect: Dialect) -> Plain | None:
    """What a model said and did, if there is no more to it; else none."""
    if not is_bare_message(message):
        return None
    written = _Writer(path, dialect)
    for index, part in enumerate(message.content.parts):
        if type(part) is ToolCallPart:  # the type itself: `isinstance` is slow where the class has one
            if not written.call(part, index):
                return None
        elif not is_bare(part):
            return None
        elif type(part) is TextPart:
            if written.text or written.calls or not part.text:
                return None
            written.text = part.text
        elif type(part) is StepStartPart:
            written.end_step()
        elif type(part) is ReasoningPart:
            why = NOT_WANTED if dialect.reasoning is None else NOT_OURS
            written.losses.append(Loss.of(f"{path}.content.parts[{index}]", part, why))
    written.end_step()
    if not written.messages and not written.losses:
        return None
    return Plain(written.messages, written.losses, written.untold)


class _Writer:
    """The messages of an answer while they are written, and the step at hand."""

    __slots__ = ("calls", "dialect", "losses", "messages", "path", "results", "text", "untold")

    def __init__(self, path: str, dialect: Dialect) -> None:
        self.path = path
        self.dialect = dialect
        self.messages: list[JsonObject] = []
        self.losses: list[Loss] = []
        self.untold: list[Loss] = []
        self.text = ""
        self.calls: list[JsonObject] = []
        self.results: dict[str, str] = {}

    def call(self, call: ToolCallPart, index: int) -> bool:
        """Whether a call and its result could be written as they are."""
        given, result, sent = call.input, plain_result(call), id_of(call.id, self.dialect)
        if result is UNSET or isinstance(given, str) or name_of(call.name) != call.name:
            return False
        if not sent or sent in self.results:
            return False
        if sent != call.id:
            self.losses.append(Loss.of(f"{self.path}.content.parts[{index}].id", call.id, NEW_ID, "repaired"))
        if isinstance(result, str):
            self.results[sent] = result
        else:
            where = f"{self.path}.content.parts[{index}].output.type"
            self.untold.append(Loss.of(where, "json", AS_TEXT, "changed"))
            self.results[sent] = encode(result).decode()
        function = {"name": call.name, "arguments": encode(given).decode()}
        self.calls.append({"id": sent, "type": "function", "function": function})
        return True

    def end_step(self) -> None:
        """What was said and called is a message, and so is each result."""
        calls = self.calls
        if not calls and not self.text:
            return
        said: JsonObject = {"role": "assistant", "content": self.text or None}
        if calls:
            said["tool_calls"] = calls
        if self.dialect.needs_reasoning and self.dialect.reasoning is not None:
            said[self.dialect.reasoning] = ""
            self.losses.append(Loss(self.path, "no reasoning", NO_REASONING, "repaired"))
        self.messages.append(said)
        if calls:
            self.messages += [
                {"role": "tool", "tool_call_id": sent, "content": result}
                for sent, result in self.results.items()
            ]
            self.calls, self.results = [], {}
        self.text = ""
