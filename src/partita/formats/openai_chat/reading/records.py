"""An answer that came whole, or as the records of a stream → the message it amounts to.

The decoder tells what was said. What it passes over is looked for in the message, and told if it is not
there: padding, counts that a later record gives again, members that nobody reads.
"""

from collections.abc import Iterator
from typing import Final

from partita.formats.format import Implied, Loaded
from partita.formats.losses import Loss, Severity
from partita.formats.openai_chat.decoder import DONE, ChatDecoder
from partita.formats.openai_chat.dialects import Dialect
from partita.formats.openai_chat.looking import is_empty
from partita.stream.accumulator import Accumulator
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, is_array, is_object

PASSED_OVER: Final = "nobody reads it, or a later record says otherwise"
PADDING: Final = "padding against those who measure encrypted records"
REPEATED: Final = "it repeats what the answer says"
COUNTED: Final = "a later record counts again"

COUNTERS: Final = frozenset({"usage", "id", "created"})
"""What servers say in every record of a stream, each time anew."""

IMPLIED: Final[Implied] = {
    "": frozenset({DONE}),
    "object": frozenset({"chat.completion", "chat.completion.chunk", "list"}),
    "role": frozenset({"assistant", "user", "system", "developer", "tool", "function"}),
    "type": frozenset(
        {
            "text",
            "function",
            "custom",
            "image_url",
            "input_audio",
            "file",
            "refusal",
            "thinking",
            "url_citation",
        }
    ),
    "format": frozenset({"wav", "mp3"}),
    "index": frozenset({0}),
    "finish_reason": frozenset({"stop", "tool_calls", "function_call"}),
}
"""Words that show in the form of the message."""

SPOKEN: Final = frozenset(
    {"content", "refusal", "reasoning_content", "reasoning", "arguments", "input", "text", "thinking"}
    | {"summary", "data", "transcript", "signature", "token", "logprob"}
)
"""Members whose words are told piece by piece, or kept in lists that are never read apart."""


def implied() -> Implied:
    """The words that a reader of Chat Completions has understood."""
    return IMPLIED


def load_records(payload: Json, dialect: Dialect) -> Loaded:
    """The message that an answer or the records of a stream amount to."""
    decoder = ChatDecoder(dialect.namespace)
    if is_array(payload):
        chunks = [chunk for record in payload for chunk in decoder.feed(record)] + decoder.finish()
        records = [(f"$[{index}]", record) for index, record in enumerate(payload) if record != DONE]
    else:
        chunks = [*decoder.read_body(payload), *decoder.finish()]
        records = [("$", payload)]
    accumulator = Accumulator(id="message-1", lenient=True)
    for chunk in chunks:
        accumulator.feed(chunk)
    message = accumulator.finish()
    losses = [
        Loss(f"chunk {told.chunk}", "a piece of the answer", told.what) for told in accumulator.diagnostics
    ]
    losses += _Look(to_json(message), is_stream=is_array(payload)).losses(records)
    return Loaded((message,), tuple(losses))


class _Look:
    """Looks for what records say in the message they amount to."""

    def __init__(self, message: Json, *, is_stream: bool) -> None:
        self._words: set[str] = set()
        self._pairs: set[tuple[str, Json]] = set()
        self._forms = ("delta", "message") if is_stream else ("message", "delta")
        self._told: set[tuple[str, str]] = set()
        self._calls: dict[int, int] = {}
        self._gather("", message)

    def _gather(self, key: str, value: Json) -> None:
        if is_object(value):
            for name, item in value.items():
                self._gather(name, item)
        elif is_array(value):
            for item in value:
                self._gather(key, item)
        elif isinstance(value, str):
            self._words.add(value)
        else:
            self._pairs.add((key, value))

    def losses(self, records: list[tuple[str, Json]]) -> Iterator[Loss]:
        """What is not found."""
        for path, record in records:
            if not is_object(record):
                continue
            for key, value in record.items():
                if key == "choices" and is_array(value):
                    for index, choice in enumerate(value):
                        yield from self._choice(choice, f"{path}.choices[{index}]", index)
                elif key in ("obfuscation", "p"):
                    yield Loss.of(f"{path}.{key}", value, PADDING, "minor")
                else:
                    severity: Severity = "minor" if key in COUNTERS else "lost"
                    why = COUNTED if key == "usage" else PASSED_OVER
                    yield from self._value(key, value, f"{path}.{key}", why, severity)

    def _choice(self, choice: Json, path: str, place: int) -> Iterator[Loss]:
        if not is_object(choice):
            return
        index = choice.get("index", place)
        if isinstance(index, int) and index != 0:
            return  # kept whole among the other choices
        if index not in (0, None):
            yield Loss.of(f"{path}.index", index, PASSED_OVER)
        form = next((form for form in self._forms if choice.get(form) is not None), None)
        for key, value in choice.items():
            where = f"{path}.{key}"
            if key == "index":
                continue
            if form is not None and key == form and is_object(value):
                yield from self._message(value, where, form)
            elif key == "logprobs" and is_object(value):
                yield from self._logprobs(value, where)
            elif key in self._forms or key == "text":
                if not is_empty(value):
                    yield Loss.of(where, value, REPEATED, "minor")
            else:
                yield from self._value(key, value, where)

    def _logprobs(self, logprobs: JsonObject, path: str) -> Iterator[Loss]:
        for key, value in logprobs.items():
            if key in ("content", "refusal") and not is_array(value) and not is_empty(value):
                yield Loss.of(f"{path}.{key}", value, PASSED_OVER)
            else:
                yield from self._value(key, value, f"{path}.{key}")

    def _message(self, said: JsonObject, path: str, form: str) -> Iterator[Loss]:
        for key, value in said.items():
            where = f"{path}.{key}"
            if key == "tool_calls" and is_array(value):
                for place, call in enumerate(value):
                    yield from self._call(call, f"{where}[{place}]", place, form)
            elif key == "index":
                if value not in (0, None):
                    yield Loss.of(where, value, PASSED_OVER, "minor")
            elif key in ("reasoning_content", "reasoning") and isinstance(value, str):
                others = [said.get(name) for name in ("reasoning_content", "reasoning")]
                if key == "reasoning" and isinstance(others[0], str) and others[0] not in ("", value):
                    yield Loss.of(where, value, REPEATED)
            else:
                yield from self._value(key, value, where)

    def _call(self, call: Json, path: str, place: int, form: str) -> Iterator[Loss]:
        """A piece of a call. Its index says which call it belongs to, and nothing once that is known."""
        if not is_object(call):
            return
        index = call.get("index")
        expected = place
        if form == "delta" and isinstance(index, int):
            expected = self._calls.setdefault(index, len(self._calls))
        if index not in (None, expected):
            yield Loss.of(f"{path}.index", index, PASSED_OVER, "minor")
        for key, value in call.items():
            if key != "index":
                yield from self._value(key, value, f"{path}.{key}")

    def _value(
        self, key: str, value: Json, path: str, why: str = PASSED_OVER, severity: Severity = "lost"
    ) -> Iterator[Loss]:
        """Every leaf of a value that the message does not have."""
        if is_object(value) and value:
            for name, item in value.items():
                yield from self._value(name, item, f"{path}.{name}", why, severity)
        elif is_array(value) and value:
            for index, item in enumerate(value):
                yield from self._value(key, item, f"{path}[{index}]", why, severity)
        elif not self._is_known(key, value):
            known = (path.rpartition(".")[2], str(value))
            if known not in self._told:
                self._told.add(known)
                yield Loss.of(path, value, why, severity)

    def _is_known(self, key: str, value: Json) -> bool:
        if is_empty(value):
            return True
        if isinstance(value, str):
            return key in SPOKEN or value in self._words or value in IMPLIED.get(key, ())
        return (key, value) in self._pairs
