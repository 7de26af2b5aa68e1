"""The stream of a response → chunks. One response is one step of a message.

Servers differ in nearly every detail, so every member may be missing, empty, or of another type. What is
unknown becomes `data-NAMESPACE-unknown`. No record makes the decoder fail.

Source: https://platform.openai.com/docs/api-reference/chat-streaming
"""

from collections.abc import Callable, Mapping
from copy import copy
from typing import Final, Literal, TypeAlias

from msgspec import UNSET
from msgspec.structs import replace

from partita.errors import DecodeError
from partita.formats.core.decoder import INTERRUPTED, ChunkEmitter
from partita.formats.core.members import is_empty, items_in, objects_in, text_in
from partita.formats.core.tool_text import as_text
from partita.types.chunks import Chunk, CustomChunk, DataChunk, FileChunk, SourceUrlChunk
from partita.types.codec import Codec, to_json
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.parts import FilePart, SourceUrlPart
from partita.types.usage import Usage, UsageNames

from .assistant import visible_text
from .parts import Sources, cited_in, read_image
from .stream_parts import Audio, Calls, ServerTools, Texts

Form: TypeAlias = Literal["delta", "message"]

DONE: Final = "[DONE]"
"""The last record of a stream, which is not JSON."""

MAX_EXCERPT: Final = 100
"""The number of characters of a record that is not JSON in its error."""

RECORD: Final = frozenset(
    {"id", "model", "object", "choices", "usage", "citations", "error", "obfuscation", "p"}
)
"""Members of a record that are not metadata. `obfuscation` and `p` are padding (OpenAI, Perplexity)."""

CHOICE: Final = frozenset({"index", "delta", "message", "finish_reason", "logprobs", "text"})
"""Members of a choice that are not metadata. Together repeats the delta in `text` (seen in a recording)."""

IGNORED_MEMBERS: Final = frozenset({"role", "index", "reasoning_content", "reasoning", "reasoning_details"})
"""Members of a message that are ignored. `_READERS` has those that are read."""

CONTINUED: Final = frozenset({"token_ids"})
"""Lists of which each record has the next items (vLLM)."""


class Metadata:
    """The metadata of a response, under the names of the server."""

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
    """Decodes the records of one response."""

    def __init__(self, namespace: str = "openai") -> None:
        """`namespace`: the name of the server in provider metadata, which records do not contain."""
        self._emitter = ChunkEmitter(namespace)
        self._texts = Texts(self._emitter)
        self._calls = Calls(self._emitter)
        self._server_tools = ServerTools(self._emitter, self._calls)
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
        self._emitter.start()
        if isinstance(event, str):
            if event.strip() != DONE:
                self._emitter.error(f"unparsable record: {event[:MAX_EXCERPT]}")
        elif not self._read(event, "delta", "message"):
            self._emit_unknown(event)
        return self._emitter.take()

    def finish(self) -> list[Chunk]:
        """The chunks that close what is open when the stream ends."""
        self._end(is_whole=False)
        return self._emitter.take()

    def read_body(self, body: Json) -> list[Chunk]:
        """The chunks of a whole body, or of the body of an error.

        Another body is kept, and has no end: only the HTTP status shows what it means.
        """
        if not self._read(body, "message", "delta"):
            self._emit_unknown(body)
            if not is_object(body) or not _is_response(body):
                return self._emitter.take()
        self._end(is_whole=True)
        return self._emitter.take()

    def _emit_unknown(self, value: Json) -> None:
        self._emitter.emit(DataChunk(f"data-{self._emitter.namespace}-unknown", value))

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
            self._emitter.error(error_text(error))
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
        self._metadata.add(message, IGNORED_MEMBERS | _READERS.keys())
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
                namespace = self._emitter.namespace
                if not self._emit_file(read_image(item, namespace)):
                    self._emitter.emit(CustomChunk(f"{namespace}.{kind}", {namespace: item}))
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
        known = [self._emit_file(read_image(image, self._emitter.namespace)) for image in items_in(images)]
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
            self._emitter.emit(FileChunk(part.url, part.media_type, part.provider_metadata))
        return part is not None

    def _emit_source(self, part: SourceUrlPart | None) -> None:
        if part is not None:
            self._emitter.emit(SourceUrlChunk(part.source_id, part.url, part.title, part.provider_metadata))

    # The end

    def _end(self, *, is_whole: bool) -> None:
        """Nothing more comes. A body is whole; a stream is if it has a finish reason."""
        if self._emitter.is_finished:
            return
        is_complete = is_whole or bool(self._raw_finish)
        self._texts.finish()
        self._server_tools.finish()
        self._metadata.add({"audio": self._audio.finish(self._emitter)})
        reason = self._reason(is_complete)
        self._calls.finish(self._id, is_complete=is_complete, is_cut=reason in CUT)
        usage = None if self._usage is None else read_usage(self._usage)
        self._emitter.finish(reason, self._raw_finish, usage, self._facts(is_complete))

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
            self._model, self._id, self._emitter.namespace, self._metadata, is_complete=is_complete
        )


def response_facts(
    model: str, id_: str, namespace: str, metadata: Metadata, *, is_complete: bool = True
) -> JsonObject:
    """The metadata of a message, besides finish reason and usage."""
    facts: JsonObject = {"model": model, "responseId": id_, namespace: metadata.known}
    found = {key: value for key, value in facts.items() if value}
    return found if is_complete else {"complete": False, **found}


def other_logprobs(logprobs: JsonObject) -> JsonObject:
    """Log probabilities other than those of texts and refusals."""
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


# How responses end, errors and usage

# OpenAI, and servers that pass on the reasons of Anthropic and Mistral (seen in recordings)
FINISHES: Final[Mapping[str, str]] = {
    "stop": "stop",
    "eos": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_calls": "tool-calls",
    "function_call": "tool-calls",
    "tool_use": "tool-calls",
    "length": "length",
    "model_length": "length",
    "max_tokens": "length",
    "content_filter": "content-filter",
    "error": "error",
    "insufficient_system_resource": "error",
}
"""Finish reasons by those of servers; any other is `other`."""

CUT: Final = frozenset({"length", "content-filter", "error"})
"""Finish reasons after which an input that is not JSON was cut, and is not an error."""


def finish_reason(raw: str | None, *, has_calls: bool, has_refused: bool) -> str:
    """The finish reason. Both a refusal and a call that was forced by name end with `stop`."""
    reason = FINISHES.get((raw or "").lower(), "other")
    if reason == "stop" and has_refused:
        return "content-filter"
    return "tool-calls" if reason == "stop" and has_calls else reason


def errors_in(record: JsonObject) -> list[Json]:
    """The errors in a record. In a response only `error` is one; gateways send a `message` alone."""
    if record.get("object") == "error":
        return [record]
    names = ("error",) if "choices" in record else ("error", "message")
    return [record[name] for name in names if record.get(name) and (name == "error" or text_in(record, name))]


def error_text(error: Json) -> str:
    """The text of an error, or of several, whatever their shape."""
    return "; ".join(_error_text(item) for item in (error if is_array(error) else [error]))


def _error_text(error: Json) -> str:
    names = ("message", "msg", "detail", "error", "code")
    found = [text_in(error, name) for name in names] if is_object(error) else [error]
    text = next((one for one in found if isinstance(one, str) and one), None)
    try:
        return as_text(error) if text is None else text
    except DecodeError:
        return "an error that is nested too deeply to show"


# Usage: https://platform.openai.com/docs/api-reference/chat/object#chat/object-usage

USAGE: Final = UsageNames(
    input=("prompt_tokens",),
    output=("completion_tokens",),
    total=("total_tokens",),
    reasoning=("completion_tokens_details.reasoning_tokens", "reasoning_tokens"),
    cached=(
        "prompt_tokens_details.cached_tokens",
        "prompt_cache_hit_tokens",  # DeepSeek: https://api-docs.deepseek.com/guides/kv_cache
        "num_cached_tokens",  # vLLM (seen in a recording)
        "cached_tokens",  # Moonshot (seen in a recording)
    ),
    cache_write=("prompt_tokens_details.cache_write_tokens",),
)
_USAGE: Final[Codec[Usage]] = Codec(Usage)


def usage_in(record: JsonObject) -> JsonObject | None:
    """The usage in a record, if any. Groq also has it in a member of its own (seen in a recording)."""
    own: Json = record.get("x_groq")
    for found in (record.get("usage"), own.get("usage") if is_object(own) else None):
        if is_object(found) and found:
            return found
    return None


def read_usage(raw: JsonObject) -> Usage:
    """Canonical counts. Input includes cached tokens, output includes reasoning.

    xAI does not include reasoning in the output, as its total shows (seen in a recording).
    """
    usage = replace(USAGE.read(raw), raw=raw)
    given, made, total = usage.input_tokens, usage.output_tokens, usage.total_tokens
    reasoning = usage.reasoning_tokens
    if made is None or not reasoning:
        return usage
    is_unknown = given is None or total is None
    is_apart = reasoning > made if is_unknown else total == (given or 0) + made + reasoning
    return replace(usage, output_tokens=made + reasoning) if is_apart else usage


def write_usage(usage: Usage | Json) -> JsonObject | None:
    """The counts of the API: `raw` if it is from there. `None` if it is not a usage."""
    plain = to_json(usage)
    if not is_object(plain):
        return None
    raw = plain.get("raw")
    if is_object(raw) and "prompt_tokens" in raw and "completion_tokens" in raw:
        return raw
    try:
        return USAGE.write(replace(_USAGE.read(plain), raw=UNSET))
    except DecodeError:
        return USAGE.write(Usage())
