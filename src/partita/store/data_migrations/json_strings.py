"""Structures stored as JSON in a string: found anywhere in a message, and parsed where that is certain.

Other systems are known to store them in:

- an assistant's text part: network results (Mastra), which the migration `network-strings` parses;
- an assistant's text part: parts, one or a list of them;
- the input of a tool call (`arguments` in OpenAI's API), its output, the data of a data part, metadata.

A string is replaced by its structure only where that changes nothing else: an input and metadata are objects
by definition; an output or data must be exactly what `JSON.stringify` or `json.dumps` writes. The rest is
reported and not changed: text for or from a tool, opaque values of providers, truncated strings.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from partita.errors import PartitaError
from partita.formats.mastra.network import structured
from partita.store.messages.legacy_content import upgrade
from partita.types.json import Json, JsonObject, dumps, is_array, is_object, walk
from partita.types.json import loads as loads_json
from partita.types.messages import AssistantContent, AssistantMessage, Message, NetworkExecution, ToolCallPart
from partita.types.parts import (
    ContentOutput,
    DataPart,
    ErrorJsonOutput,
    ErrorTextOutput,
    ForeignPart,
    JsonOutput,
    TextOutput,
    TextPart,
    ToolOutput,
    ToolResultPart,
    UnknownPart,
)

from .migration import NETWORK_STRINGS, PLAIN_TEXT, Change, Migration, StoredRow, with_content

Kind: TypeAlias = Literal[
    "content", "network", "part", "tool input", "tool output", "data", "metadata", "provider metadata"
]
"""Where a string is."""

Condition: TypeAlias = Literal["whole", "inside", "cut off"]
"""Whether it is the whole value, a value inside another, or truncated JSON."""

NAME = "stringified-values"
DEPTH = 3
"""The number of times that a value may have been encoded."""

_NETWORK = re.compile(r'\s*\{\s*"isNetwork"\s*:\s*true')
"""The start of a network result."""


class JsonString(NamedTuple):
    """A structure in a string: where it is, and the migration that parses it, if there is one."""

    kind: Kind
    condition: Condition
    path: str
    text: str
    migration: str | None = None


class Parsed(NamedTuple):
    """A message with its structures parsed where that is certain, and all strings that were found."""

    message: Message
    found: tuple[JsonString, ...]


def parse_json_strings(message: Message, row: StoredRow | None = None) -> Parsed:
    """Find and parse the structures in strings of a message. `row` is the row of the message."""
    found: list[JsonString] = []
    if row is not None and upgrade(row.role, row.text).shape == "string":
        found.append(JsonString("content", "whole", "$.content", row.text, PLAIN_TEXT.name))
    changed = _Parser(found).message(message, "$")
    return Parsed(changed, tuple(found))


class _Parser:
    """Parses the strings of a message and of the messages inside it, and adds each to a list."""

    def __init__(self, found: list[JsonString]) -> None:
        self._found = found

    def inner(self, message: Message, path: str) -> Message:
        """A message inside another. No other migration parses its networks."""
        return self.message(structured(message) or message, path, network_migration=NAME, before=message)

    def message(
        self,
        message: Message,
        path: str,
        *,
        network_migration: str = NETWORK_STRINGS.name,
        before: Message | None = None,
    ) -> Message:
        """The message with its structures parsed. `before` is the message before its networks were parsed."""
        for index, part in enumerate((before or message).content.parts):
            if isinstance(before or message, AssistantMessage) and isinstance(part, TextPart):
                self._network_text(part, f"{path}.content.parts[{index}].text", network_migration)
        content = message.content
        parts: list[Any] = []
        for index, part in enumerate(content.parts):
            parts.extend(self._part(part, message, f"{path}.content.parts[{index}]"))
        metadata = self._metadata(content.metadata, f"{path}.content.metadata")
        self._add_inside("provider metadata", content.provider_metadata, f"{path}.content.providerMetadata")
        fields: JsonObject = {}
        if _is_changed(parts, content.parts):
            fields["parts"] = tuple(parts)
        if metadata is not content.metadata:
            fields["metadata"] = metadata
        network = content.network_execution if isinstance(content, AssistantContent) else None
        if network is not None:
            parsed = self._network(network, f"{path}.content.networkExecution")
            if parsed is not network:
                fields["network_execution"] = parsed
        return with_content(message, replace(content, **fields)) if fields else message

    def _part(self, part: Any, message: Message, path: str) -> Sequence[Any]:
        self._add_inside(
            "provider metadata", getattr(part, "provider_metadata", None), f"{path}.providerMetadata"
        )
        match part:
            case TextPart() if isinstance(message, AssistantMessage):
                return self._text(part, f"{path}.text")
            case ToolCallPart():
                return [self._call(part, path)]
            case ToolResultPart():
                output = self._output(part.output, f"{path}.output")
                return [part if output is part.output else replace(part, output=output)]
            case DataPart(data=str()):
                data = self._value("data", part.data, f"{path}.data")
                return [part if data is part.data else replace(part, data=data)]
            case DataPart():
                self._add_inside("data", part.data, f"{path}.data")
            case _:
                pass
        return [part]

    def _network_text(self, part: TextPart, path: str, migration: str) -> None:
        """Add a network result in a text."""
        value = _parsed(part.text)
        if is_object(value):
            if structured(AssistantMessage(id="", content=[part])) is not None:
                self._add("network", "whole", path, part.text, migration)
            elif value.get("isNetwork") is True:
                self._add("network", "whole", path, part.text)
        elif value is None and _NETWORK.match(part.text):
            self._add("network", "cut off", path, part.text)

    def _text(self, part: TextPart, path: str) -> Sequence[Any]:
        """The parts that a text holds. Any other JSON is text, because models are often asked for JSON."""
        parts = _parts_of(_parsed(part.text))
        if not parts:
            return [part]
        is_bare = replace(part, state=None) == TextPart(part.text)  # it has nothing but the text
        self._add("part", "whole", path, part.text, NAME if is_bare else None)
        return parts if is_bare else [part]

    def _call(self, call: ToolCallPart, path: str) -> ToolCallPart:
        fields: JsonObject = {}
        if isinstance(call.input, str) and call.input_encoding != "text":
            arguments = self._object("tool input", call.input, f"{path}.input")
            if arguments is not call.input:
                fields["input"] = arguments
        else:
            self._add_inside("tool input", call.input, f"{path}.input")
        if call.output is not None:
            output = self._output(call.output, f"{path}.output")
            if output is not call.output:
                fields["output"] = output
        children = tuple(
            self.inner(child, f"{path}.children[{index}]") for index, child in enumerate(call.children)
        )
        if _is_changed(children, call.children):
            fields["children"] = children
        return replace(call, **fields) if fields else call

    def _output(self, output: ToolOutput, path: str) -> ToolOutput:
        where = f"{path}.value"
        match output:
            case TextOutput(value=text) | ErrorTextOutput(value=text):
                value = self._value("tool output", text, where)
                if value is text:
                    return output
                kind = JsonOutput if isinstance(output, TextOutput) else ErrorJsonOutput
                return kind(value, provider_metadata=output.provider_metadata, extra=output.extra)
            case JsonOutput(value=str() as text) | ErrorJsonOutput(value=str() as text):
                value = self._value("tool output", text, where)
                return output if value is text else replace(output, value=value)
            case JsonOutput() | ErrorJsonOutput():
                self._add_inside("tool output", output.value, where)
            case ContentOutput():
                for index, item in enumerate(output.value):
                    if isinstance(item, TextPart) and _parsed(item.text) is not None:
                        self._add("tool output", "inside", f"{where}[{index}].text", item.text)
            case _:
                pass
        return output

    def _network(self, network: NetworkExecution, path: str) -> NetworkExecution:
        self._add_inside("tool input", network.input, f"{path}.input")
        if isinstance(network.input, str):
            self._keep_text("tool input", network.input, _parsed(network.input), f"{path}.input")
        result = network.final_result
        if result is None:
            return network
        where = f"{path}.finalResult"
        messages = tuple(
            self.inner(one, f"{where}.messages[{index}]") for index, one in enumerate(result.messages)
        )
        calls = tuple(
            self._call(one, f"{where}.toolCalls[{index}]") for index, one in enumerate(result.tool_calls)
        )
        value = result.value
        if isinstance(value, str):
            value = self._value("tool output", value, f"{where}.value")
        else:
            self._add_inside("tool output", value, f"{where}.value")
        is_same = not _is_changed(messages, result.messages) and not _is_changed(calls, result.tool_calls)
        if is_same and value is result.value:
            return network
        parsed = replace(result, messages=messages, tool_calls=calls, value=value)
        return replace(network, final_result=parsed)

    def _metadata(self, metadata: Json | UnsetType, path: str) -> Json | UnsetType:
        if isinstance(metadata, str):
            return self._object("metadata", metadata, path)
        self._add_inside("metadata", metadata, path)
        return metadata

    def _object(self, kind: Kind, text: str, path: str) -> Json:
        """The object of a text that must be one, in any notation."""
        value = _parsed(text)
        if is_object(value):
            self._add(kind, "whole", path, text, NAME)
            return value
        return self._keep_text(kind, text, value, path)

    def _value(self, kind: Kind, text: str, path: str) -> Json:
        """The structure of a text if it is exactly what a program writes, else the text."""
        value = _parsed(text)
        if value is not None and _is_serialized(text, value):
            self._add(kind, "whole", path, text, NAME)
            return value
        return self._keep_text(kind, text, value, path)

    def _keep_text(self, kind: Kind, text: str, value: Json, path: str) -> str:
        if value is not None:
            self._add(kind, "whole", path, text)
        elif _is_truncated(text):
            self._add(kind, "cut off", path, text)
        return text

    def _add_inside(self, kind: Kind, value: Json | UnsetType, path: str) -> None:
        """Add strings inside a value. They are not parsed, because a program may read them as text."""
        if value is UNSET or not (is_object(value) or is_array(value)):
            return
        for where, item in walk(value, path):
            if isinstance(item, str) and _parsed(item) is not None:
                self._add(kind, "inside", where, item)

    def _add(
        self, kind: Kind, condition: Condition, path: str, text: str, migration: str | None = None
    ) -> None:
        self._found.append(JsonString(kind, condition, path, text, migration))


def _is_changed(new: Sequence[object], old: Sequence[object]) -> bool:
    return len(new) != len(old) or any(a is not b for a, b in zip(new, old, strict=True))


def _parsed(text: str) -> Json:
    """The object or array that a string encodes, once or more often, or `None`."""
    value: Json = text
    for _ in range(DEPTH):
        if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "[", '"') or len(value) < 2:
            break
        try:
            value = loads_json(value)
        except PartitaError:
            return None
    return value if is_object(value) or is_array(value) else None


def _is_serialized(text: str, value: Json) -> bool:
    """Whether a text is what `JSON.stringify` or `json.dumps` writes for a value, once or more often."""
    inner = loads_json(text)
    if isinstance(inner, str):
        return _is_serialized(inner, value) and text in _serializations(inner)
    return text in _serializations(value)


def _serializations(value: Json) -> Iterator[str]:
    for separators in ((",", ":"), (", ", ": ")):
        for ascii_only in (False, True):
            yield json.dumps(value, separators=separators, ensure_ascii=ascii_only)


def _is_truncated(text: str) -> bool:
    """Whether a text is the start of JSON that was truncated."""
    if text.lstrip()[:2] not in ('{"', "[{", '["', "[["):
        return False
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        rest = text[error.pos :].strip()
        in_literal = any(literal.startswith(rest) for literal in ("true", "false", "null"))
        return error.msg.startswith("Unterminated string") or in_literal
    except (ValueError, RecursionError):
        return False
    return False


def _parts_of(value: Json) -> Sequence[Any]:
    """The parts that a value is; none if it is anything else, or if one of them is unknown."""
    items = value if is_array(value) else [value]
    if not items or not all(is_object(item) and isinstance(item.get("type"), str) for item in items):
        return ()
    found = upgrade("assistant", dumps({"format": 2, "parts": items}).decode())
    is_known = found.shape in ("current", "version 4") and not found.losses
    has_unknown = any(
        isinstance(part, UnknownPart | ForeignPart) or part.extra for part in found.content.parts
    )
    return found.content.parts if is_known and not has_unknown else ()


def _parse(message: Message, row: StoredRow) -> Change | None:
    """The message with the structures that can be parsed with certainty."""
    parsed = parse_json_strings(message)
    if parsed.message is message:
        return None
    kinds = dict.fromkeys(one.kind for one in parsed.found if one.migration == NAME)
    return Change(parsed.message, f"{', '.join(kinds)} parsed from a string")


JSON_STRINGS = Migration(
    NAME, "Inputs, outputs, data, metadata and parts as structure instead of JSON in a string", _parse
)
