"""What of canonical messages does not arrive in a format: whatever reading it again does not give.

Found by comparison, not by rules, so that nothing can be forgotten. The reasons come from a table.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from partita.formats.bare import is_bare_around
from partita.formats.losses import Loss, Severity, shown
from partita.types.codec import to_json
from partita.types.fold import SETTLED, state_after
from partita.types.json import Json, JsonObject, dumps, is_array, is_object
from partita.types.messages import (
    AssistantPart,
    Message,
    ToolCallPart,
    ToolMessage,
    UserMessage,
    derive_type,
    text_of,
)
from partita.types.parts import StepStartPart
from partita.types.tools import ToolResultPart

from .around import are_alike, is_same_content, type_after, unlike
from .members import noted

COMMON: Final[Mapping[str, str]] = {
    "id": "it gets another one when it is read again",
    "seq": "messages are in order by their place in the list",
    "parentId": "messages form one line, without branches",
    "resourceId": "messages do not name their owner",
    "internal": "messages are all for the model",
    "networkExecution": "there is no place for the execution of a network",
    "tokenCount": "single parts do not tell what they cost",
    "state": "it follows from what the call or the text has come to",
    "children": "what a sub-agent said has no place below a call",
    "approval": "who allowed a call is not part of the history",
    "preliminary": "every output is final",
    "dynamic": "dynamic tools are not told from static ones",
    "title": "it is for display only",
    "toolMetadata": "it is for display only",
}
"""Why a member does not arrive, by its name."""


METADATA: Final = frozenset({"providerMetadata", "callProviderMetadata", "resultProviderMetadata"})
RESPELT: Final = "it only told how this was written before"
MINOR: Final = (("state", "done"), ("type", "source"))
"""Members that nobody misses."""

_STEP: Final = shown({"type": "step-start"})


class Arrivals:
    """The losses of one dump."""

    def __init__(
        self, default: str, reasons: Mapping[str, str], namespace: str, spelling: frozenset[str]
    ) -> None:
        """`spelling`: what notes under the namespace only say to have something written as it was."""
        self.told: list[Loss] = []
        self._default = default
        self._namespace, self._spelling = namespace, spelling
        self._reasons = {**COMMON, **reasons}

    def tell(self, path: str, value: Json, why: str, severity: Severity = "lost") -> None:
        """Tell something that no comparison shows."""
        self.told.append(Loss.of(path, value, why, severity))

    def whole(self, value: Any, path: str) -> None:
        """Tell that nothing of a part or a message arrives."""
        severity: Severity = "minor" if isinstance(value, StepStartPart) and not value.extra else "lost"
        self.told.append(Loss.of(path, to_json(value), self._default, severity))

    def part(self, part: Any, again: Any, path: str) -> None:
        """Tell what of a part is not in what reading it again gives, if that gives anything."""
        if again is None:
            self.whole(part, path)
        elif again != part:
            self._compare(to_json(part), to_json(again), path)

    def call(self, call: ToolCallPart, again: AssistantPart | None, path: str) -> None:
        """The same for a call; the message of its result is told elsewhere."""
        self.part(replace(call, result_message=None), again, path)

    def shell(self, message: Message, again: Message | None, path: str) -> None:
        """Tell what around the parts of a message does not arrive."""
        if again is not None and are_alike(message, again):
            self.around(message, again, path)
            if not is_same_content(message, again):
                where, why = f"{path}.content", self._reasons.get("content", self._default)
                after = to_json(replace(again.content, parts=()))
                self.told.extend(self._differences(_besides(message), after, where, why))
            return
        before = {**_shell(message), "content": _besides(message)}
        if again is None:
            self.told.append(Loss.of(path, before, self._default))
        else:
            self._compare(before, {**_shell(again), "type": type_after(message, again)}, path)

    def around(self, message: Message, again: Message, path: str) -> None:
        """Tell what of the fields around the content does not arrive."""
        for name, value, is_there in unlike(message, again):
            why = self._reasons.get(name, self._default)
            self.told.append(Loss.of(f"{path}.{name}", value, why, "changed" if is_there else "lost"))

    def alone(self, message: Message, id_: str, path: str, thread_id: str | None = None) -> None:
        """Tell what around a message of which all parts arrive does not; `id_`: what it is called then."""
        if not is_bare_around(message) or message.type != derive_type(message.content.parts):
            self.around(message, UserMessage(id=id_, thread_id=thread_id, content=()), path)
        else:
            self.renamed(message, id_, path)

    def renamed(self, message: Message, id_: str, path: str) -> None:
        """Tell that a message of which all else arrives is called otherwise then, if it is."""
        if message.id != id_:
            why = self._reasons.get("id", self._default)
            self.told.append(Loss.of(f"{path}.id", message.id, why, "changed"))

    def steps(self, starts: Sequence[int], path: str, why: str) -> None:
        """Tell boundaries, by their places among the parts of a message."""
        for index in starts:
            self.told.append(Loss(f"{path}.content.parts[{index}]", _STEP, why, "minor"))

    def _compare(self, before: Json, after: Json, path: str) -> None:
        self.told.extend(self._differences(before, after, path, self._default))

    def _differences(self, before: Json, after: Json, path: str, why: str) -> Iterator[Loss]:
        if is_object(before) and is_object(after) and before and _is_one_kind(before, after):
            for key, value in before.items():
                reason = self._reasons.get(key, why)
                is_noted = key in METADATA and is_object(value)
                item = self._beyond_spelling(value) if is_noted else value
                if is_noted:
                    yield from self._respelt(value, after.get(key), f"{path}.{key}")
                if is_noted and value and not item:
                    continue
                if key in after:
                    yield from self._differences(item, after[key], f"{path}.{key}", reason)
                else:
                    is_minor = (is_noted and not item) or (key, item) in MINOR
                    severity: Severity = "minor" if is_minor else "lost"
                    yield Loss.of(f"{path}.{key}", item, reason, severity)
        elif is_array(before) and is_array(after) and before and len(before) == len(after):
            for index, (item, other) in enumerate(zip(before, after, strict=True)):
                yield from self._differences(item, other, f"{path}[{index}]", why)
        elif dumps(before) != dumps(after):
            yield Loss.of(path, before, why, "lost" if after is None else "changed")

    def _respelt(self, before: JsonObject, after: Json, path: str) -> Iterator[Loss]:
        """What only said how something was written, and is written otherwise now."""
        note, other = (
            noted(before, self._namespace),
            noted(after if is_object(after) else None, self._namespace),
        )
        for key in sorted(note.keys() & self._spelling):
            if key not in other or dumps(note[key]) != dumps(other[key]):
                yield Loss.of(f"{path}.{self._namespace}.{key}", note[key], RESPELT, "minor")

    def _beyond_spelling(self, metadata: JsonObject) -> JsonObject:
        note = metadata.get(self._namespace)
        if not is_object(note):
            return metadata
        rest = {key: value for key, value in note.items() if key not in self._spelling}
        others = {key: value for key, value in metadata.items() if key != self._namespace}
        return {**others, self._namespace: rest} if rest else others


def _shell(message: Message) -> JsonObject:
    plain: JsonObject = to_json(replace(message, content=replace(message.content, parts=())))  # pyright: ignore[reportArgumentType] # each role takes its own content
    return plain


def _besides(message: Message) -> JsonObject:
    """The content without its parts, and without the string that says the same."""
    plain: JsonObject = to_json(replace(message.content, parts=()))
    said = text_of(message)
    return {key: value for key, value in plain.items() if key != "content" or value != said}


def _is_one_kind(before: JsonObject, after: JsonObject) -> bool:
    """Whether two values can be told apart member by member: not parts or outputs of two types."""
    return "role" in before or "sourceType" in before or before.get("type") == after.get("type")


def answered(call: AssistantPart | None, result: ToolResultPart | None) -> AssistantPart | None:
    """A call that was read again, with the result that was."""
    if not isinstance(call, ToolCallPart) or result is None:
        return call
    return replace(
        call,
        state=call.state if call.state in SETTLED else state_after(result.output),
        output=result.output,
        result_provider_metadata=result.provider_metadata,
    )


def bare(message: ToolMessage) -> ToolMessage:
    """A tool message without its parts."""
    return replace(message, content=replace(message.content, parts=()))
