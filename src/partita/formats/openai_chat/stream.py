"""The stream of a response → chunks. One response is one step of a message.

Servers differ in nearly every detail, so every member may be missing, empty, or of another type. What is
unknown becomes `data-NAMESPACE-unknown`. Nothing makes the decoder fail.

Source: https://platform.openai.com/docs/api-reference/chat-streaming
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from typing import Any, Final, Literal, TypeAlias

from partita.formats.answers.outlet import INTERRUPTED, Outlet
from partita.formats.core.members import is_empty, items_in, objects_in, text_in
from partita.formats.losses import Loss, Severity
from partita.formats.reasons import DERIVED, REPLACED
from partita.types.chunks import Chunk, CustomChunk, DataChunk, FileChunk, SourceUrlChunk
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import Message
from partita.types.parts import FilePart, SourceUrlPart

from .assistant import visible_text
from .pieces import Audio, Calls, ServerTools, Texts
from .response_parts import (
    CUT,
    Sources,
    cited_in,
    error_text,
    errors_in,
    finish_reason,
    read_image,
    read_usage,
    usage_in,
)

Form: TypeAlias = Literal["delta", "message"]

DONE: Final = "[DONE]"
"""The last record of a stream, which is not JSON."""

SHOWN: Final = 100
"""How many characters of a record that is not JSON its error shows."""

RECORD: Final = frozenset(
    {"id", "model", "object", "choices", "usage", "citations", "error", "obfuscation", "p"}
)
"""Members of a record that are not metadata. `obfuscation` and `p` are padding (OpenAI, Perplexity)."""

CHOICE: Final = frozenset({"index", "delta", "message", "finish_reason", "logprobs", "text"})
"""Members of a choice that are not metadata. Together repeats the delta in `text` (seen in a recording)."""

SPEAKER: Final = frozenset({"role", "index", "reasoning_content", "reasoning", "reasoning_details"})
"""Members of a message that are not metadata, beside those in `_READERS`."""

CONTINUED: Final = frozenset({"token_ids"})
"""Lists of which each record has the next items (vLLM)."""


class Metadata:
    """What is known of a response besides its content, under the names of the server."""

    def __init__(self) -> None:
        self.known: JsonObject = {}

    def add(self, facts: JsonObject, handled: frozenset[str] = frozenset()) -> None:
        """Add members that have content. A later value replaces an earlier one; objects are merged."""
        for key, value in facts.items():
            if key in handled or is_empty(value):
                continue
            known = self.known.get(key)
            if is_object(known) and is_object(value):
                known.update(value)
            elif is_array(known) and is_array(value) and key in CONTINUED:
                known.extend(value)
            else:
                self.known[key] = copy(value)


class ChatDecoder:
    """Records in, chunks out. One decoder reads one response."""

    def __init__(self, namespace: str = "openai") -> None:
        """`namespace`: the server's name in provider metadata. Records do not name it."""
        self._outlet = Outlet(namespace)
        self._texts = Texts(self._outlet)
        self._calls = Calls(self._outlet)
        self._server_tools = ServerTools(self._outlet, self._calls)
        self._sources = Sources(namespace)
        self._audio = Audio()
        self._metadata = Metadata()
        self._annotations: list[Json] = []
        self._other_choices: list[Json] = []
        self._raw_finish: str | None = None
        self._id = ""
        self._model = ""
        self._usage: JsonObject | None = None
        self._errors: list[Json] = []

    def feed(self, event: Json) -> list[Chunk]:
        """The chunks of one record. A text is a record that is not JSON."""
        self._outlet.begin()
        if isinstance(event, str):
            if event.strip() != DONE:
                self._outlet.error(f"unparsable record: {event[:SHOWN]}")
        elif not self._read(event, "delta", "message"):
            self._emit_unknown(event)
        return self._outlet.take()

    def finish(self) -> list[Chunk]:
        """The chunks that close what is open when the stream ends."""
        self._end(is_whole=False)
        return self._outlet.take()

    def read_body(self, body: Json) -> list[Chunk]:
        """The chunks of a whole body, or of the body of an error.

        What is neither is kept, and has no end: only the HTTP status says what it means.
        """
        if not self._read(body, "message", "delta"):
            self._emit_unknown(body)
            if not is_object(body) or not _is_response(body):
                return self._outlet.take()
        self._end(is_whole=True)
        return self._outlet.take()

    def _emit_unknown(self, value: Json) -> None:
        self._outlet.emit(DataChunk(f"data-{self._outlet.namespace}-unknown", value))

    # Records

    def _read(self, record: Json, *forms: Form) -> bool:
        """Read a record, or a list of errors, as Gemini's endpoint sends it; whether all of it is known."""
        if is_array(record) and record and all(is_object(item) and "error" in item for item in record):
            known = [self._read(item, *forms) for item in record]
            return all(known)
        if not is_object(record) or not _is_response(record):
            return False
        self._id = self._id or text_in(record, "id")
        self._model = self._model or text_in(record, "model")
        self._usage = usage_in(record) or self._usage
        for page in items_in(record.get("citations")):
            self._emit_source(self._sources.mention(page))
        for error in errors_in(record):
            self._errors.append(error)
            self._outlet.error(error_text(error))
        self._metadata.add(record, RECORD)
        choices = record.get("choices")
        known = [self._read_choice(choice, number, forms) for number, choice in enumerate(items_in(choices))]
        return all(known) and (choices is None or is_array(choices))

    def _read_choice(self, choice: Json, number: int, forms: tuple[Form, ...]) -> bool:
        """Read a choice in the first of the `forms` that it has. Only the first choice is decoded."""
        if not is_object(choice):
            return False
        index = choice.get("index")
        if (index if isinstance(index, int) else number) != 0:
            self._other_choices.append(choice)
            return True
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and not self._raw_finish:  # it may be empty, and may come twice
            self._raw_finish = reason
        self._metadata.add(choice, CHOICE)
        self._read_logprobs(choice.get("logprobs"))
        for form in forms:
            message = choice.get(form)
            if message is not None:
                return is_object(message) and self._read_message(message, form)
        return True

    def _read_logprobs(self, logprobs: Json) -> None:
        if is_object(logprobs):
            self._texts.logprobs["text"].extend(items_in(logprobs.get("content")))
            self._texts.logprobs["refusal"].extend(items_in(logprobs.get("refusal")))
            self._metadata.add({"logprobs": other_logprobs(logprobs)})

    def _read_message(self, message: JsonObject, form: Form) -> bool:
        is_known = self._read_reasoning(message, form)
        for name, read in _READERS.items():
            value = message.get(name)
            is_known &= is_empty(value) or read(self, value, form)
        self._metadata.add(message, SPEAKER | _READERS.keys())
        return is_known

    def _read_reasoning(self, message: JsonObject, form: Form) -> bool:
        """Read reasoning from the first member that has some: servers repeat it in others."""
        details, reasoning = message.get("reasoning_details"), message.get("reasoning")
        self._texts.details.add(details, is_whole=form == "message")
        found = {
            "reasoning_content": text_in(message, "reasoning_content"),
            # Together sends an object (seen in a recording)
            "reasoning": text_in(reasoning, "content")
            if is_object(reasoning)
            else text_in(message, "reasoning"),
            "reasoning_details": visible_text(items_in(details)),
        }
        field = next((name for name, text in found.items() if text), "")
        if field:
            self._texts.add("reasoning", found[field])
            self._texts.field = field
        return is_empty(reasoning) or bool(found["reasoning"])

    # Members of a message or a delta; each returns whether all of it is known

    def _content(self, content: Json, form: Form) -> bool:
        """A text, or a list of items. Mistral sends both in one response (seen in a recording)."""
        if isinstance(content, str):
            self._texts.add("text", content)
            return True
        known = [self._item(item) for item in items_in(content)]
        return is_array(content) and all(known)

    def _item(self, item: Json) -> bool:
        match item:
            case str(text) | {"type": "text", "text": str(text)}:
                self._texts.add("text", text)
            case {"type": "refusal", "refusal": str(text)}:
                self._texts.add("refusal", text)
            case {"type": "thinking", "thinking": thinking}:
                self._texts.signature = text_in(item, "signature") or self._texts.signature
                for piece in [thinking] if isinstance(thinking, str) else items_in(thinking):
                    self._texts.add("reasoning", piece if isinstance(piece, str) else text_in(piece, "text"))
                self._texts.field = "thinking"
            case {"type": str(kind)}:
                namespace = self._outlet.namespace
                if not self._emit_file(read_image(item, namespace)):
                    self._outlet.emit(CustomChunk(f"{namespace}.{kind}", {namespace: item}))
            case _:
                return False
        return True

    def _refusal(self, refusal: Json, form: Form) -> bool:
        self._texts.add("refusal", refusal if isinstance(refusal, str) else "")
        return isinstance(refusal, str)

    def _tool_calls(self, calls: Json, form: Form) -> bool:
        self._texts.before_call()
        for number, call in enumerate(objects_in(calls)):
            self._calls.add(call, self._id, number if form == "message" else None)
        return is_array(calls) and all(map(is_object, calls))

    def _function_call(self, call: Json, form: Form) -> bool:
        if is_object(call):
            self._calls.add_function(call)
        return is_object(call)

    def _executed_tools(self, tools: Json, form: Form) -> bool:
        for tool in objects_in(tools):
            self._server_tools.add(tool, self._id)
        return is_array(tools) and all(map(is_object, tools))

    def _sound(self, audio: Json, form: Form) -> bool:
        if is_object(audio):
            self._audio.add(audio)
        return is_object(audio)

    def _images(self, images: Json, form: Form) -> bool:
        known = [self._emit_file(read_image(image, self._outlet.namespace)) for image in items_in(images)]
        return is_array(images) and all(known)

    def _annotation_list(self, annotations: Json, form: Form) -> bool:
        """Citations of pages become sources. Others, such as files that were read, are metadata."""
        for annotation in items_in(annotations):
            cited = cited_in(annotation)
            if cited is None:
                self._annotations.append(annotation)
            elif (found := self._sources.cite(cited)) is not None:
                self._emit_source(found[0])
                self._texts.citations.append(found[1])
        return is_array(annotations)

    def _extra_content(self, extra: Json, form: Form) -> bool:
        self._texts.extra["extra_content"] = extra
        return True

    def _emit_file(self, part: FilePart | None) -> bool:
        if part is not None:
            self._outlet.emit(FileChunk(part.url, part.media_type, part.provider_metadata))
        return part is not None

    def _emit_source(self, part: SourceUrlPart | None) -> None:
        if part is not None:
            self._outlet.emit(SourceUrlChunk(part.source_id, part.url, part.title, part.provider_metadata))

    # The end

    def _end(self, *, is_whole: bool) -> None:
        """Nothing more comes. A body is whole; a stream is if it has a finish reason."""
        if self._outlet.is_finished:
            return
        is_complete = is_whole or bool(self._raw_finish)
        self._texts.finish()
        self._server_tools.finish()
        self._metadata.add({"audio": self._audio.finish(self._outlet)})
        reason = self._reason(is_complete)
        self._calls.finish(self._id, is_complete=is_complete, is_cut=reason in CUT)
        usage = None if self._usage is None else read_usage(self._usage)
        self._outlet.finish(reason, self._raw_finish, usage, self._facts(is_complete))

    def _reason(self, is_complete: bool) -> str:
        if self._errors:
            return "error"
        if not is_complete:
            return INTERRUPTED
        has_refused = self._texts.has_refused
        return finish_reason(self._raw_finish, has_calls=bool(self._calls), has_refused=has_refused)

    def _facts(self, is_complete: bool) -> JsonObject:
        left = {"content": self._texts.logprobs["text"], "refusal": self._texts.logprobs["refusal"]}
        self._metadata.add({"logprobs": {kind: entries for kind, entries in left.items() if entries}})
        self._metadata.add({"errors": self._errors, "other_choices": self._other_choices})
        self._metadata.add({"annotations": self._annotations, **self._texts.extra})
        return response_facts(
            self._model, self._id, self._outlet.namespace, self._metadata, is_complete=is_complete
        )


def response_facts(
    model: str, id_: str, namespace: str, metadata: Metadata, *, is_complete: bool = True
) -> JsonObject:
    """The metadata of a message, besides finish reason and usage."""
    facts: JsonObject = {"model": model, "responseId": id_, namespace: metadata.known}
    found = {key: value for key, value in facts.items() if value}
    return found if is_complete else {"complete": False, **found}


def other_logprobs(logprobs: JsonObject) -> JsonObject:
    """What log probabilities have besides those of texts and refusals."""
    return {
        key: item
        for key, item in logprobs.items()
        if key not in ("content", "refusal") and not is_empty(item)
    }


def _is_response(record: JsonObject) -> bool:
    """Whether a record has a member by which a response, or an error instead of one, is recognized."""
    is_named = text_in(record, "object").startswith("chat.completion")
    return is_named or "choices" in record or usage_in(record) is not None or bool(errors_in(record))


_READERS: Final[Mapping[str, Callable[[ChatDecoder, Json, Form], bool]]] = {
    "content": ChatDecoder._content,
    "refusal": ChatDecoder._refusal,
    "tool_calls": ChatDecoder._tool_calls,
    "function_call": ChatDecoder._function_call,
    "executed_tools": ChatDecoder._executed_tools,
    "audio": ChatDecoder._sound,
    "images": ChatDecoder._images,
    "annotations": ChatDecoder._annotation_list,
    "extra_content": ChatDecoder._extra_content,
}
"""The members of a message or a delta, in the order in which they are read."""


# What a recorded stream contains and its message does not: padding, and what later records replace

PADDING: Final = "padding, so that the length of encrypted records reveals nothing"

CONSTANTS: Final[Mapping[str, frozenset[Any]]] = {
    "object": frozenset({"chat.completion", "chat.completion.chunk", "list"}),
    "role": frozenset({"assistant"}),
    "type": frozenset({"text", "function", "custom", "image_url", "refusal", "thinking", "url_citation"}),
    "finish_reason": frozenset({"stop", "tool_calls", "function_call"}),
}
"""Values that follow from the message, by the name of their member."""

IN_PIECES: Final = frozenset(
    {"content", "refusal", "reasoning_content", "reasoning", "arguments", "input", "text", "thinking"}
    | {"summary", "data", "transcript", "token", "logprob"}
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
                yield from self._value(key, value, f"{path}.{key}", severity)

    def _choice(self, choice: Json, path: str, number: int) -> Iterator[Loss]:
        if not is_object(choice):
            return
        index = choice.get("index", number)
        if isinstance(index, int) and index != 0:
            return  # kept whole among the other choices
        if index not in (0, None):
            yield Loss.of(f"{path}.index", index, REPLACED)
        form = next((form for form in ("delta", "message") if choice.get(form) is not None), None)
        for key, value in choice.items():
            where = f"{path}.{key}"
            if form is not None and key == form and is_object(value):
                yield from self._message(value, where)
            elif key == "logprobs" and is_object(value):
                yield from self._logprobs(value, where)
            elif key in ("delta", "message", "text"):
                if not is_empty(value):
                    yield Loss.of(where, value, DERIVED, "minor")
            elif key != "index":
                yield from self._value(key, value, where)

    def _logprobs(self, logprobs: JsonObject, path: str) -> Iterator[Loss]:
        for key, value in logprobs.items():
            if key in ("content", "refusal") and not is_array(value) and not is_empty(value):
                yield Loss.of(f"{path}.{key}", value, REPLACED)
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
                    yield Loss.of(where, value, REPLACED, "minor")
            elif key in ("reasoning_content", "reasoning") and isinstance(value, str):
                first = message.get("reasoning_content")
                if key == "reasoning" and isinstance(first, str) and first not in ("", value):
                    yield Loss.of(where, value, DERIVED)
            else:
                yield from self._value(key, value, where)

    def _call(self, call: Json, path: str, number: int) -> Iterator[Loss]:
        """A piece of a call. Its index only says which call it belongs to."""
        if not is_object(call):
            return
        index = call.get("index")
        expected = self._calls.setdefault(index, len(self._calls)) if isinstance(index, int) else number
        if index not in (None, expected):
            yield Loss.of(f"{path}.index", index, REPLACED, "minor")
        for key, value in call.items():
            if key != "index":
                yield from self._value(key, value, f"{path}.{key}")

    def _value(self, key: str, value: Json, path: str, severity: Severity = "lost") -> Iterator[Loss]:
        """The leaves of a value that the message does not have."""
        if is_object(value) and value:
            for name, item in value.items():
                yield from self._value(name, item, f"{path}.{name}", severity)
        elif is_array(value) and value:
            for index, item in enumerate(value):
                yield from self._value(key, item, f"{path}[{index}]", severity)
        elif not self._is_found(key, value):
            known = (path.rpartition(".")[2], str(value))
            if known not in self._reported:
                self._reported.add(known)
                yield Loss.of(path, value, REPLACED, severity)

    def _is_found(self, key: str, value: Json) -> bool:
        if is_empty(value):
            return True
        if isinstance(value, str):
            return key in IN_PIECES or value in self._texts or value in CONSTANTS.get(key, ())
        return (key, value) in self._values
