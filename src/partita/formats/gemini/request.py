"""A model view → the body of `streamGenerateContent`, and the name of the model beside it.

Not carried: where an instruction stood that came in mid-talk (it becomes the user's words), what other
providers' models thought and their tools did, citations and sources, names of files. Signatures and ids of
Gemini's own answers go back byte for byte.
"""

from collections.abc import Sequence
from typing import Final, assert_never

from partita.formats.format import Dumped, ToolSpec
from partita.formats.losses import Loss
from partita.types.codec import to_json
from partita.types.json import JsonObject, is_array
from partita.types.messages import (
    AssistantMessage,
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

from .looking import CALL_ID, SIGNATURE
from .models import has_system_instruction, is_third_generation
from .names import tool_name
from .outputs import NOT_SENT, answer_of
from .turns import PLACEHOLDER, file_of, marks_in, part_of

CONTINUE: Final = "Continue."
"""What the user is made to say where a conversation must have words of theirs and has none."""

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
    payload: JsonObject = {"model": model, "contents": request.contents()}
    if request.instructions:
        payload["systemInstruction"] = {"parts": request.instructions}
    declared = [request.declare(tool) for tool in tools]
    given = dict(settings or {})
    more = given.pop("tools", [])
    built = [{"functionDeclarations": declared}] if declared else []
    if built or more:
        payload["tools"] = [*built, *(more if is_array(more) else [more])]
    return Dumped({**payload, **given}, tuple(request.losses))


class Request:
    """Gathers the contents of a request. Neighbours of one role become one content."""

    def __init__(self, model: str) -> None:
        self.instructions: list[JsonObject] = []
        self.losses: list[Loss] = []
        self._contents: list[JsonObject] = []
        self._calls: list[ToolCallPart] = []
        """Calls of the last step, to be answered in the next content, in their order."""
        self._is_third = is_third_generation(model)
        self._has_instruction = has_system_instruction(model)

    def take(self, message: Message, path: str) -> None:
        """The next message of the view."""
        if not isinstance(message, ToolMessage):
            self._answer({}, path)
        match message:
            case SystemMessage():
                self._instruct(message, path)
            case UserMessage():
                for number, part in enumerate(message.parts):
                    self._add("user", self._user_part(part, f"{path}.content.parts[{number}]"))
            case AssistantMessage():
                self._step(message, path)
            case ToolMessage():
                self._take_results(message, path)
            case _:
                assert_never(message)

    def contents(self) -> list[JsonObject]:
        """The contents. They begin and end with the user, for Gemini takes no others."""
        self._answer({}, "$")
        words: JsonObject = {"role": "user", "parts": [{"text": CONTINUE}]}
        is_begun = bool(self._contents) and self._contents[0]["role"] == "user"
        is_ended = bool(self._contents) and self._contents[-1]["role"] == "user"
        return [
            *([] if is_begun else [words]),
            *self._contents,
            *([] if is_ended or not self._contents else [words]),
        ]

    def declare(self, tool: ToolSpec) -> JsonObject:
        """A tool, as the model is told of it."""
        name = tool_name(tool.name)
        if name != tool.name:
            why = f"Gemini does not allow it: it is declared as {name!r}"
            self.losses.append(Loss(f"tools.{tool.name}", tool.name, why))
        declaration: JsonObject = {"name": name}
        if tool.description:
            declaration["description"] = tool.description
        if tool.input_schema is not None:
            declaration["parametersJsonSchema"] = tool.input_schema
        return declaration

    def _add(self, role: str, parts: Sequence[JsonObject]) -> None:
        if not parts:
            return
        if not self._contents or self._contents[-1]["role"] != role:
            self._contents.append({"role": role, "parts": []})
        self._contents[-1]["parts"].extend(parts)

    def _instruct(self, message: SystemMessage, path: str) -> None:
        for number, part in enumerate(message.parts):
            said = self._system_part(part, f"{path}.content.parts[{number}]")
            if self._has_instruction and not self._contents:
                self.instructions.extend(said)
            elif said:
                self.losses.append(Loss.of(f"{path}.role", "system", MOVED))
                self._add("user", said)

    def _system_part(self, part: SystemPart, path: str) -> list[JsonObject]:
        if isinstance(part, TextPart):
            return [{"text": part.text}] if part.text else []
        self.losses.append(Loss.of(path, to_json(part), NOT_SENT))
        return []

    def _user_part(self, part: UserPart, path: str) -> list[JsonObject]:
        match part:
            case TextPart(text=text):
                return [{"text": text}] if text else []
            case ImagePart() | FilePart() | ReasoningFilePart():
                return file_of(part, path, self.losses.append)
            case DataPart() | ForeignPart() | UnknownPart():
                self.losses.append(Loss.of(path, to_json(part), NOT_SENT))
                return []
            case _:
                assert_never(part)

    def _step(self, message: AssistantMessage, path: str) -> None:
        said: list[JsonObject] = []
        for number, part in enumerate(message.parts):
            said += part_of(part, f"{path}.content.parts[{number}]", self.losses.append)
        first = next((part for part in said if "functionCall" in part), None)
        if first is not None and self._is_third:
            first.setdefault(SIGNATURE, PLACEHOLDER)
        self._add("model", said)
        calls = (part for part in message.parts if isinstance(part, ToolCallPart))
        self._calls = [call for call in calls if not call.provider_executed]

    def _take_results(self, message: ToolMessage, path: str) -> None:
        asked = {call.id for call in self._calls}
        results: dict[str, tuple[ToolResultPart, str]] = {}
        for number, part in enumerate(message.parts):
            where = f"{path}.content.parts[{number}]"
            if not isinstance(part, ToolResultPart):
                self.losses.append(Loss.of(where, to_json(part), NOT_SENT))
            elif part.id not in asked or part.id in results:
                self.losses.append(Loss.of(where, part.id, NO_CALL))
            else:
                results[part.id] = (part, where)
        self._answer(results, path)

    def _answer(self, results: dict[str, tuple[ToolResultPart, str]], path: str) -> None:
        """Answer all calls of the last step in one content, in their order."""
        beside: list[JsonObject] = []
        answers: list[JsonObject] = []
        for call in self._calls:
            found = results.get(call.id)
            if found is None:
                self.losses.append(Loss.of(path, call.id, NO_RESULT))
                answers.append(_response(call, {"error": NO_RESULT}))
                continue
            part, where = found
            response, files = answer_of(part.output, f"{where}.output", self.losses.append)
            answers.append(_response(call, response))
            if files and self._is_third:
                answers[-1]["functionResponse"]["parts"] = list(files)
            elif files:
                self.losses.append(Loss(f"{where}.output", f"{len(files)} files", NO_LINK))
                beside += files
        self._calls = []
        self._add("user", [*answers, *beside])


def _response(call: ToolCallPart, response: JsonObject) -> JsonObject:
    told = marks_in(call.call_provider_metadata).get(CALL_ID)
    named: JsonObject = {"id": told} if isinstance(told, str) else {}
    return {"functionResponse": {**named, "name": tool_name(call.name), "response": response}}
