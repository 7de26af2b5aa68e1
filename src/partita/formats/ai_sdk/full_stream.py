"""Parts of `fullStream` of AI SDK 5, 6 or 7, as JSON objects → chunks, as `toUIMessageStream` makes them.

Unlike `toUIMessageStream`, the default keeps everything it can: sources, the text of errors and, in the
metadata of the message, usage, model and warnings of every step. With `on_error=mask_error`,
`send_sources=False` and `message_metadata=None` the result is what the SDK sends to a browser. Requests,
headers and raw events of the provider are listed in `losses`, as are parts that the version does not have.
"""

from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Final, TypeAlias

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from partita.errors import ConversionError, DecodeError, StreamError
from partita.formats.format import Format
from partita.formats.losses import NO_PLACE, REPLACED, Loss
from partita.stream.state import Version
from partita.types.chunks import Chunk, MessageFinish, MessageMetadata, MessageStart, StepFinish
from partita.types.codec import read_chunk
from partita.types.data_url import data_url
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of, same_json

from .full_stream_rules import Rule, StepMetadata, losses_in, rule_of
from .javascript import DATA, address, json_text
from .versions import VERSIONS, check_version

OnError: TypeAlias = Callable[[Json], str]
Metadata: TypeAlias = Callable[[JsonObject], Json]

MASKED = "An error occurred."
REASONING = frozenset({"reasoning-start", "reasoning-delta", "reasoning-end", "reasoning-file"})


def mask_error(error: Json) -> str:
    """Return the same text for every error, as the SDK does for browsers: errors may contain secrets."""
    return MASKED


def show_error(error: Json) -> str:
    """Return the message of an error, or the whole error as JSON if it has none."""
    if is_object(error) and isinstance(error.get("message"), str):
        return str(error["message"])
    return error if isinstance(error, str) else json_text(error)


class FullStreamDecoder:
    """Converts parts to chunks. A refused part changes nothing."""

    def __init__(
        self,
        version: Version = 7,
        *,
        tools: Mapping[str, bool] | None = None,
        message_id: str | None = None,
        message_metadata: Metadata | UnsetType | None = UNSET,
        on_error: OnError = show_error,
        send_reasoning: bool = True,
        send_sources: bool = True,
        send_start: bool = True,
        send_finish: bool = True,
    ) -> None:
        """Read the parts of a release of that version, with the options of its `toUIMessageStream`.

        `tools`: whether each of the server's tools is dynamic. Without it the parts decide, which may differ
        from the SDK for invalid calls.
        `message_metadata`: called with every part. By default the metadata has what the stream reports of its
        model calls; with `None` it has nothing.
        """
        check_version(version)
        self.losses: list[Loss] = []
        """Values that were not carried over, by their paths in the list of parts."""
        self.fed = 0
        self._version: Version = version
        self._tools = tools
        self._message_id = message_id
        self._message_metadata = (
            StepMetadata(on_error) if isinstance(message_metadata, UnsetType) else message_metadata
        )
        self._on_error = on_error
        self._off = {
            **({} if send_reasoning else dict.fromkeys(self._reasoning_parts(), "send_reasoning")),
            **({} if send_sources else {"source": "send_sources"}),
            **({} if send_start else {"start": "send_start"}),
            **({} if send_finish else {"finish": "send_finish"}),
        }
        self._is_dynamic: dict[str, bool] = {}  # by call
        self._calls: dict[str, JsonObject] = {}  # the members of calls so far
        self._invalid: set[str] = set()  # calls whose error was sent

    def _reasoning_parts(self) -> frozenset[str]:
        return frozenset({"reasoning-delta"}) if self._version == 5 else REASONING

    def feed(self, event: Json) -> list[Chunk]:
        """Return the chunks of a part."""
        try:
            chunks, losses = self._read(_checked(event))
        except (StreamError, DecodeError, ConversionError) as error:
            raise self._refusal(event, error) from None
        self.losses += losses
        self.fed += 1
        return chunks

    def finish(self) -> list[Chunk]:
        """Return the metadata of a stream that was cut before its `finish`.

        Open blocks stay open, as in the SDK.
        """
        kept = self._message_metadata.finish() if isinstance(self._message_metadata, StepMetadata) else None
        return [] if kept is None else [MessageMetadata(kept)]

    @property
    def _where(self) -> str:
        return f"$[{self.fed}]"

    def _refusal(self, event: Json, error: StreamError | DecodeError | ConversionError) -> StreamError:
        kind = event.get("type") if is_object(event) else None
        what = f"{kind} part: {error.what}" if isinstance(kind, str) else error.what
        where = self._where + error.where.removeprefix("$")
        return StreamError(what, where=where, hint=error.hint, chunk_type=str(kind or ""))

    def _read(self, part: JsonObject) -> tuple[list[Chunk], list[Loss]]:
        rule = rule_of(part, self._version)
        if rule is None:
            losses = [Loss.of(self._where, part, f"version {self._version} has no such part")]
            return self._with_metadata(part, None), losses
        option = self._off.get(part["type"])
        if option is not None:
            losses = [Loss.of(self._where, part, f"{option} is off")] if len(part) > 1 else []
            return self._with_metadata(part, None), losses
        is_silent = rule.chunk is None or self._is_sent_already(part)
        chunk = None if is_silent else self._chunk(part, rule)
        chunks, losses = self._with_metadata(part, chunk), self._losses(part, rule, chunk)
        self._remember(part, chunk)
        return chunks, losses

    def _losses(self, part: JsonObject, rule: Rule, chunk: Chunk | None) -> list[Loss]:
        left = rule.left(part, self._version)
        if isinstance(self._message_metadata, StepMetadata):
            left = [path for key in left for path in losses_in(part, key)]
        losses = [Loss.of(f"{self._where}.{path}", _at(part, path), NO_PLACE) for path in left]
        losses += self._unlike_call(part, rule, chunk)
        if chunk is None or "error" not in rule.by_hand or self._is_shown(part):
            return losses
        error = part.get("error")
        if self._on_error is mask_error:
            losses.append(Loss.of(f"{self._where}.error", error, "errors are masked"))
        elif self._on_error is show_error and is_object(error) and isinstance(error.get("message"), str):
            rest = {key: value for key, value in error.items() if key != "message"}
            losses += [Loss.of(f"{self._where}.error.{key}", value, NO_PLACE) for key, value in rest.items()]
        return losses

    def _unlike_call(self, part: JsonObject, rule: Rule, chunk: Chunk | None) -> Iterator[Loss]:
        """Yield the losses of members that repeat those of a call with another value."""
        has_kind = "dynamic" in rule.by_hand and self._tools is None and chunk is not None
        if has_kind and bool(part.get("dynamic")) != bool(getattr(chunk, "dynamic", None)):
            yield Loss.of(f"{self._where}.dynamic", part.get("dynamic"), REPLACED)
        inner: Json = part.get("toolCall")
        path = f"{self._where}.toolCall" if is_object(inner) else self._where
        repeated = {name: part[name] for name in rule.repeated if name in part}
        repeated = inner if is_object(inner) else repeated
        call = self._calls.get(str(repeated.get("toolCallId", part.get("toolCallId"))))
        for name, value in repeated.items():
            is_known = call is None or same_json(call.get(name), value)
            if name == "id":
                is_known = str(value) in self._calls
            if not is_known and value not in (None, {}, []):
                yield Loss.of(f"{path}.{name}", value, REPLACED)

    # Chunks

    def _chunk(self, part: JsonObject, rule: Rule) -> Chunk:
        wire = rule.carry(part, self._version)
        if "dynamic" in rule.by_hand:
            dynamic = self._kind_of_call(part)
            wire |= {} if dynamic is None else {"dynamic": dynamic}
        if "error" in rule.by_hand:
            wire["errorText"] = self._error_text(part)
        match part["type"]:
            case "start" if self._message_id is not None:
                wire["messageId"] = self._message_id
            case "file" | "reasoning-file":
                wire |= _file(part.get("file"))
            case "tool-result" if self._version > 5:
                wire.setdefault("output", None)
            case "tool-approval-request":
                wire["toolCallId"] = _call_of(part)
            case "steering-message":
                wire["parts"] = steering_parts(part.get("message"))
            case _:
                pass
        try:
            return read_chunk(wire)
        except DecodeError as error:
            raise StreamError(error.what, where=rule.path_in_part(error.where), hint=error.hint) from None

    def _with_metadata(self, part: JsonObject, chunk: Chunk | None) -> list[Chunk]:
        """Return the chunk with its metadata: in a start or a finish, otherwise as a chunk of its own."""
        chunks = [] if chunk is None else [chunk]
        metadata = None if self._message_metadata is None else self._message_metadata(part)
        if metadata is None:
            return chunks
        match chunk:
            case MessageStart() | MessageFinish():
                return [replace(chunk, message_metadata=metadata)]
            case StepFinish() if self._version == 7:
                return [MessageMetadata(metadata), chunk]
            case _:
                return chunks if part["type"] in ("start", "finish") else [*chunks, MessageMetadata(metadata)]

    # Calls

    def _kind_of_call(self, part: JsonObject) -> bool | None:
        """Whether the tool of a call is dynamic, as far as that is known."""
        name, dynamic = str(part.get("toolName")), part.get("dynamic")
        if self._version > 5:
            if self._tools is None or name not in self._tools:
                return None if dynamic is None else bool(dynamic)
            return self._tools[name] or None
        call = _id_of(part)
        if self._tools is None:
            return self._is_dynamic.get(call, bool(dynamic)) or None
        begins = part["type"] in ("tool-input-start", "tool-call")
        return (self._tools.get(name) if begins else self._is_dynamic.get(call)) or None

    def _error_text(self, part: JsonObject) -> str:
        error = part.get("error")
        if self._is_shown(part):
            return error if isinstance(error, str) else json_text(error)
        return self._on_error(error)

    def _is_shown(self, part: JsonObject) -> bool:
        """Whether the error is of a tool that the provider ran: the model must receive it unchanged."""
        return part["type"] == "tool-error" and self._version > 5 and bool(part.get("providerExecuted"))

    def _is_sent_already(self, part: JsonObject) -> bool:
        """Whether this is the error after an invalid call."""
        is_error = part["type"] == "tool-error" and not part.get("providerExecuted")
        return self._version == 7 and is_error and str(part.get("toolCallId")) in self._invalid

    def _remember(self, part: JsonObject, chunk: Chunk | None) -> None:
        match part["type"]:
            case "tool-input-start" | "tool-call":
                self._is_dynamic[_id_of(part)] = bool(getattr(chunk, "dynamic", None))
                self._calls[_id_of(part)] = {**self._calls.get(_id_of(part), {}), **part}
                if part.get("invalid"):
                    self._invalid.add(_id_of(part))
            case "tool-error" if not part.get("providerExecuted"):
                self._invalid.discard(_id_of(part))
            case _:
                pass


def _at(part: JsonObject, path: str) -> Json:
    key, _, inner = path.partition(".")
    value: Json = part[key]
    return value[inner] if inner else value


def _checked(event: Json) -> JsonObject:
    if not is_object(event):
        raise StreamError(f"a part is an object, found {kind_of(event)}", hint="pass parts as parsed JSON")
    if not isinstance(event.get("type"), str):
        raise StreamError("a part without a type", hint="pass the parts of `fullStream` unchanged")
    return event


def _id_of(part: JsonObject) -> str:
    return str(part["id"] if part["type"] == "tool-input-start" else part["toolCallId"])


def _call_of(part: JsonObject) -> str:
    call = part.get("toolCall")
    call_id = call.get("toolCallId") if is_object(call) else None
    if not isinstance(call_id, str):
        raise StreamError(
            "an approval request without its call", where=".toolCall", hint="add the call that needs approval"
        )
    return call_id


def _file(file: Json) -> JsonObject:
    """Return a file as a data URL. As JSON, the SDK's own object has its `base64` as `base64Data`."""
    encoded = file.get("base64", file.get("base64Data")) if is_object(file) else None
    media_type = file.get("mediaType") if is_object(file) else None
    if not isinstance(encoded, str) or not isinstance(media_type, str):
        raise StreamError(
            "a file without its content", where=".file", hint="add `base64` and `mediaType` as strings"
        )
    return {"mediaType": media_type, "url": data_url(encoded, media_type)}


# Steering messages

TAGS = ("data", "url", "reference", "text")


def steering_parts(message: Json) -> list[JsonObject]:
    """Return the parts of a steering message: texts and files."""
    content = message.get("content") if is_object(message) else None
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if not is_array(content):
        raise StreamError(
            f"content is {kind_of(content)}", where=".message", hint="make it a string or a list of parts"
        )
    return [_steering_part(part, f".message.content[{index}]") for index, part in enumerate(content)]


def _steering_part(part: Json, where: str) -> JsonObject:
    if not is_object(part) or part.get("type") not in ("text", "image", "file"):
        raise StreamError("not a part of a user message", where=where, hint="use text, image and file parts")
    options = part.get("providerOptions")
    metadata: JsonObject = {} if options is None else {"providerMetadata": options}
    if part["type"] == "text":
        return {"type": "text", "text": part.get("text"), **metadata}
    image = part["type"] == "image"
    file = _steering_file(part.get("image" if image else "data"), part.get("mediaType"), where)
    name = None if image else part.get("filename")
    return {"type": "file", **file, **({} if name is None else {"filename": name}), **metadata}


def _steering_file(data: Json, media_type: Json, where: str) -> JsonObject:
    """Return the url and the media type of a file, in any of its forms."""
    if is_object(data):
        tag = data.get("type")
        return _tagged(tag, data.get(tag), media_type, where) if tag in TAGS else _reference(data, media_type)
    if not isinstance(data, str):
        raise StreamError("a file without data", where=where, hint="use a url, base64 or ids by provider")
    try:
        return _url(data, media_type, where)
    except ConversionError:
        return _inline(data, media_type)


def _tagged(tag: Json, value: Json, media_type: Json, where: str) -> JsonObject:
    if tag == "reference":
        return _reference(value, media_type)
    if not isinstance(value, str) or (tag == "data" and value.startswith(DATA)):
        raise StreamError(f"no {tag} of a file", where=where, hint="use base64 as data, a data URL as url")
    if tag == "url":
        return _url(value, media_type, where)
    return _inline(_base64(value) if tag == "text" else value, media_type)


def _base64(text: str) -> str:
    """Return a text as base64; half of a surrogate pair is replaced, as in JavaScript."""
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return b64encode(whole.encode()).decode()


def _url(text: str, media_type: Json, where: str) -> JsonObject:
    url = address(text, where)
    if not url.startswith(DATA):
        return {"mediaType": _or_image(media_type), "url": url}
    header, comma, encoded = url.partition(",")
    if not comma:
        raise ConversionError("a data URL without data", where=where, hint="put a comma before the data")
    return _inline(encoded.partition(",")[0], header[len(DATA) :].partition(";")[0])


def _inline(encoded: str, media_type: Json) -> JsonObject:
    return {"mediaType": _or_image(media_type), "url": data_url(encoded, _or_image(media_type))}


def _reference(ids: Json, media_type: Json) -> JsonObject:
    return {"mediaType": _or_image(media_type), "url": "", "providerReference": ids}


def _or_image(media_type: Json) -> Json:
    return "image" if media_type is None else media_type


FORMATS: Final = tuple(
    Format(
        f"ai-sdk-full-stream-v{version}",
        f"AI SDK {version} fullStream parts",
        decoder=partial(FullStreamDecoder, version),
        is_complete=True,
    )
    for version in VERSIONS
)
V5, V6, V7 = FORMATS
