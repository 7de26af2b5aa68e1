"""What a Markdown document does not say of a conversation."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from partita.formats.losses import Loss
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import Message

NO_PLACE: Final = "a document for readers does not say it"
NOT_INCLUDED: Final = "a document names files, and links those that the web has"

WRITTEN: Final[Mapping[str, frozenset[str]]] = {
    "text": frozenset({"text"}),
    "reasoning": frozenset({"text"}),
    "tool-call": frozenset({"name", "title", "state", "input", "output", "children"}),
    "tool-result": frozenset({"name", "output"}),
    "image": frozenset({"url", "name"}),
    "file": frozenset({"url", "filename"}),
    "reasoning-file": frozenset({"url", "filename"}),
    "source-url": frozenset({"title", "url"}),
    "source-document": frozenset({"title"}),
    "data": frozenset({"name", "data"}),
    "custom": frozenset({"kind"}),
    "foreign": frozenset({"format", "value"}),
    "steering-message": frozenset({"parts"}),
    "step-start": frozenset(),
}
"""By the type of a part, the members of it that are written."""

OF_NETWORK: Final = frozenset({"primitiveType", "primitiveId", "finalResult"})
OF_RESULT: Final = frozenset({"text", "messages"})
OF_OUTPUT: Final = frozenset({"type", "value", "reason", "message"})
FILES: Final = frozenset({"image", "file", "reasoning-file"})

WEB: Final = re.compile(r"https?://[^\s<>()\[\]]+")


def untold(messages: Sequence[Message]) -> Iterator[Loss]:
    """What is in no document, field by field."""
    for index, message in enumerate(messages):
        yield from _message(to_json(message), f"$[{index}]")


def _message(message: JsonObject, path: str) -> Iterator[Loss]:
    yield from _rest(message, path, frozenset({"role", "type", "content", "createdAt"}))
    content = message["content"]
    yield from _rest(content, f"{path}.content", frozenset({"parts", "format", "networkExecution"}))
    for index, part in enumerate(content["parts"]):
        yield from _part(part, f"{path}.content.parts[{index}]")
    network = content.get("networkExecution")
    if is_object(network):
        where = f"{path}.content.networkExecution"
        yield from _rest(network, where, OF_NETWORK)
        result = network.get("finalResult")
        if is_object(result):
            yield from _rest(result, f"{where}.finalResult", OF_RESULT)
            yield from _messages(result.get("messages"), f"{where}.finalResult.messages")


def _messages(messages: Json, path: str) -> Iterator[Loss]:
    for index, message in enumerate(messages if is_array(messages) else []):
        yield from _message(message, f"{path}[{index}]")


def _part(part: JsonObject, path: str) -> Iterator[Loss]:
    kind = part.get("type")
    written = WRITTEN.get(kind) if isinstance(kind, str) else None
    if written is None:
        return  # of a kind that nobody knows, and so written as it is
    if kind == "tool-call":
        written |= {"rawInput"} if not part.get("input") else frozenset()
        yield from _input(part.get("input"), f"{path}.input")
    if kind in FILES and not part.get("name", part.get("filename")):
        written |= {"mediaType"}
    yield from _rest(part, path, written | {"type"})
    url = part.get("url")
    if kind in FILES and isinstance(url, str) and not WEB.fullmatch(url):
        yield Loss.of(f"{path}.url", url, NOT_INCLUDED)
    if kind == "source-url" and not WEB.fullmatch(part["url"]):
        yield Loss.of(f"{path}.url", part["url"], NOT_INCLUDED)
    if "output" in written and is_object(part.get("output")):
        yield from _output(part["output"], f"{path}.output")
    if "children" in written:
        yield from _messages(part.get("children"), f"{path}.children")
    for index, item in enumerate(part["parts"] if "parts" in written else ()):
        yield from _part(item, f"{path}.parts[{index}]")


def _input(given: Json, path: str) -> Iterator[Loss]:
    """Of a command, only the command is shown; and nothing at all is not shown."""
    if not given and given is not None and given != {}:
        yield Loss.of(path, given, NO_PLACE, "minor")
    if is_object(given) and given.keys() == {"command", "description"} and isinstance(given["command"], str):
        yield Loss.of(f"{path}.description", given["description"], NO_PLACE)


def _output(output: JsonObject, path: str) -> Iterator[Loss]:
    yield from _rest(output, path, OF_OUTPUT)
    if output["type"] == "content":
        for index, item in enumerate(output["value"]):
            yield from _part(item, f"{path}.value[{index}]")


def _rest(value: JsonObject, path: str, written: frozenset[str]) -> Iterator[Loss]:
    for key, item in value.items():
        if key not in written:
            yield Loss.of(f"{path}.{key}", item, NO_PLACE, "minor" if key in ("seq", "id") else "lost")
