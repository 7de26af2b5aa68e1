"""What a recorded stream contains and its message does not: padding, and what later records replace."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from partita.formats.losses import Loss, Severity
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import Message

from .stream import DONE
from .values import is_empty

NOT_READ: Final = "it is not read, or a later record has another value"
PADDING: Final = "padding, so that the length of encrypted records reveals nothing"
REPEATED: Final = "it repeats other members"
REPLACED: Final = "a later record replaces it"

CONSTANTS: Final[Mapping[str, frozenset[Any]]] = {
    "object": frozenset({"chat.completion", "chat.completion.chunk", "list"}),
    "role": frozenset({"assistant"}),
    "type": frozenset({"text", "function", "custom", "image_url", "refusal", "thinking", "url_citation"}),
    "finish_reason": frozenset({"stop", "tool_calls", "function_call"}),
}
"""Values that follow from the message, by the name of their member."""

IN_PIECES: Final = frozenset(
    {"content", "refusal", "reasoning_content", "reasoning", "arguments", "input", "text", "thinking"}
    | {"summary", "data", "transcript", "signature", "token", "logprob"}
)
"""Members whose texts are pieces of others."""

UPDATED: Final = frozenset({"usage", "id", "created"})
"""Members that servers send in every record, with other values."""


def stream_losses(records: Sequence[Json], message: Message) -> Iterator[Loss]:
    """What of the records is not in the message."""
    finder = _Finder(to_json(message))
    for index, record in enumerate(records):
        if record != DONE and is_object(record):
            yield from finder.record(record, f"$[{index}]")


class _Finder:
    """Looks for the values of records in a message. A value is reported once."""

    def __init__(self, message: Json) -> None:
        self._texts: set[str] = set()
        self._values: set[tuple[str, Json]] = set()
        self._reported: set[tuple[str, str]] = set()
        self._calls: dict[int, int] = {}
        self._collect("", message)

    def _collect(self, key: str, value: Json) -> None:
        if is_object(value):
            for name, item in value.items():
                self._collect(name, item)
        elif is_array(value):
            for item in value:
                self._collect(key, item)
        elif isinstance(value, str):
            self._texts.add(value)
        else:
            self._values.add((key, value))

    def record(self, record: JsonObject, path: str) -> Iterator[Loss]:
        for key, value in record.items():
            if key == "choices" and is_array(value):
                for index, choice in enumerate(value):
                    yield from self._choice(choice, f"{path}.choices[{index}]", index)
            elif key in ("obfuscation", "p"):
                yield Loss.of(f"{path}.{key}", value, PADDING, "minor")
            else:
                severity: Severity = "minor" if key in UPDATED else "lost"
                why = REPLACED if key == "usage" else NOT_READ
                yield from self._value(key, value, f"{path}.{key}", why, severity)

    def _choice(self, choice: Json, path: str, number: int) -> Iterator[Loss]:
        if not is_object(choice):
            return
        index = choice.get("index", number)
        if isinstance(index, int) and index != 0:
            return  # kept whole among the other choices
        if index not in (0, None):
            yield Loss.of(f"{path}.index", index, NOT_READ)
        form = next((form for form in ("delta", "message") if choice.get(form) is not None), None)
        for key, value in choice.items():
            where = f"{path}.{key}"
            if form is not None and key == form and is_object(value):
                yield from self._message(value, where)
            elif key == "logprobs" and is_object(value):
                yield from self._logprobs(value, where)
            elif key in ("delta", "message", "text"):
                if not is_empty(value):
                    yield Loss.of(where, value, REPEATED, "minor")
            elif key != "index":
                yield from self._value(key, value, where)

    def _logprobs(self, logprobs: JsonObject, path: str) -> Iterator[Loss]:
        for key, value in logprobs.items():
            if key in ("content", "refusal") and not is_array(value) and not is_empty(value):
                yield Loss.of(f"{path}.{key}", value, NOT_READ)
            else:
                yield from self._value(key, value, f"{path}.{key}")

    def _message(self, message: JsonObject, path: str) -> Iterator[Loss]:
        for key, value in message.items():
            where = f"{path}.{key}"
            if key == "tool_calls" and is_array(value):
                for number, call in enumerate(value):
                    yield from self._call(call, f"{where}[{number}]", number)
            elif key == "index":
                if value not in (0, None):
                    yield Loss.of(where, value, NOT_READ, "minor")
            elif key in ("reasoning_content", "reasoning") and isinstance(value, str):
                first = message.get("reasoning_content")
                if key == "reasoning" and isinstance(first, str) and first not in ("", value):
                    yield Loss.of(where, value, REPEATED)
            else:
                yield from self._value(key, value, where)

    def _call(self, call: Json, path: str, number: int) -> Iterator[Loss]:
        """A piece of a call. Its index only says which call it belongs to."""
        if not is_object(call):
            return
        index = call.get("index")
        expected = self._calls.setdefault(index, len(self._calls)) if isinstance(index, int) else number
        if index not in (None, expected):
            yield Loss.of(f"{path}.index", index, NOT_READ, "minor")
        for key, value in call.items():
            if key != "index":
                yield from self._value(key, value, f"{path}.{key}")

    def _value(
        self, key: str, value: Json, path: str, why: str = NOT_READ, severity: Severity = "lost"
    ) -> Iterator[Loss]:
        """The leaves of a value that the message does not have."""
        if is_object(value) and value:
            for name, item in value.items():
                yield from self._value(name, item, f"{path}.{name}", why, severity)
        elif is_array(value) and value:
            for index, item in enumerate(value):
                yield from self._value(key, item, f"{path}[{index}]", why, severity)
        elif not self._is_found(key, value):
            known = (path.rpartition(".")[2], str(value))
            if known not in self._reported:
                self._reported.add(known)
                yield Loss.of(path, value, why, severity)

    def _is_found(self, key: str, value: Json) -> bool:
        if is_empty(value):
            return True
        if isinstance(value, str):
            return key in IN_PIECES or value in self._texts or value in CONSTANTS.get(key, ())
        return (key, value) in self._values
