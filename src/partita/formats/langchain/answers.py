"""The answer of a model: its blocks, the calls beside them, what it cost ↔ an assistant message."""

from types import NoneType
from typing import Any, Final

from partita.errors import ConversionError, DecodeError
from partita.formats.framework.members import Members, checked_array, metadata_of
from partita.types.json import Json, JsonObject, is_array, is_object, loads
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    AssistantPart,
    ToolCallPart,
    derive_type,
)
from partita.types.parts import ForeignPart, ReasoningPart, TextPart
from partita.types.usage import Usage

from .blocks import read_block
from .calls import (
    NO_ENTRIES,
    SIGNATURES,
    Entries,
    read_call,
    read_invalid,
    read_server_call,
    read_server_result,
    signed,
)
from .envelope import NAME, VOID_AROUND
from .plain import REASONING, read_modern
from .shapes import namespace_for, standard
from .signing import namespace_of
from .usage import read_usage

VOID: Final = {
    **VOID_AROUND,
    "usage_metadata": frozenset({NoneType}),
    **dict.fromkeys(("tool_calls", "invalid_tool_calls", "tool_call_chunks"), frozenset({list, NoneType})),
    "chunk_position": frozenset({NoneType}),
}
"""By the name of a member, the types whose empty value says no more than absence."""

HINT = "give calls as {name, args, id}"


def read_answer(members: Members, id_: str, path: str, answered: set[str]) -> AssistantMessage | None:
    """The message that the members of an AI message amount to."""
    content: Json = members.any("content")
    if content is None:
        content = ""
    if not isinstance(content, str) and not is_array(content):
        return None
    members.forget(VOID)
    plain = read_modern(members.left, content) if is_array(content) else None
    if plain is not None:
        return AssistantMessage(id=id_, content=AssistantContent(parts=tuple(plain)), type=derive_type(plain))
    is_v1 = is_array(content) and takes_v1(members)
    namespace = namespace_of(members.left)
    usage = usage_in(members)
    reader = _Parts(id_, path, namespace, answered, is_v1=is_v1)
    reasoning: tuple[AssistantPart, ...] = ()
    if "additional_kwargs" in members.left:
        reader.signatures = _signatures(members, namespace)
        entries = _entries(members, path)
        reasoning = reasoning_in(members)
    else:
        entries = _entries(members, path)
    text = content if isinstance(content, str) else None
    if is_array(content):
        reader.blocks(content, entries)
    elif text:
        reader.parts.append(TextPart(text))
    if text is not None:
        members.left["string"] = True
    elif is_array(content) and not is_v1 and (not content or _is_plain(content)):
        members.left["list"] = True
    reader.others(entries)
    parts = (*reasoning, *reader.parts)
    metadata = metadata_of(NAME, members.left)
    said = AssistantContent(parts=parts, content=text, usage=usage, provider_metadata=metadata)
    return AssistantMessage(id=id_, content=said, type=derive_type(parts))


class _Parts:
    """The parts of one answer on their way."""

    def __init__(
        self, id_: str, path: str, namespace: str | None, answered: set[str], *, is_v1: bool
    ) -> None:
        self.id, self.path, self.namespace, self.answered, self.is_v1 = id_, path, namespace, answered, is_v1
        self.parts: list[AssistantPart] = []
        self.signatures: JsonObject = {}
        self.at = 0
        self.server_calls: dict[str, int] = {}

    def blocks(self, raws: list[Json], entries: Entries) -> None:
        """Read the blocks of the content, and the calls beside them that they stand for."""
        for raw in raws:
            for block in standard(raw):
                self._block(block, entries)
                self.at += 1

    def _block(self, block: Json, entries: Entries) -> None:
        type_ = block.get("type") if is_object(block) else None
        part: AssistantPart | None = None
        match type_:
            case "tool_call":
                entry = entries.take(block.get("id"), True)
                part = read_call(block, entry, self._made_id(), is_v1=self.is_v1)
                if part is None and entry is not None:
                    self._entry(entry, True)
            case "invalid_tool_call":
                part = self._invalid(block, entries.take(block.get("id"), False))
            case "server_tool_call":
                part = read_server_call(block)
                if part is not None:
                    self.server_calls[part.id] = len(self.parts)
            case "server_tool_result" if self._server_result(block):
                return
            case _:
                namespace = namespace_for(block, self.namespace) if is_object(block) else None
                part = _fitting(read_block(block, namespace), block)
        if part is None:
            part = ForeignPart(NAME, block)
        self.parts.append(signed(part, self.signatures) if isinstance(part, ToolCallPart) else part)

    def others(self, entries: Entries) -> None:
        """Read the calls that no block stands for."""
        for entry in entries.rest():
            self._entry(entry.raw, entry.is_valid)

    def _entry(self, entry: JsonObject, is_valid: bool) -> None:
        if is_valid:
            part = read_call(None, entry, self._made_id(), is_v1=self.is_v1)
        else:
            part = self._invalid(None, entry)
        if part is None:
            raise ConversionError("a call of the wrong shape", where=f"{self.path}.tool_calls", hint=HINT)
        self.parts.append(signed(part, self.signatures))

    def _invalid(self, block: Json, entry: JsonObject | None) -> ToolCallPart | None:
        said = entry if entry is not None else block
        is_answered = str(said.get("id")) in self.answered
        return read_invalid(block, entry, self._made_id(), is_answered=is_answered)

    def _server_result(self, block: JsonObject) -> bool:
        place = self.server_calls.get(str(block.get("tool_call_id")))
        call = None if place is None else self.parts[place]
        if place is None or not isinstance(call, ToolCallPart) or call.output is not None:
            return False
        if place != len(self.parts) - 1:
            block = {**block, "at": self.at}
        settled = read_server_result(call, block)
        if settled is None:
            return False
        self.parts[place] = settled
        return True

    def _made_id(self) -> str:
        return f"{self.id}:call-{len(self.parts) + 1}"


def _is_plain(content: list[Json]) -> bool:
    """Whether a content could as well be a string. One without words would be no content at all."""
    first = content[0] if len(content) == 1 else None
    return is_object(first) and set(first) == {"type", "text"} and bool(first["text"])


def _fitting(part: Any, block: Json) -> AssistantPart:
    return part if not isinstance(part, ForeignPart) else ForeignPart(NAME, block)


def takes_v1(members: Members) -> bool:
    """Whether the blocks are standard ones. That is told by writing them so again."""
    about = members.left.get("response_metadata")
    if not is_object(about) or about.get("output_version") != "v1":
        return False
    rest = {key: value for key, value in about.items() if key != "output_version"}
    members.left["response_metadata"] = rest
    members.drop("response_metadata", {})
    return True


def usage_in(members: Members) -> Usage | None:
    """What the answer cost, if it says so."""
    raw = members.object("usage_metadata")
    return None if raw is None else read_usage(raw)


def _entries(members: Members, path: str) -> Entries:
    calls, invalid = (_listed(members, name, path) for name in ("tool_calls", "invalid_tool_calls"))
    if calls or invalid:
        return Entries(calls, invalid)
    return Entries(*_raw_entries(members)) if "additional_kwargs" in members.left else NO_ENTRIES


def _listed(members: Members, name: str, path: str) -> list[Json]:
    if name not in members.left:
        return []
    items = checked_array(members.any(name), f"{path}.{name}", name, HINT)
    if not all(map(is_object, items)):
        raise ConversionError(f"{name} are objects", where=f"{path}.{name}", hint=HINT)
    return items


def _raw_entries(members: Members) -> list[list[Json]]:
    """Calls as OpenAI writes them, which older messages keep beside the others. They stay there too."""
    kwargs = members.left.get("additional_kwargs")
    raws = kwargs.get("tool_calls") if is_object(kwargs) else None
    calls: list[Json] = []
    invalid: list[Json] = []
    for raw in raws if is_array(raws) else ():
        function = raw.get("function") if is_object(raw) else None
        if not is_object(raw) or not is_object(function) or not isinstance(function.get("name"), str):
            continue
        said = {"name": function["name"], "id": raw.get("id") if isinstance(raw.get("id"), str) else None}
        try:
            args = loads(function.get("arguments") or "{}")
        except (DecodeError, TypeError):
            args = None
        if is_object(args):
            calls.append({**said, "args": args})
        else:
            invalid.append({**said, "args": str(function.get("arguments")), "error": None})
    return [calls, invalid]


def _signatures(members: Members, namespace: str | None) -> JsonObject:
    """The signatures that Google's integration keeps beside the message, if they are those of calls."""
    kwargs = members.left.get("additional_kwargs")
    found = kwargs.get(SIGNATURES) if is_object(kwargs) and namespace == "google" else None
    if not is_object(found) or not all(isinstance(value, str) for value in found.values()):
        return {}
    calls = members.left.get("tool_calls")
    called = {str(call.get("id")) for call in calls if is_object(call)} if is_array(calls) else set[str]()
    if not set(found) <= called or not is_object(kwargs):
        return {}
    rest = {key: value for key, value in kwargs.items() if key != SIGNATURES}
    members.left["additional_kwargs"] = rest
    members.drop("additional_kwargs", {})
    return found


def reasoning_in(members: Members) -> tuple[AssistantPart, ...]:
    """Reasoning that stands beside the content, as some integrations keep it."""
    kwargs = members.left.get("additional_kwargs")
    text = kwargs.get(REASONING) if is_object(kwargs) else None
    if not isinstance(text, str) or not text or not is_object(kwargs):
        return ()
    rest = {key: value for key, value in kwargs.items() if key != REASONING}
    members.left["additional_kwargs"] = rest
    members.drop("additional_kwargs", {})
    return (ReasoningPart(text, provider_metadata={NAME: {"shape": REASONING}}),)
