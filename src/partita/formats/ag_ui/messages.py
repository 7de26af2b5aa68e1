"""AG-UI messages → canonical messages.

Reasoning messages become parts of the assistant message behind them. An activity is a notice with data in it.
Messages of a sub-agent whose name is the id of a call hang under that call; those of any other are internal.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from partita.errors import ConversionError, DecodeError
from partita.formats.answers.outlet import RAW_INPUT
from partita.formats.losses import Loss
from partita.types.fold import fold
from partita.types.json import Json, JsonObject, dumps, is_array, is_object, kind_of, loads
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    AssistantPart,
    Message,
    SystemContent,
    SystemMessage,
    ToolCallPart,
    ToolContent,
    ToolMessage,
    UserContent,
    UserMessage,
    UserPart,
    derive_type,
)
from partita.types.parts import DataPart, ForeignPart, ReasoningPart, StepStartPart, TextPart
from partita.types.tools import ContentOutput, ErrorTextOutput, TextOutput, ToolOutput, ToolResultPart

from .content import read_content
from .notes import FORMAT, SEALED, noted, opened, rest_of, unseal
from .pieces import is_later_piece, result_group

AGENT: Final = "subagentRunId"
DEEPEST: Final = 32
"""How far sub-agents may stand under each other."""

ARGUMENTS: Final = "arguments"
MESSAGE_ID: Final = "messageId"
"""Where a text or a result that came in a stream notes the message it was."""


class Raw(NamedTuple):
    """A message as it came, and where it was."""

    value: JsonObject
    path: str
    id: str


def read_messages(raws: Sequence[Json], path: str, losses: list[Loss]) -> list[Message]:
    """Canonical messages of a list of messages."""
    return _Reader(
        [_checked(raw, f"{path}[{place}]", place, losses) for place, raw in enumerate(raws)]
    ).read()


def _checked(raw: Json, path: str, place: int, losses: list[Loss]) -> Raw:
    if not is_object(raw) or not isinstance(raw.get("role"), str):
        found = "without a role" if is_object(raw) else kind_of(raw)
        raise ConversionError(f"a message is {found}", where=path, hint="give {id, role, content}")
    id_ = raw.get("id")
    if isinstance(id_, str):
        return Raw(raw, path, id_)
    if "id" in raw:
        raise ConversionError(f"an id is {kind_of(id_)}", where=f"{path}.id", hint="make it a string")
    made = f"message-{place + 1}"
    losses.append(Loss.of(f"{path}.id", made, "the message had no id", "repaired"))
    return Raw(raw, path, made)


class _Reader:
    """One list of messages on its way."""

    def __init__(self, raws: Sequence[Raw]) -> None:
        self._names = {call["id"]: call["function"]["name"] for raw in raws for call in _calls_in(raw.value)}
        self._groups = _grouped(raws)

    def read(self) -> list[Message]:
        """All of it."""
        return self._group(None)

    def _group(self, agent: str | None) -> list[Message]:
        """The messages of one agent."""
        messages: list[Message] = []
        thoughts: list[ReasoningPart] = []
        before: AssistantMessage | None = None
        for raw in self._groups.pop(agent, ()):
            role = raw.value["role"]
            if role == "reasoning":
                thoughts.append(_reasoning(raw, agent))
                continue
            if role != "assistant" and thoughts:
                messages.append(_alone(thoughts))
                thoughts = []
            message = self._message(raw, agent, thoughts, before)
            messages.append(message)
            if isinstance(message, AssistantMessage) and role == "assistant":
                before, thoughts = message, []
            elif role != "tool":
                before = None
        if thoughts:
            messages.append(_alone(thoughts))
        return [_typed(message) for message in fold(messages)]

    def _message(
        self, raw: Raw, agent: str | None, thoughts: Sequence[ReasoningPart], before: AssistantMessage | None
    ) -> Message:
        match raw.value["role"]:
            case "system" | "developer":
                return _system(raw, agent)
            case "user":
                return _user(raw, agent)
            case "assistant":
                return self._assistant(raw, agent, thoughts, before)
            case "tool":
                return self._tool(raw, agent)
            case "activity" if isinstance(raw.value.get("activityType"), str):
                return _activity(raw, agent)
            case _:
                return AssistantMessage(id=raw.id, type="event", content=[ForeignPart(FORMAT, raw.value)])

    def _assistant(
        self, raw: Raw, agent: str | None, thoughts: Sequence[ReasoningPart], before: AssistantMessage | None
    ) -> AssistantMessage:
        value = raw.value
        said = value.get("content")
        if not (said is None or isinstance(said, str)):
            raise _bad_content(raw, "a string")
        calls = value.get("toolCalls")
        if not (calls is None or is_array(calls)):
            raise ConversionError(f"toolCalls are {kind_of(calls)}", where=raw.path, hint="give a list")
        notes = _notes(raw, agent, "content", "toolCalls", "metadata")
        notes |= {"content": None} if "content" in value and said is None else {}
        notes |= {"toolCalls": calls} if "toolCalls" in value and not calls else {}
        sealed = unseal(notes.get(SEALED)) if said is not None else None
        if sealed is not None:
            del notes[SEALED]
        later = before if before is not None and is_later_piece(raw.id, before.id) else None
        parts: list[AssistantPart] = [] if later is None else [StepStartPart()]
        parts += thoughts
        if said is not None:
            parts.append(TextPart(said, provider_metadata=sealed))
        for place, call in enumerate(calls or ()):
            parts.append(self._call(call, f"{raw.path}.toolCalls[{place}]"))
        content = AssistantContent(
            parts=tuple(parts), metadata=_metadata(value), provider_metadata=noted(notes)
        )
        return AssistantMessage(
            id=raw.id,
            type=derive_type(parts) if later is None else later.type,  # pieces are alike, to be joined
            content=content,
            internal=_is_internal(value, agent),
        )

    def _call(self, raw: Json, path: str) -> ToolCallPart:
        if not _is_call(raw):
            raise ConversionError(
                "a call without an id or a function",
                where=path,
                hint="give {id, type, function: {name, arguments}}",
            )
        function: JsonObject = raw["function"]
        notes = rest_of(raw, "id", "function", *(("type",) if raw.get("type") == "function" else ()))
        if rest := rest_of(function, "name", ARGUMENTS):
            notes["function"] = rest
        words: str = function[ARGUMENTS]
        value, is_whole = parsed(words)
        if is_whole and dumps(value).decode() != words:
            notes[RAW_INPUT] = words
        return ToolCallPart(
            raw["id"],
            function["name"],
            "input-available",
            value,
            UNSET if is_whole else words,
            call_provider_metadata=opened(notes),
            children=tuple(self._group(raw["id"])),
        )

    def _tool(self, raw: Raw, agent: str | None) -> ToolMessage:
        value = raw.value
        call_id = value.get("toolCallId")
        if not isinstance(call_id, str):
            raise ConversionError("a result without a toolCallId", where=raw.path, hint="name the call")
        notes = _notes(raw, agent, "content", "toolCallId", "metadata", "error")
        output, more = _output(raw)
        result = ToolResultPart(call_id, self._names.get(call_id, ""), output, opened(notes | more))
        content = ToolContent(parts=(result,), metadata=_metadata(value))
        return ToolMessage(id=result_group(raw.id), content=content, internal=_is_internal(value, agent))


def _typed(message: Message) -> Message:
    """A message of several pieces is of the type of all its parts."""
    is_text = isinstance(message, AssistantMessage) and message.type == "text"
    return replace(message, type="tool") if is_text and derive_type(message.parts) == "tool" else message


def _notes(raw: Raw, agent: str | None, *read: str) -> JsonObject:
    """The members of a message that have no field of their own."""
    own = () if agent is None else (AGENT,)
    return rest_of(raw.value, "id", "role", *own, *read)


def _metadata(value: JsonObject) -> Json | UnsetType:
    return value.get("metadata", UNSET)


def _is_internal(value: JsonObject, agent: str | None) -> bool:
    """Whether a message is a sub-agent's that no call claims."""
    return agent is None and AGENT in value


def _bad_content(raw: Raw, expected: str) -> ConversionError:
    found = kind_of(raw.value["content"]) if "content" in raw.value else "missing"
    role = raw.value["role"]
    return ConversionError(
        f"the content of a {role} message is {found}", where=f"{raw.path}.content", hint=f"make it {expected}"
    )


def _system(raw: Raw, agent: str | None) -> SystemMessage:
    text = raw.value.get("content")
    if not isinstance(text, str):
        raise _bad_content(raw, "a string")
    notes = _notes(raw, agent, "content", "metadata")
    if raw.value["role"] == "developer":
        notes["role"] = "developer"
    content = SystemContent(
        parts=(TextPart(text),), metadata=_metadata(raw.value), provider_metadata=opened(notes)
    )
    return SystemMessage(id=raw.id, content=content, internal=_is_internal(raw.value, agent))


def _user(raw: Raw, agent: str | None) -> UserMessage:
    said = raw.value.get("content")
    notes = _notes(raw, agent, "content", "metadata")
    if isinstance(said, str):
        parts: list[UserPart] = [TextPart(said)]
    elif is_array(said):
        parts = [*read_content(said, f"{raw.path}.content")]
        if is_plain(parts):
            notes["content"] = "list"
    else:
        raise _bad_content(raw, "a string or a list of parts")
    content = UserContent(parts=tuple(parts), metadata=_metadata(raw.value), provider_metadata=opened(notes))
    return UserMessage(id=raw.id, content=content, internal=_is_internal(raw.value, agent))


def is_plain(parts: Sequence[object]) -> bool:
    """Whether parts are one text and nothing else: they may be told as a string."""
    return len(parts) == 1 and isinstance(parts[0], TextPart) and parts[0].provider_metadata is None


def _reasoning(raw: Raw, agent: str | None) -> ReasoningPart:
    text = raw.value.get("content")
    if not isinstance(text, str):
        raise _bad_content(raw, "a string")
    return ReasoningPart(text, id=raw.id, provider_metadata=opened(_notes(raw, agent, "content")))


def _alone(thoughts: Sequence[ReasoningPart]) -> AssistantMessage:
    """Reasoning with no answer behind it."""
    return AssistantMessage(id=thoughts[0].id or "", content=thoughts)


def _activity(raw: Raw, agent: str | None) -> AssistantMessage:
    value = raw.value
    notes = {**_notes(raw, agent, "content", "activityType", "metadata"), "role": "activity"}
    data = DataPart(
        value["activityType"], value.get("content", UNSET), raw.id, provider_metadata=noted(notes)
    )
    content = AssistantContent(parts=(data,), metadata=_metadata(value))
    internal = _is_internal(value, agent)
    return AssistantMessage(id=raw.id, type="event", content=content, internal=internal)


def _output(raw: Raw) -> tuple[ToolOutput, JsonObject]:
    """What a tool gave back, and what else the message says of it."""
    said, error = raw.value.get("content"), raw.value.get("error")
    if isinstance(said, str):
        output: ToolOutput = TextOutput(said)
    elif is_array(said):
        output = ContentOutput(tuple(read_content(said, f"{raw.path}.content")))
    else:
        raise _bad_content(raw, "a string or a list of parts")
    if isinstance(error, str):
        return ErrorTextOutput(error), {} if said == error else {"content": said}
    return output, {"error": error} if "error" in raw.value else {}


def parsed(words: str) -> tuple[Json | UnsetType, bool]:
    """The input that the words of a call are, and whether they are one; none at all mean an empty object."""
    try:
        return (loads(words) if words.strip() else {}), True
    except DecodeError:
        return UNSET, False


def _is_call(raw: Json) -> bool:
    if not is_object(raw) or not isinstance(raw.get("id"), str) or not is_object(raw.get("function")):
        return False
    function = raw["function"]
    return isinstance(function.get("name"), str) and isinstance(function.get(ARGUMENTS), str)


def _calls_in(value: JsonObject) -> list[JsonObject]:
    calls = value.get("toolCalls")
    return [call for call in calls if _is_call(call)] if is_array(calls) else []


def _grouped(raws: Sequence[Raw]) -> dict[str | None, list[Raw]]:
    """The messages by the call that their agent hangs under; `None` for all others."""
    homes: dict[str, str | None] = {}
    for raw in raws:
        agent = raw.value.get(AGENT)
        for call in _calls_in(raw.value):
            homes.setdefault(call["id"], agent if isinstance(agent, str) else None)
    groups: dict[str | None, list[Raw]] = {}
    for raw in raws:
        agent = raw.value.get(AGENT)
        owner = agent if isinstance(agent, str) and _is_rooted(agent, homes) else None
        groups.setdefault(owner, []).append(raw)
    return groups


def _is_rooted(agent: str, homes: Mapping[str, str | None]) -> bool:
    """Whether a call leads to an agent, and from call to call one gets to the first agent."""
    at: str | None = agent
    for _ in range(DEEPEST):
        if at is None:
            return True
        if at not in homes:
            return False
        at = homes[at]
    return False
