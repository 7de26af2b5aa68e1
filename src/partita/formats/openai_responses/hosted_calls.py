"""Calls that come whole: tools of the provider, and calls of its built-in tools that the client runs."""

from collections.abc import Callable, Mapping
from typing import Final, Literal, NamedTuple, TypeAlias

from partita.errors import DecodeError
from partita.formats.answers.outlet import Call
from partita.types.chunks import (
    FileChunk,
    ToolApprovalRequest,
    ToolOutputAvailable,
    ToolOutputError,
)
from partita.types.json import Json, JsonObject, loads

from .answer import Answer
from .fields import NAMESPACE, about, error_words, inner, text, written
from .tool_outputs import OUTCOMES, is_done

Opening: TypeAlias = Literal["start", "whole", "both", "nothing"]
"""What is told when the item begins: that there is a call, its whole input, both, or nothing yet."""


class Tool(NamedTuple):
    """A kind of item that is a call."""

    name: str | None
    """`None`: the item says it."""
    opening: Opening
    input: Callable[[JsonObject], Json]
    told: tuple[str, ...]
    """Fields of the item that the input tells in full."""


def _nothing(item: JsonObject) -> Json:
    return {}


def _arguments(item: JsonObject) -> Json:
    """Arguments, parsed if they are words. What is no JSON stays as it is: nobody here has to read it."""
    words = item.get("arguments")
    if not isinstance(words, str):
        return {} if words is None else words
    try:
        return loads(words) if words.strip() else {}
    except DecodeError:
        return words


def _action(item: JsonObject) -> Json:
    action = item.get("action")
    return item.get("actions", {}) if action is None else action


def _program(item: JsonObject) -> Json:
    return {"code": item.get("code"), "fingerprint": item.get("fingerprint")}


TOOLS: Final[Mapping[str, Tool]] = {
    "web_search_call": Tool("web_search", "both", _arguments, ()),
    "file_search_call": Tool("file_search", "whole", _nothing, ()),
    "image_generation_call": Tool("image_generation", "whole", _nothing, ()),
    "mcp_call": Tool(None, "nothing", _arguments, ("name", "arguments")),
    "mcp_approval_request": Tool(None, "nothing", _arguments, ("name", "arguments")),
    "tool_search_call": Tool("tool_search", "start", _arguments, ("arguments", "call_id")),
    "program": Tool("programmatic_tool_calling", "nothing", _program, ("code", "fingerprint", "call_id")),
    "shell_call": Tool("shell", "nothing", _action, ("action", "call_id")),
    "local_shell_call": Tool("local_shell", "nothing", _action, ("action", "call_id")),
    "computer_call": Tool("computer", "nothing", _action, ("action", "actions", "call_id")),
}

DYNAMIC: Final = frozenset({"mcp_call", "mcp_approval_request"})
"""Calls of tools that nobody declared by name."""

PARTIAL: Final = "response.image_generation_call.partial_image"
HEARD: Final = frozenset(
    {
        "response.mcp_call_arguments.delta",
        "response.mcp_call_arguments.done",
        "response.shell_call_command.added",
        "response.shell_call_command.delta",
        "response.shell_call_command.done",
    }
)
"""Pieces of an input that the whole item says again."""


class HostedCall:
    """A call of a built-in tool."""

    def __init__(self, answer: Answer, item: JsonObject) -> None:
        self.kind = text(item, "type")
        self.is_ended = False
        self._answer = answer
        self._item = item
        self._tool = TOOLS[self.kind]
        self._pieces: list[str] = []
        self._is_whole = False
        self._told: Call | None = None
        if self._tool.opening in ("start", "both") and _runs_at_provider(item):
            answer.outlet.start_call(self._call(item))
        if self._tool.opening in ("whole", "both"):
            self._tell_input(item, None)

    def hear(self, event: JsonObject) -> bool:
        """Take an event inside the call."""
        kind = text(event, "type")
        if self.is_ended:
            return False
        if kind in HEARD:
            self._pieces.append(text(event, "delta"))
        elif kind == PARTIAL and self.kind == "image_generation_call":
            self._show(event)
        else:
            return False
        return True

    def may_be(self, item: JsonObject) -> bool:
        """Whether a whole item has the id of the call."""
        return bool(text(item, "call_id")) and text(item, "call_id") == text(self._item, "call_id")

    def end(self, item: JsonObject) -> None:
        """Take the whole call, and its output if the item brings it."""
        if self.is_ended:
            return
        self.is_ended = True
        call = self._call(item)
        if not self._is_whole:
            if self._tool.opening == "start":
                self._answer.outlet.start_call(call)
            self._tell_input(item, None if self.kind in OUTCOMES else about(item, *self._tool.told))
        if self.kind == "mcp_approval_request":
            approval_id = text(item, "approval_request_id") or text(item, "id") or call.id
            self._answer.outlet.emit(ToolApprovalRequest(approval_id, call.id))
        elif self.kind in OUTCOMES:
            self._answer.answer_call(call.id)
            self._answer.outlet.emit(output_chunk(call.id, item, self._tool.told))
            self._make_file(item)

    def stop(self, *, whole: bool) -> None:
        """Nothing more comes. A call that nobody heard of is told as one that was being written."""
        if self.is_ended or self._is_whole:
            return
        self.is_ended = True
        call, words = self._call(self._item), "".join(self._pieces)
        self._answer.outlet.start_call(call)
        if words:
            self._answer.outlet.grow_call(call.id, words)

    def _call(self, item: JsonObject) -> Call:
        """The call. Its id counts from the first chunk on; before, a server may still change it."""
        if self._told is not None:
            return self._told
        executed = _runs_at_provider(item)
        call_id = self._answer.call_id(text(item, "call_id") or text(item, "id"), provider_executed=executed)
        name = self._tool.name or text(item, "name")
        dynamic = True if self.kind in DYNAMIC else None
        self._told = Call(call_id, name, [], executed or None, dynamic)
        if self.kind == "tool_search_call" and executed:
            self._answer.searches.append(call_id)
        return self._told

    def _tell_input(self, item: JsonObject, metadata: JsonObject | None) -> None:
        self._is_whole = True
        words = text(item, "arguments") if "arguments" in self._tool.told else ""
        call = self._call(item)._replace(pieces=[words])
        self._answer.outlet.end_call(call, self._tool.input(item), metadata)

    def _show(self, event: JsonObject) -> None:
        """A picture that is not ready yet."""
        output = {"result": event.get("partial_image_b64")}
        self._answer.outlet.emit(
            ToolOutputAvailable(self._call(self._item).id, output, provider_executed=True, preliminary=True)
        )

    def _make_file(self, item: JsonObject) -> None:
        """The picture itself, for those who look for files."""
        result = item.get("result")
        if self.kind == "image_generation_call" and isinstance(result, str) and result:
            media_type = f"image/{text(item, 'output_format') or 'png'}"
            metadata = {NAMESPACE: {"itemId": text(item, "id")}}
            self._answer.outlet.emit(FileChunk(f"data:{media_type};base64,{result}", media_type, metadata))


def output_chunk(
    call_id: str, item: JsonObject, told: tuple[str, ...] = ()
) -> ToolOutputAvailable | ToolOutputError:
    """What came of a call, with everything of its item that a later request has to bring back."""
    outcome = OUTCOMES[text(item, "type")]
    if item.get("error") is not None or not is_done(item):
        error = item.get("error")
        words = written({"status": item.get("status")}) if error is None else error_words(error)
        metadata = {NAMESPACE: about(item, *told)}
        return ToolOutputError(call_id, words, True, metadata)
    metadata = {NAMESPACE: about(item, *told, *outcome.told)}
    return ToolOutputAvailable(call_id, outcome.shape(item), True, metadata)


def _runs_at_provider(item: JsonObject) -> bool:
    """Whether the provider runs a call. Shells may be on either side, and so may the search for tools."""
    match text(item, "type"):
        case "local_shell_call" | "computer_call":
            return False
        case "tool_search_call":
            return item.get("execution") != "client"
        case "shell_call":
            return text(inner(item, "environment"), "type").startswith("container")
        case _:
            return True
