"""Instructions, questions, thoughts, answers, and calls with their results, as long as that is all there is.

Most of any talk is like that, so it is written in one go: what `Talk` makes of it, and `Untold` tells of it.
"""

from collections.abc import Sequence
from typing import Final

from msgspec import UNSET

from partita.formats.bare import is_bare_reasoning, is_bare_text, plain_result
from partita.formats.losses import Loss
from partita.types.codec import encode
from partita.types.json import JsonObject
from partita.types.messages import AssistantPart, SystemPart, ToolCallPart, UserPart
from partita.types.parts import ReasoningPart, StepStartPart, TextPart

from .dialects import Dialect
from .names import id_of, name_of
from .thoughts import NOT_OURS, NOT_WANTED
from .turns import NEW_ID, NO_REASONING

AS_TEXT: Final = "a result is text"


def plain_words(parts: Sequence[SystemPart | UserPart]) -> str | None:
    """What somebody other than the model said, if it is one text and no more."""
    if len(parts) != 1:
        return None
    (part,) = parts
    return part.text or None if type(part) is TextPart and is_bare_text(part) else None


class PlainWriter:
    """The messages that answers become while they are written, and the step at hand."""

    __slots__ = ("_calls", "_dialect", "_results", "_text", "losses", "messages", "untold")

    def __init__(self, dialect: Dialect) -> None:
        self.messages: list[JsonObject] = []
        self.losses: list[Loss] = []
        """What is told while they are written."""
        self.untold: list[Loss] = []
        """What has no place in them."""
        self._dialect = dialect
        self._text = ""
        self._calls: list[JsonObject] = []
        self._results: dict[str, JsonObject] = {}
        """What came of the calls, by the ids that they are sent with."""

    def answer(self, parts: Sequence[AssistantPart], path: str) -> bool:
        """Whether there is no more to what a model said and did, so that it is written."""
        is_said = False
        for index, part in enumerate(parts):
            if type(part) is ToolCallPart:  # the type itself: `isinstance` is slow where the class has one
                if not self._call(part, path, index):
                    return False
            elif type(part) is TextPart:
                if self._text or self._calls or not part.text or not is_bare_text(part):
                    return False
                self._text = part.text
            elif type(part) is StepStartPart:
                if part.provider_metadata is not None or part.extra is not None:
                    return False
                if self._text or self._calls:
                    self._end_step(path)
                continue
            elif type(part) is ReasoningPart and is_bare_reasoning(part):
                why = NOT_WANTED if self._dialect.reasoning is None else NOT_OURS
                self.losses.append(Loss.of(f"{path}.content.parts[{index}]", part, why))
            else:
                return False
            is_said = True
        if self._text or self._calls:
            self._end_step(path)
        return is_said

    def _call(self, call: ToolCallPart, path: str, index: int) -> bool:
        """Whether a call and its result could be written as they are."""
        given, name, result = call.input, call.name, plain_result(call)
        sent = id_of(call.id, self._dialect) if self._dialect.nine_letter_ids else call.id
        if result is UNSET or type(given) is str or name_of(name) != name:
            return False
        if not sent or sent in self._results:
            return False
        if sent != call.id:
            self.losses.append(Loss.of(f"{path}.content.parts[{index}].id", call.id, NEW_ID, "repaired"))
        if type(result) is not str:
            where = f"{path}.content.parts[{index}].output.type"
            self.untold.append(Loss(where, '"json"', AS_TEXT, "changed"))
            result = encode(result).decode()
        function = {"name": name, "arguments": encode(given).decode()}
        self._calls.append({"id": sent, "type": "function", "function": function})
        self._results[sent] = {"role": "tool", "tool_call_id": sent, "content": result}
        return True

    def _end_step(self, path: str) -> None:
        """What was said and called is a message, and so is each result."""
        said: JsonObject = {"role": "assistant", "content": self._text or None}
        self._text = ""
        self.messages.append(said)
        if self._calls:
            said["tool_calls"] = self._calls
            self.messages += self._results.values()
            self._calls, self._results = [], {}
        field = self._dialect.reasoning
        if field is not None and self._dialect.needs_reasoning:
            said[field] = ""
            self.losses.append(Loss(path, "no reasoning", NO_REASONING, "repaired"))
