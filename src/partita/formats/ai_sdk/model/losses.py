"""What of canonical messages does not arrive in model messages: whatever reading them again does not give.

Found by comparison, not by rules, so that nothing can be forgotten. The table only gives the reasons.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from partita.formats.bare import is_bare, is_bare_message
from partita.formats.losses import Loss
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import Message, Part, SystemPart, ToolCallPart, ToolMessage, derive_type
from partita.types.parts import SteeringMessagePart, StepStartPart, TextPart

from .calls import is_call, is_plain_call, read_call
from .marks import FORMAT, note_on, options_of
from .outputs import read_tool_part
from .parts import Pieces, Speaker, is_plain, read_part

_DISPLAY = "it is for display only"
_COST = "model messages do not tell what they cost"
WHY: Mapping[str, str] = {
    "id": "model messages have no id",
    "threadId": "model messages do not name their thread",
    "createdAt": "model messages have no time",
    "resourceId": "model messages do not name their owner",
    "parentId": "model messages form one line, without branches",
    "runId": "model messages do not name their run",
    "seq": "model messages are in order by their place in the list",
    "internal": "model messages are all for the model",
    "metadata": "model messages have no metadata",
    "usage": _COST,
    "tokenCount": _COST,
    "networkExecution": "the model sees it as a tool call",
    "citations": _DISPLAY,
    "title": _DISPLAY,
    "toolMetadata": _DISPLAY,
    "descriptor": _DISPLAY,
    "state": "a model message is always whole",
    "inputEncoding": "only the stream needs it",
    "preliminary": "the model sees every output as final",
    "dynamic": "model messages do not tell dynamic tools from static ones",
    "children": "the model does not see what a sub-agent said",
    "resultMessage": "no more than its place and its options arrive",
    "resultProviderMetadata": "results carry the options of their call",
    FORMAT: "this version has another shape for it",
}
"""Why a member does not arrive, by its name."""

BARE = frozenset({"role", "content"})
"""The members of a model message that says no more."""

_SOURCE = "the model does not see sources"
WHOLE: Mapping[str, str] = {
    "foreign": "it is a part of another format",
    "data": "the model does not see data of the application",
    "source-url": _SOURCE,
    "source-document": _SOURCE,
    "tool-call": "its input is not whole, or a user message passed its request over",
}
"""Why a part does not arrive at all, by its type."""


class Losses:
    """The losses of one dump, told one after the other."""

    def __init__(self, version: int) -> None:
        self.version = version
        self.default = f"model messages of version {version} have no place for it"
        self.told: list[Loss] = []

    def compare(self, before: Json, after: Json, path: str) -> None:
        """Tell what is in `before` and not in `after`."""
        self.told.extend(lost(before, after, path, self.default, WHY))

    def whole(self, value: Any, path: str) -> None:
        """Tell that nothing of a part or a message arrives."""
        plain: JsonObject = to_json(value)
        self.told.append(Loss.of(path, plain, WHOLE.get(plain.get("type", ""), self.default)))

    def say(self, path: str, what: str, why: str) -> None:
        """Tell something that no comparison shows."""
        self.told.append(Loss(path, what, why))

    def part(self, part: Part, path: str, pieces: Pieces, role: Speaker | None) -> None:
        """Tell what of a part is not in the pieces it became; `None` is the role of tools."""
        if is_plain(part) or (isinstance(part, ToolCallPart) and is_plain_call(part)):
            return  # every version gives them back
        again = self._read(part, pieces, role)
        if again is None:
            self.whole(part, path)
        elif again != part:
            self.compare(_comparable(part, again), to_json(again), path)

    def _read(self, part: Part, pieces: Pieces, role: Speaker | None) -> Part | None:
        said, answered = pieces.said or [], pieces.answered or []
        if isinstance(part, ToolCallPart):
            return read_call(pieces, self.version) if said and is_call(said[0]) else None
        if role is None:
            return read_tool_part(answered[0], self.version) if answered else None
        again: Part | None = read_part(said[0], role, self.version) if len(said) == 1 else None
        return again

    def system_part(self, part: SystemPart, path: str, options: JsonObject) -> None:
        """Tell what of a part is not in a system message with these options."""
        if not isinstance(part, TextPart):
            self.whole(part, path)
            return
        arrived = {key: options[key] for key in part.provider_metadata or () if key in options}
        after = {"type": "text", "text": part.text, "providerMetadata": arrived}
        self.compare(to_json(part), after, path)

    def steering(self, part: SteeringMessagePart, path: str, raw: JsonObject | None) -> None:
        """Tell what of a steering message is not in the user message it became."""
        if raw is None:
            self.whole(part, path)
            return
        self.compare(to_json(replace(part, parts=())), {"type": "steering-message", "parts": []}, path)
        for index, (item, piece) in enumerate(zip(part.parts, raw["content"], strict=True)):
            self.part(item, f"{path}.parts[{index}]", Pieces([piece]), "user")

    def step_start(self, part: StepStartPart, path: str, raw: JsonObject | None) -> None:
        """Tell what of a step start is not in the assistant message that begins with it, if one does."""
        if is_bare(part):
            return
        after: JsonObject = {"type": "step-start"}
        if raw is not None:
            after |= _around(raw, empty=raw["content"] == [], alone=False)
        self.compare(to_json(part), after, path)

    def message(
        self, message: Message, path: str, id_: str | None, raw: JsonObject, *, alone: bool = True
    ) -> None:
        """Tell what around the parts is not in the model message that a message begins with."""
        if is_bare_message(message) and raw.keys() == BARE:
            if message.id != id_:
                self.told.append(Loss.of(f"{path}.id", message.id, WHY["id"]))
            return
        shell = replace(message, content=replace(message.content, parts=()))  # pyright: ignore[reportArgumentType] # each role takes its own content
        self.compare(to_json(shell), _shell(raw, id_, derive_type(message.parts), alone), path)

    def result_message(self, message: ToolMessage, path: str, id_: str, raw: JsonObject) -> None:
        """Tell what around the results is not in the tool message they stand in."""
        self.compare(to_json(message), _shell(raw, id_, "tool", True), path)


def _shell(raw: JsonObject, id_: str | None, type_: str, alone: bool) -> JsonObject:
    """What reading a message gives around its parts."""
    content: JsonObject = {"format": 2, "parts": []}
    if isinstance(raw["content"], str) and alone:
        content["content"] = raw["content"]
    around = _around(raw, empty=raw["role"] == "assistant" and raw["content"] == [], alone=alone)
    if "providerMetadata" in around:
        content["providerMetadata"] = around.pop("providerMetadata")
    return {"role": raw["role"], "type": type_, "id": id_, "content": content, **around}


def _around(raw: JsonObject, *, empty: bool, alone: bool) -> JsonObject:
    options, note = options_of(raw), note_on(raw, empty=empty, alone=alone)
    return {
        **({} if options is None else {"providerMetadata": options}),
        **({FORMAT: note} if note else {}),
    }


def _comparable(part: Part, again: Part) -> JsonObject:
    """A part as JSON, without what is told elsewhere or arrives under another name."""
    if not isinstance(part, ToolCallPart) or not isinstance(again, ToolCallPart):
        plain: JsonObject = to_json(part)
        return plain
    plain = to_json(replace(part, result_message=None))
    if plain.get(FORMAT) == {}:
        del plain[FORMAT]  # it only keeps the conversion from adding things
    if plain.get("input") is None and "rawInput" in plain and plain["rawInput"] == again.input:
        del plain["rawInput"]  # the input of a failed call
        plain.pop("input", None)
    return plain


def lost(
    before: Json, after: Json, path: str, why: str, reasons: Mapping[str, str] | None = None
) -> Iterator[Loss]:
    """Everything in `before` that is not in `after`: `why`, unless there are `reasons` by name."""
    if before is after or before == after:
        return
    if is_object(before) and is_object(after) and before:
        for key, item in before.items():
            reason = (reasons or {}).get(key, why)
            if key in after:
                yield from lost(item, after[key], f"{path}.{key}", reason, reasons)
            else:
                yield Loss.of(f"{path}.{key}", item, reason)
    elif is_array(before) and is_array(after) and before and len(before) == len(after):
        for index, (item, other) in enumerate(zip(before, after, strict=True)):
            yield from lost(item, other, f"{path}[{index}]", why, reasons)
    else:
        yield Loss.of(path, before, why)
