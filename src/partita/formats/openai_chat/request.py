"""Canonical messages → the body of a streaming request for Chat Completions, in the dialect of a server.

Rules that servers insist on are kept by repairing what breaks them: every call has its result right behind
the answer that made it, nothing stands between, and no message is empty. What is not sent is a loss.
"""

from collections.abc import Sequence
from typing import Final, assert_never

from partita.errors import ConversionError
from partita.formats.format import Dumped, ToolSpec
from partita.formats.losses import Loss
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject
from partita.types.messages import AssistantMessage, Message, SystemMessage, ToolMessage, UserMessage
from partita.types.parts import TextPart
from partita.types.tools import ToolResultPart

from .dialects import OPENAI, Dialect
from .looking import items
from .names import id_of, name_of
from .outputs import UNANSWERED, Said, result_content
from .turns import RENAMED, assistant_turn, user_content

LENGTHS: Final = ("max_tokens", "max_completion_tokens")
"""The names of one setting."""

NO_INPUT: Final[JsonObject] = {"type": "object", "properties": {}}
"""The schema of a tool that takes nothing."""

BRIDGE: Final = "OK."
"""What the model says between results and the user, where the server insists that it says something."""

HOISTED: Final = "the server takes instructions only before the talk"
NO_CALL: Final = "a result whose call is not right before it"
ONLY_TEXT: Final = "instructions are text"


def build_request(
    view: Sequence[Message],
    *,
    model: str,
    tools: Sequence[ToolSpec] = (),
    settings: JsonObject | None = None,
    dialect: Dialect = OPENAI,
) -> Dumped:
    """The body of a request. `settings` are in the server's words and win; its `tools` join those given."""
    talk = Talk(dialect, _last_user(view))
    for index, message in enumerate(view):
        talk.add(message, index)
    talk.end()
    payload: JsonObject = {"model": model, "messages": talk.messages, "stream": True}
    if dialect.stream_options:
        payload["stream_options"] = {"include_usage": True}
    given = settings or {}
    payload |= {dialect.max_tokens if key in LENGTHS else key: value for key, value in given.items()}
    own = [_tool(tool, index, talk.losses) for index, tool in enumerate(tools)]
    declared = [*own, *items(given.get("tools"))]
    return Dumped(payload | ({"tools": declared} if declared else {}), tuple(talk.losses))


class Talk:
    """The messages of a request while they are gathered."""

    def __init__(self, dialect: Dialect, last_user: int) -> None:
        self.messages: list[JsonObject] = []
        self.losses: list[Loss] = []
        self._dialect = dialect
        self._last_user = last_user
        self._instructions: list[str] = []
        self._waiting: dict[str, str] = {}
        self._results: dict[str, Said] = {}

    def add(self, message: Message, index: int) -> None:
        """Take a message."""
        path = f"$[{index}]"
        if not isinstance(message, ToolMessage):
            self._answer()
        match message:
            case SystemMessage():
                self._instruct(message, path)
            case UserMessage():
                self._ask(user_content(message, path, self._dialect, self.losses))
            case AssistantMessage():
                is_over = index < self._last_user
                turn = assistant_turn(message, path, self._dialect, self.losses, is_over=is_over)
                said = turn.message()
                self.messages += [] if said is None else [said]
                self._waiting = turn.waiting
            case ToolMessage():
                self._take_results(message, path)
            case _:
                assert_never(message)

    def end(self) -> None:
        """Nothing more comes."""
        self._answer()
        if self._instructions:
            said = "\n\n".join(self._instructions)
            self.messages.insert(0, {"role": self._dialect.system_role, "content": said})
        if not self.messages:
            raise ConversionError(
                "no message to send", where="$", hint="give at least one that says something"
            )

    def _instruct(self, message: SystemMessage, path: str) -> None:
        texts: list[str] = []
        for index, part in enumerate(message.parts):
            if isinstance(part, TextPart):
                texts.append(part.text)
            else:
                self.losses.append(Loss.of(f"{path}.content.parts[{index}]", to_json(part), ONLY_TEXT))
        said = "\n".join(filter(None, texts))
        if not said:
            return
        if self._dialect.system_anywhere:
            self.messages.append({"role": self._dialect.system_role, "content": said})
            return
        if self.messages:
            self.losses.append(Loss(path, "the place of the instructions", HOISTED))
        self._instructions.append(said)

    def _ask(self, content: str | list[JsonObject]) -> None:
        if not content:
            return
        if not self._dialect.user_after_tool and self.messages and self.messages[-1]["role"] == "tool":
            self.messages.append({"role": "assistant", "content": BRIDGE})
        self.messages.append({"role": "user", "content": content})

    def _take_results(self, message: ToolMessage, path: str) -> None:
        for index, part in enumerate(message.parts):
            where = f"{path}.content.parts[{index}]"
            is_awaited = isinstance(part, ToolResultPart) and part.id in self._waiting
            if isinstance(part, ToolResultPart) and is_awaited and part.id not in self._results:
                self._results[part.id] = result_content(
                    part.output, f"{where}.output", self._dialect, self.losses
                )
            else:
                self.losses.append(Loss.of(where, to_json(part), NO_CALL))

    def _answer(self) -> None:
        """Give every call of the last answer its result, in their order; then what results cannot hold."""
        media: list[JsonObject] = []
        for call_id, tool in self._waiting.items():
            said = self._results.get(call_id) or Said(UNANSWERED, [])
            sent = id_of(call_id, self._dialect)
            self.messages.append({"role": "tool", "tool_call_id": sent, "content": said.content})
            if said.media:
                media += [{"type": "text", "text": f"Given by {name_of(tool)} ({sent}):"}, *said.media]
        self._waiting, self._results = {}, {}
        self._ask(media)


def _last_user(view: Sequence[Message]) -> int:
    """Where the user spoke last."""
    spoken = (index for index, message in enumerate(view) if isinstance(message, UserMessage))
    return max(spoken, default=-1)


def _tool(tool: ToolSpec, index: int, losses: list[Loss]) -> Json:
    name = name_of(tool.name)
    if name != tool.name:
        losses.append(Loss.of(f"$.tools[{index}].name", tool.name, RENAMED))
    told = {} if tool.description is None else {"description": tool.description}
    parameters = NO_INPUT if tool.input_schema is None else tool.input_schema
    return {"type": "function", "function": {"name": name, **told, "parameters": parameters}}
