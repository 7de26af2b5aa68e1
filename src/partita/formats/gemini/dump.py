"""Canonical messages → `systemInstruction` and `contents`, or a whole request to Gemini.

What Gemini insists on is mended and told: contents begin and end with the user, calls are answered in one
content in their order, empty texts are left out, the first call of a foreign step has the documented
placeholder for a signature. Lost: ids, times and owners, what other models thought and their tools did,
titles, approvals, sub-agents, citations, sources, data.
"""

from collections.abc import Sequence
from typing import Final

from partita.formats import format as formats
from partita.formats.format import Dumped, ToolSpec
from partita.formats.losses import Loss
from partita.types.codec import to_json
from partita.types.fold import fold
from partita.types.json import JsonObject, is_array, is_object
from partita.types.messages import (
    AssistantMessage,
    AssistantPart,
    Message,
    SystemMessage,
    ToolCallPart,
    ToolMessage,
    UserMessage,
)
from partita.types.parts import DataPart, ForeignPart, TextPart, UnknownPart
from partita.types.tools import ExecutionDeniedOutput, InterruptedOutput, ToolResultPart

from .answered import output_of
from .asked import declaration_of
from .contents import INSTRUCTIONS
from .located import located
from .looking import CALL_ID, SIGNATURE
from .outputs import Answer
from .plainly import Step, plain_question, plain_steps
from .request import CONTINUE, NO_CALL, USER, Request
from .rest import NO_ID, is_sent, tell_id, tell_message, tell_part, tell_whole
from .turns import PLACEHOLDER, marks_in

JOINED: Final = "users and models take turns: it goes on in the content before it"
ADDED: Final = "contents begin and end with the user, so the user says this"
UNSIGNED: Final = "no Gemini signed this call: it has the documented placeholder"
READ_AS: Final = "what a tool gave back is an object there, and read again as something else"
NO_WORDS: Final = "Gemini refuses a text without words"
NOT_TOGETHER: Final = "before Gemini 3, declared tools and tools of Google are not used together"


def dump(messages: Sequence[Message]) -> Dumped:
    """The contents of a request, and the instructions before them."""
    return _write(messages, "", (), {})


def ask(messages: Sequence[Message], request: formats.Request) -> Dumped:
    """A whole request. The model is named in it only if the settings name one."""
    named = request.settings.get("model")
    return _write(messages, named if isinstance(named, str) else "", request.tools, request.settings)


def _write(
    messages: Sequence[Message], model: str, tools: Sequence[ToolSpec], settings: JsonObject
) -> Dumped:
    writer = Telling(model)
    for place, message in enumerate(fold(messages)):
        writer.write(message, f"$[{place}]")
    given = writer.allowed(settings, tools)
    return Dumped(writer.body(tools, given), tuple(writer.losses))


class Telling(Request):
    """Gathers contents, and tells of everything that is not as it was."""

    def __init__(self, model: str) -> None:
        super().__init__(model)
        self._names_model = bool(model)
        self._unnamed: dict[int, int] = {}
        """How many calls of each content have no id of the provider's own."""
        self._native = ""

    def write(self, message: Message, path: str) -> None:
        """The next stored message."""
        if self._is_plain(message, path):
            return
        if not is_sent(message):
            tell_whole(message, path, self.losses.append)
            return
        match message:
            case ToolMessage():
                for number, part in enumerate(message.parts):
                    self.losses.append(Loss.of(f"{path}.content.parts[{number}]", part, NO_CALL))
                tell_message(message, path, self.losses.append, None)
            case AssistantMessage():
                self._write_answer(message, path)
            case SystemMessage() | UserMessage():
                self._write_words(message, path)

    def _is_plain(self, message: Message, path: str) -> bool:
        """Whether a message was written as one that has an id and words, calls and results, and no more."""
        if type(message) is UserMessage:
            question = plain_question(message)
            if question is None:
                return False
            self._begin(path)
            self._add(USER, [{"text": question}], f"{path}.content.parts[0]")
            expected: str | None = f"message-{self.count}"
        elif type(message) is AssistantMessage:
            steps = plain_steps(message, path)
            if steps is None:
                return False
            expected = self._write_steps(steps, path)
        else:
            return False
        if message.id != expected:
            self.losses.append(Loss.of(f"{path}.id", message.id, NO_ID))
        return True

    def _write_steps(self, steps: Sequence[Step], path: str) -> str | None:
        """Steps of which nothing is lost but ids; the id that the first one is read with."""
        self._native = "gemini-"
        expected: str | None = None
        for step in steps:
            self._begin(path)
            self._step(step.parts, path, step.places)
            expected = expected or f"message-{self.count}"
            self._tell_ids(step.parts, step.places)
            if step.results:
                self._begins, self._around = False, {}
                self._answer(step.results, path)
        return expected

    def _write_words(self, message: SystemMessage | UserMessage, path: str) -> None:
        is_apart = isinstance(message, SystemMessage) and not self.count and self._has_instruction
        is_first = not self.instructions
        self.take(message, path)
        for number, part in enumerate(message.parts):
            where = f"{path}.content.parts[{number}]"
            if (
                isinstance(part, TextPart)
                and not part.text
                and SIGNATURE not in marks_in(part.provider_metadata)
            ):
                self.losses.append(Loss.of(where, part, NO_WORDS, "minor"))
            elif not isinstance(part, DataPart | ForeignPart | UnknownPart):
                tell_part(part, where, self.losses.append)
        if is_apart and not is_first and message.parts:
            self.losses.append(Loss.of(path, message.id, "all instructions are one content", "repaired"))
        expected = (INSTRUCTIONS if is_first else None) if is_apart else f"message-{self.count}"
        tell_message(message, path, self.losses.append, expected)

    def _write_answer(self, message: AssistantMessage, path: str) -> None:
        self._native = f"{_response_id(message) or 'gemini'}-"
        expected: str | None = None
        for step in located(message, path, self.losses):
            self.take(step.message, path, step.places)
            if isinstance(step.message, AssistantMessage):
                expected = expected or f"message-{self.count}"
                self._tell_ids(step.message.parts, step.places)
        for number, part in enumerate(message.parts):
            where = f"{path}.content.parts[{number}]"
            if not isinstance(part, DataPart | ForeignPart | UnknownPart):
                tell_part(part, where, self.losses.append)
        tell_message(message, path, self.losses.append, expected)

    def _tell_ids(self, parts: Sequence[AssistantPart], places: Sequence[str]) -> None:
        for part, place in zip(parts, places, strict=True):
            if type(part) is ToolCallPart:
                is_named = CALL_ID in marks_in(part.call_provider_metadata)
                number = self._unnamed.get(self.count, 0)
                self._unnamed[self.count] = number + (not is_named)
                tell_id(part, place, self.losses.append, f"message-{self.count}-{number}")

    # What is told where a request mends something

    def _go_on(self) -> None:
        where = f"$[{self.count}]" if self.count else "$"
        self.losses.append(Loss(where, CONTINUE, ADDED, "repaired"))
        super()._go_on()

    def _joined(self, path: str, before: JsonObject) -> None:
        if "functionResponse" not in before:
            self.losses.append(Loss(path, "where a message begins", JOINED, "repaired"))

    def _must_be_signed(self, call: ToolCallPart, path: str) -> bool:
        if self._names_model:
            return super()._must_be_signed(call, path)
        is_own = CALL_ID in marks_in(call.call_provider_metadata)
        return not is_own and not call.id.startswith((f"message-{self.count + 1}-", self._native))

    def _signed(self, path: str) -> None:
        self.losses.append(Loss(path, PLACEHOLDER, UNSIGNED, "repaired"))

    def _given(self, result: ToolResultPart, path: str) -> Answer:
        answer = super()._given(result, path)
        output = result.output
        if not isinstance(output, ExecutionDeniedOutput | InterruptedOutput):
            again = output_of(answer.response, list(answer.files))
            if again != output and to_json(again) != to_json(output):
                self.losses.append(Loss.of(f"{path}.output", output, READ_AS, "changed"))
        return answer

    def contents(self) -> list[JsonObject]:
        """The contents; none at all, if nothing was said."""
        self._answer({}, "$")
        return super().contents() if self.count else []

    def declare(self, tool: ToolSpec) -> JsonObject:
        """A tool as it was declared, or as the model is told of it."""
        return declaration_of(tool) or super().declare(tool)

    def allowed(self, settings: JsonObject, tools: Sequence[ToolSpec]) -> JsonObject:
        """The settings, without tools of Google where the model cannot have both."""
        theirs = settings.get("tools")
        if not tools or not theirs or not self._names_model or self._is_third:
            return settings
        others = theirs if is_array(theirs) else [theirs]
        for number, tool in enumerate(others):
            self.losses.append(Loss.of(f"tools[{number}]", tool, NOT_TOGETHER, "repaired"))
        return {key: value for key, value in settings.items() if key != "tools"}


def _response_id(message: AssistantMessage) -> str | None:
    metadata = message.content.metadata
    told = metadata.get("responseId") if is_object(metadata) else None
    return told if isinstance(told, str) and told else None
