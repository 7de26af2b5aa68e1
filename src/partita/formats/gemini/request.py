"""A model view → the body of `streamGenerateContent`, and the name of the model beside it.

Not carried: where an instruction stood that came in mid-talk (it becomes the user's words), what other
providers' models thought and their tools did, citations and sources, names of files. Signatures and ids of
Gemini's own answers go back byte for byte.
"""

from collections.abc import Sequence
from typing import Final, assert_never

from partita.formats.format import Dumped, ToolSpec
from partita.formats.losses import Loss
from partita.types.json import Json, JsonObject, is_array
from partita.types.messages import (
    AssistantMessage,
    AssistantPart,
    Message,
    SystemMessage,
    SystemPart,
    ToolCallPart,
    ToolMessage,
    UserMessage,
    UserPart,
)
from partita.types.parts import (
    DataPart,
    FilePart,
    ForeignPart,
    ImagePart,
    ReasoningFilePart,
    TextPart,
    UnknownPart,
)
from partita.types.tools import ToolResultPart

from .looking import APART, AROUND, CALL_ID, NAME, ROLE, SIGNATURE, THOUGHT, object_at
from .models import has_system_instruction, is_third_generation
from .names import tool_name
from .outputs import NOT_SENT, Answer, answer_of
from .turns import PLACEHOLDER, beside, file_of, kept_part, marks_in, part_of

CONTINUE: Final = "Continue."
"""What the user is made to say where a conversation must have words of theirs and has none."""

USER: Final = "user"
MODEL: Final = "model"
ROLES: Final = (USER, "function")
"""Who answers calls: the user, and in older requests a role of its own."""

NO_RESULT: Final = "the call never got an answer"
NO_CALL: Final = "a result without a call"
MOVED: Final = "Gemini is told instructions before all else only: here they are the user's words"
NO_LINK: Final = "before Gemini 3 a tool answers in words: the file stands beside the answer"


def build_request(
    view: Sequence[Message],
    *,
    model: str,
    tools: Sequence[ToolSpec] = (),
    settings: JsonObject | None = None,
) -> Dumped:
    """The body of a request, and what it could not carry. `settings` are in the provider's own words."""
    request = Request(model)
    for place, message in enumerate(view):
        request.take(message, f"$[{place}]")
    return Dumped({"model": model, **request.body(tools, settings)}, tuple(request.losses))


class Request:
    """Gathers the contents of a request. Neighbours of one role become one content."""

    def __init__(self, model: str) -> None:
        self.instructions: list[JsonObject] = []
        self.losses: list[Loss] = []
        self._apart: JsonObject = {}
        self._contents: list[JsonObject] = []
        self._calls: list[ToolCallPart] = []
        """Calls of the last step, to be answered in the next content, in their order."""
        self._begins: bool | None = None
        """Whether the next parts begin a message: `True` if that is a content of its own in any case."""
        self._around: JsonObject = {}
        """What the content of the message at hand says besides its role and its parts."""
        self._is_third = is_third_generation(model)
        self._links_files = self._is_third or not model
        self._has_instruction = has_system_instruction(model)

    def take(self, message: Message, path: str, places: Sequence[str] | None = None) -> None:
        """The next message of the view. `places` are the paths of its parts, if they are elsewhere."""
        if not isinstance(message, ToolMessage):
            self._answer({}, path)
        marks = marks_in(message.content.provider_metadata)
        self._begins, self._around = marks.get(APART) is True, object_at(marks, AROUND)
        where = places or [f"{path}.content.parts[{number}]" for number in range(len(message.parts))]
        match message:
            case SystemMessage():
                self._instruct(message, path, where)
            case UserMessage():
                role = marks[ROLE] if marks.get(ROLE) in ROLES else USER
                for part, place in zip(message.parts, where, strict=True):
                    self._add(role, self._user_part(part, place), place)
            case AssistantMessage():
                self._step(message.parts, path, where)
            case ToolMessage():
                self._take_results(message, path, where)
            case _:
                assert_never(message)

    def body(self, tools: Sequence[ToolSpec], settings: JsonObject | None) -> JsonObject:
        """The request, but for the name of the model. What the settings say counts."""
        payload: JsonObject = {"contents": self.contents()}
        if self.instructions:
            payload["systemInstruction"] = {"parts": self.instructions, **self._apart}
        declared = [self.declare(tool) for tool in tools]
        given = dict(settings or {})
        more = given.pop("tools", [])
        built = [{"functionDeclarations": declared}] if declared else []
        if built or more:
            payload["tools"] = [*built, *(more if is_array(more) else [more])]
        return {**payload, **given}

    def contents(self) -> list[JsonObject]:
        """The contents. They begin and end with the user, for Gemini takes no others."""
        self._answer({}, "$")
        if not self._contents or self._contents[-1]["role"] == MODEL:
            self._go_on()
        return self._contents

    def _go_on(self) -> None:
        """Let the user say something, where they must and did not."""
        self._contents.append({"role": USER, "parts": [{"text": CONTINUE}]})

    def declare(self, tool: ToolSpec) -> JsonObject:
        """A tool, as the model is told of it."""
        name = tool_name(tool.name)
        if name != tool.name:
            why = f"Gemini does not allow it: it is declared as {name!r}"
            self.losses.append(Loss(f"tools.{tool.name}", tool.name, why, "repaired"))
        declaration: JsonObject = {"name": name}
        if tool.description:
            declaration["description"] = tool.description
        if tool.input_schema is not None:
            declaration["parametersJsonSchema"] = tool.input_schema
        return declaration

    def _add(self, role: str, parts: Sequence[JsonObject], path: str) -> None:
        if not parts:
            return
        side = MODEL if role == MODEL else USER
        if not self._contents and side == MODEL:
            self._go_on()
        last: JsonObject = self._contents[-1] if self._contents else {}
        is_next = not last or (last["role"] == MODEL) is (side == USER)
        if is_next or self._begins is True:
            self._contents.append({"role": role, "parts": [], **self._around})
            self._around = {}
        elif self._begins is False:
            self._joined(path, last["parts"][-1])
        self._begins = None
        self._contents[-1]["parts"].extend(parts)

    def _joined(self, path: str, before: JsonObject) -> None:
        """A message goes on in the content of the one before it."""

    def _instruct(self, message: SystemMessage, path: str, where: Sequence[str]) -> None:
        if self._has_instruction and not self._contents:
            self._apart |= self._around
        for part, place in zip(message.parts, where, strict=True):
            said = self._system_part(part, place)
            if self._has_instruction and not self._contents:
                self.instructions.extend(said)
            elif said:
                self.losses.append(Loss.of(f"{path}.role", "system", MOVED, "repaired"))
                self._add(USER, said, place)

    def _system_part(self, part: SystemPart, path: str) -> list[JsonObject]:
        if isinstance(part, TextPart):
            return [{"text": part.text, **beside(marks_in(part.provider_metadata))}] if part.text else []
        return kept_part(part, path, self.losses.append)

    def _begin(self, path: str) -> None:
        """A message begins that says nothing of itself: calls before it have all the answers they get."""
        self._answer({}, path)
        self._begins, self._around = False, {}

    def _user_part(self, part: UserPart, path: str) -> list[JsonObject]:
        match part:
            case TextPart(text=text):
                marks = marks_in(part.provider_metadata)
                thought = {THOUGHT: True} if marks.get(THOUGHT) is True else {}
                said = {"text": text, **beside(marks), **thought}
                return [said] if text or SIGNATURE in marks else []
            case ImagePart() | FilePart() | ReasoningFilePart():
                return file_of(part, path, self.losses.append)
            case DataPart() | ForeignPart() | UnknownPart():
                return kept_part(part, path, self.losses.append)
            case _:
                assert_never(part)

    def _step(self, parts: Sequence[AssistantPart], path: str, where: Sequence[str]) -> None:
        said: list[JsonObject] = []
        self._calls = []
        for part, place in zip(parts, where, strict=True):
            sent = part_of(part, place, self.losses.append)
            if type(part) is ToolCallPart and not part.provider_executed:
                is_first = not self._calls
                self._calls.append(part)
                if is_first and SIGNATURE not in sent[0] and self._must_be_signed(part, path):
                    sent[0][SIGNATURE] = PLACEHOLDER
                    self._signed(place)
            said += sent
        self._add(MODEL, said, path)

    def _must_be_signed(self, call: ToolCallPart, path: str) -> bool:
        """Whether the first call of a step gets a signature if it has none."""
        return self._is_third

    def _signed(self, path: str) -> None:
        """A call got a signature that is none."""

    def _take_results(self, message: ToolMessage, path: str, where: Sequence[str]) -> None:
        asked = {call.id for call in self._calls}
        results: dict[str, tuple[ToolResultPart, str]] = {}
        for part, place in zip(message.parts, where, strict=True):
            if not isinstance(part, ToolResultPart):
                self.losses.append(Loss.of(place, part, NOT_SENT))
            elif part.id not in asked or part.id in results:
                self.losses.append(Loss.of(place, part.id, NO_CALL))
            else:
                results[part.id] = (part, place)
        self._answer(results, path)

    def _answer(self, results: dict[str, tuple[ToolResultPart, str]], path: str) -> None:
        """Answer all calls of the last step in one content, in their order."""
        beside_them: list[JsonObject] = []
        answers: list[JsonObject] = []
        role = USER
        for call in self._calls:
            found = results.get(call.id)
            if found is None:
                self.losses.append(Loss.of(path, call.id, NO_RESULT, "repaired"))
                answers.append(_response(call, {}, {"error": NO_RESULT}))
                continue
            part, where = found
            marks = marks_in(part.provider_metadata)
            role = marks[ROLE] if marks.get(ROLE) in ROLES else role
            response, files = self._given(part, where)
            answers.append(_response(call, marks, response))
            if files and self._links_files:
                answers[-1]["functionResponse"]["parts"] = list(files)
            elif files:
                self.losses.append(Loss(f"{where}.output", f"{len(files)} files", NO_LINK, "changed"))
                beside_them += files
        self._calls = []
        self._add(role, [*answers, *beside_them], path)

    def _given(self, result: ToolResultPart, path: str) -> Answer:
        return answer_of(result.output, f"{path}.output", self.losses.append)

    @property
    def count(self) -> int:
        """How many contents there are so far."""
        return len(self._contents)


def _response(call: ToolCallPart, marks: JsonObject, response: JsonObject) -> JsonObject:
    told: Json = marks.get(CALL_ID, marks_in(call.call_provider_metadata).get(CALL_ID))
    named: JsonObject = {"id": told} if isinstance(told, str) else {}
    name: Json = marks.get(NAME)
    content: JsonObject = {
        **named,
        "name": name if isinstance(name, str) else tool_name(call.name),
        "response": response,
        **object_at(marks, "functionResponse"),
    }
    return {"functionResponse": content, **beside(marks)}
