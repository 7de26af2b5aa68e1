"""What tools gave back, read from the contents of a request, and the calls that it belongs to.

An answer finds its call by id, else by name in order, else by order alone.
"""

from typing import Final, NamedTuple

from partita.formats.losses import Loss
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.parts import FilePart, ForeignPart, TextPart
from partita.types.tools import (
    ContentItem,
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    JsonOutput,
    TextOutput,
    ToolOutput,
    ToolResultPart,
)

from .looking import CALL_ID, FORMAT, NAME, NAMESPACE, RESPONSE, ROLE, marks_of, more_of, text_at, written
from .names import tool_name
from .seen import file_in
from .spelling import spelled_part

OUTPUT: Final = "output"
ERROR: Final = "error"
NO_OBJECT: Final = "an answer to a call is an object: it becomes a member of one"
UNORDERED: Final = "answers stand in the order of their calls"


class Asked(NamedTuple):
    """A call that waits for its answer."""

    id: str
    name: str
    told: str | None
    """The id that the provider gave it."""
    message_id: str = ""

    def is_meant(self, told: str | None, name: str) -> bool:
        """Whether an answer with this id or, if it has none, this name may be its own."""
        return self.told == told if told is not None else tool_name(self.name) == name


def output_of(response: Json, files: Json = None) -> ToolOutput:
    """What a tool gave back: words, an object, an error, or files too."""
    if is_array(files) and files:
        return ContentOutput((*_words(response), *(_file(item) for item in files)))
    if is_object(response) and len(response) == 1:
        [(key, value)] = response.items()
        if key == ERROR:
            return ErrorTextOutput(value) if isinstance(value, str) else ErrorJsonOutput(value)
        if key == OUTPUT and not is_object(value):
            return TextOutput(value) if isinstance(value, str) else JsonOutput(value)
    return TextOutput(response) if isinstance(response, str) else JsonOutput(response)


def _words(response: Json) -> list[ContentItem]:
    if response in ({}, None):
        return []
    if is_object(response) and response.keys() == {OUTPUT} and isinstance(response[OUTPUT], str):
        return [TextPart(response[OUTPUT])]
    text = response if isinstance(response, str) else written(response) or ""
    return [TextPart(text, provider_metadata={NAMESPACE: {RESPONSE: response}})]


def _file(item: Json) -> ContentItem:
    found = file_in(spelled_part(item))
    return found if isinstance(found, FilePart) else ForeignPart(FORMAT, item)


class Answers:
    """Gives the answers of one content to the calls of the content before it."""

    def __init__(self, asked: list[Asked], message_id: str, role: Json, losses: list[Loss]) -> None:
        self._asked = asked
        """Calls that have no answer yet; those that get one are taken out."""
        self._message_id = message_id
        self._role = role
        self._losses = losses
        self._alone = 0

    def read(self, part: JsonObject, path: str) -> tuple[str, ToolResultPart]:
        """The result that one part holds, and the message of its call."""
        answer: JsonObject = part["functionResponse"]
        told, name = text_at(answer, "id"), text_at(answer, "name") or ""
        call = self._call_of(told, name, path)
        response = answer.get("response", {})
        if not is_object(response):
            self._losses.append(Loss.of(f"{path}.functionResponse.response", response, NO_OBJECT, "changed"))
        known = ("id", "name", "response", "parts") if is_array(answer.get("parts", [])) else ("id", "name")
        marks = {} if len(part) == 1 else marks_of(part, "functionResponse")
        marks |= more_of(answer, "functionResponse", *known, "response")
        if told != call.told:
            marks[CALL_ID] = told
        if name != tool_name(call.name):
            marks[NAME] = name
        if self._role == "function":
            marks[ROLE] = self._role
        output = output_of(response, answer.get("parts"))
        metadata = {NAMESPACE: marks} if marks else None
        return call.message_id, ToolResultPart(call.id, call.name, output, metadata)

    def _call_of(self, told: str | None, name: str, path: str) -> Asked:
        if self._asked and self._asked[0].is_meant(told, name):
            return self._asked.pop(0)
        order = (
            [call for call in self._asked if told is not None and call.told == told]
            or [call for call in self._asked if tool_name(call.name) == name]
            or self._asked
        )
        if not order:
            self._alone += 1
            return Asked(told or f"{self._message_id}-{self._alone - 1}", name, None)
        found = order[0]
        if found is not self._asked[0]:
            self._losses.append(Loss(path, f"the answer to {found.id!r}", UNORDERED, "changed"))
        self._asked.remove(found)
        return found
