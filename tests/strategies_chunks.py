"""Streams of UI message chunks as servers send them: blocks, calls and steps, interleaved."""

from collections import deque
from collections.abc import Callable, Mapping
from functools import cache
from typing import TypeAlias

from hypothesis import strategies as st

from partita.types.json import Json, JsonObject, is_array, is_object

from .strategies_json import (
    cuts,
    json_objects,
    json_texts,
    json_values,
    provider_metadata,
    texts,
    whole_json_texts,
)

Track: TypeAlias = list[JsonObject]
"""Chunks that come in this order, with chunks of other tracks between them."""

MESSAGE_IDS = ("msg-1", "msg-2", "")
BLOCK_IDS = ("t0", "0", "", "toString", "__proto__", "ключ")
CALL_IDS = ("call-1", "call-2", "call-3", "__proto__")
TOOL_NAMES = ("weather", "get-time", "search_web", "readFile")
DATA_NAMES = ("progress", "chart", "")
DATA_IDS = ("d1", "d2", "")
MEDIA_TYPES = ("text/plain", "image/png", "image/*", "application/json")
URLS = ("https://example.com/a.png", "data:text/plain;base64,aGk=", "https://example.com/b?c=d#e")
FINISH_REASONS = {
    5: ("stop", "length", "content-filter", "tool-calls", "error", "other", "unknown"),
    6: ("stop", "length", "content-filter", "tool-calls", "error", "other"),
    7: ("stop", "length", "content-filter", "tool-calls", "error", "other", "interrupted"),
}


def _maybe(fields: Mapping[str, st.SearchStrategy[Json]]) -> st.SearchStrategy[JsonObject]:
    """Often none of the fields, else some of them."""
    none: JsonObject = {}
    return st.just(none) | st.fixed_dictionaries({}, optional=dict(fields))


@cache
def citations() -> st.SearchStrategy[list[JsonObject]]:
    """References of a text block."""
    url = {"sourceType": "url", "id": "s1", "url": URLS[0]}
    document = {"sourceType": "document", "id": "s2", "mediaType": "text/plain", "title": "Notes"}
    source = st.sampled_from(({"type": "source", **url}, {"type": "source", **document}))
    place = {"startIndex": st.integers(0, 9), "endIndex": st.integers(0, 99), "citedText": texts()}
    return st.lists(st.fixed_dictionaries({"source": source}, optional=place), max_size=2)


@cache
def steering_parts() -> st.SearchStrategy[list[JsonObject]]:
    """What a user says in the middle of a run."""
    extras = {"providerMetadata": provider_metadata()}
    text = st.fixed_dictionaries({"type": st.just("text"), "text": texts()}, optional=extras)
    file = st.fixed_dictionaries(
        {"type": st.just("file"), "url": st.sampled_from(URLS), "mediaType": st.sampled_from(MEDIA_TYPES)},
        optional={**extras, "filename": texts(), "providerReference": st.just({"openai": "file-1"})},
    )
    return st.lists(text | file, max_size=2)


_METADATA = {"providerMetadata": provider_metadata()}
_FLAGS = {"providerExecuted": st.booleans()}
_TOOL = {**_METADATA, **_FLAGS, "title": texts(), "toolMetadata": json_objects(2)}

# Optional fields by chunk type, those of release 7. Older releases take a newer field for an extra one and
# let it pass, so every release is sent all of them.
OPTIONAL: dict[str, dict[str, st.SearchStrategy[Json]]] = {
    "start-step": {"extra": json_values(1)},
    "finish-step": {"extra": json_values(1)},
    "reset-step": {},
    "abort": {"reason": texts()},
    "error": {"extra": json_values(1)},
    "text-start": _METADATA,
    "text-delta": _METADATA,
    "text-end": {**_METADATA, "citations": citations()},
    "reasoning-start": _METADATA,
    "reasoning-delta": _METADATA,
    "reasoning-end": _METADATA,
    "file": {**_METADATA, "filename": texts()},
    "reasoning-file": _METADATA,
    "source-url": {**_METADATA, "title": texts()},
    "source-document": {**_METADATA, "filename": texts()},
    "custom": _METADATA,
    "steering-message": {},
    "tool-input-delta": {},
    "tool-input-start": _TOOL,
    "tool-input-available": _TOOL,
    "tool-input-error": _TOOL,
    "tool-approval-request": {
        "signature": texts(),
        "approvalDescriptor": json_values(2),
        "inputSchemaInput": json_values(2),
        "isAutomatic": st.booleans(),
        "reason": texts(),
    },
    "tool-approval-response": {**_METADATA, **_FLAGS, "reason": texts()},
    "tool-output-available": {**_METADATA, **_FLAGS, "toolMetadata": json_objects(2)},
    "tool-output-error": {**_METADATA, **_FLAGS, "toolMetadata": json_objects(2)},
    "tool-output-denied": {"extra": json_values(1)},
}


# Required fields by chunk type: for chunks on their own. In a stream the writer below chooses them.
_BLOCK = {"id": st.sampled_from(BLOCK_IDS)}
_CALL = {"toolCallId": st.sampled_from(CALL_IDS)}
_NAMED_CALL = {**_CALL, "toolName": st.sampled_from(TOOL_NAMES)}
_FILE = {"url": st.sampled_from(URLS), "mediaType": st.sampled_from(MEDIA_TYPES)}
_APPROVAL = {"approvalId": texts()}
REQUIRED: dict[str, dict[str, st.SearchStrategy[Json]]] = {
    "error": {"errorText": texts()},
    "text-start": _BLOCK,
    "text-delta": {**_BLOCK, "delta": texts()},
    "text-end": _BLOCK,
    "reasoning-start": _BLOCK,
    "reasoning-delta": {**_BLOCK, "delta": texts()},
    "reasoning-end": _BLOCK,
    "file": _FILE,
    "reasoning-file": _FILE,
    "source-url": {"sourceId": texts(), "url": st.sampled_from(URLS)},
    "source-document": {"sourceId": texts(), "title": texts(), "mediaType": st.sampled_from(MEDIA_TYPES)},
    "custom": {"kind": texts()},
    "steering-message": {"id": texts(), "parts": steering_parts()},
    "tool-input-start": _NAMED_CALL,
    "tool-input-delta": {**_CALL, "inputTextDelta": texts()},
    "tool-input-available": {**_NAMED_CALL, "input": json_values(2)},
    "tool-input-error": {**_NAMED_CALL, "input": json_values(2), "errorText": texts()},
    "tool-approval-request": {**_CALL, **_APPROVAL},
    "tool-approval-response": {**_APPROVAL, "approved": st.booleans()},
    "tool-output-available": {**_CALL, "output": json_values(2)},
    "tool-output-error": {**_CALL, "errorText": texts()},
    "tool-output-denied": _CALL,
}


@cache
def single_chunks(version: int) -> st.SearchStrategy[JsonObject]:
    """One chunk of any type there is, with optional fields more often than not; old releases refuse some."""
    finish: dict[str, st.SearchStrategy[Json]] = {
        "finishReason": st.sampled_from(FINISH_REASONS[version]),
        "messageMetadata": json_values(2),
    }
    optional = {
        **OPTIONAL,
        "start": {"messageId": texts(), "messageMetadata": json_values(2)},
        "finish": finish,
        "message-metadata": {},
        "data-progress": {"id": texts(), "transient": st.booleans()},
    }
    required: dict[str, dict[str, st.SearchStrategy[Json]]] = {
        **REQUIRED,
        "message-metadata": {"messageMetadata": json_values(2)},
        "data-progress": {"data": json_values(2)},
    }
    kinds = [
        st.fixed_dictionaries({"type": st.just(kind), **required.get(kind, {})}, optional=fields)
        for kind, fields in optional.items()
    ]
    return st.one_of(kinds)


@cache
def _optional_fields(type: str) -> st.SearchStrategy[JsonObject]:
    return _maybe(OPTIONAL[type])


@cache
def _integers(low: int, high: int) -> st.SearchStrategy[int]:
    return st.integers(low, high)


@cache
def _sampled(*values: str) -> st.SearchStrategy[str]:
    return st.sampled_from(values)


@cache
def _metadata() -> st.SearchStrategy[Json]:
    return st.one_of(json_objects(), json_objects(), json_values(2))


@cache
def _metadata_fields() -> st.SearchStrategy[JsonObject]:
    return _maybe({"messageMetadata": _metadata()})


@cache
def _finish_fields(version: int) -> st.SearchStrategy[JsonObject]:
    return _maybe({"finishReason": st.sampled_from(FINISH_REASONS[version])})


@cache
def _data_fields() -> st.SearchStrategy[JsonObject]:
    return _maybe({"id": st.sampled_from(DATA_IDS), "transient": st.booleans(), "extra": texts()})


@cache
def _kind_fields() -> st.SearchStrategy[JsonObject]:
    return _maybe({"dynamic": st.booleans()})


@cache
def input_texts() -> st.SearchStrategy[str]:
    """Texts of tool input: mostly JSON, else broken, else plain."""
    return st.one_of(whole_json_texts(), whole_json_texts(), json_texts(), texts())


class Writer:
    """Writes a stream and remembers what it still owes: outputs of calls, ends of blocks."""

    def __init__(self, draw: st.DrawFn, version: int, message_id: str | None = None) -> None:
        self.draw = draw
        self.version = version
        self.message_id = message_id  # None: the reader chose it
        self.owed: list[Track] = []  # about tool calls, found in the message wherever they are
        self.open: list[Track] = []  # about blocks and inputs still open: `reset-step` forgets them
        self._spans = 0

    def stream(self, max_steps: int = 3) -> Track:
        """A whole stream, sometimes cut off."""
        chunks = self._opening()
        for _ in range(self._number(0, max_steps)):
            chunks += self._step()
        chunks += self._interleave(self._due())
        chunks += self._closing()
        if self._rarely():
            del chunks[self._number(0, len(chunks)) :]
        return mend_metadata(chunks)

    def _chunk(self, type: str, **fields: Json) -> JsonObject:
        """A chunk of a type with these fields, and now and then some of its optional ones."""
        return {"type": type, **fields, **self.draw(_optional_fields(type))}

    def _number(self, low: int, high: int) -> int:
        return self.draw(_integers(low, high))

    def _one_of(self, *values: str) -> str:
        return self.draw(_sampled(*values))

    def _rarely(self) -> bool:
        return self._number(0, 7) == 7

    # The frame: start, steps, finish

    def _opening(self) -> Track:
        if self._rarely():
            return []
        known = () if self.message_id is None else (self.message_id,)
        return [self._start(*known, *MESSAGE_IDS)]

    def _start(self, *ids: str) -> JsonObject:
        """A `start`, with or without one of the ids; another id than before begins another message."""
        chunk: JsonObject = {"type": "start", **self.draw(_metadata_fields())}
        if ids and not self._rarely():
            chunk["messageId"] = self._one_of(*ids)
            if chunk["messageId"] != self.message_id:
                self.owed, self.open = [], []
            self.message_id = chunk["messageId"]
        return chunk

    def _step(self) -> Track:
        if self._rarely():
            return [*self._content(), self._start(*MESSAGE_IDS)]
        chunks = [self._chunk("start-step")]
        if self.version == 7 and self._rarely():
            chunks += [*self._abandoned(), self._chunk("reset-step")]
        chunks += self._content()
        if not self._rarely():
            chunks.append(self._chunk("finish-step"))
        return chunks

    def _abandoned(self) -> Track:
        """What a step held before it was reset; nothing in it will ever be finished."""
        owed = self.owed
        chunks = self._content()
        self.owed, self.open = [track for track in self.owed if track in owed], []
        return chunks[: self._number(0, len(chunks))]

    def _closing(self) -> Track:
        if self._rarely():
            return [self._chunk("abort")]
        reason = self.draw(_finish_fields(self.version))
        return [{"type": "finish", **reason, **self.draw(_metadata_fields())}]

    # What a step holds

    def _content(self) -> Track:
        due = self._due()
        tracks = [self._track(index) for index in range(self._number(0, 4))]
        return self._interleave([*tracks, *due])

    def _due(self) -> list[Track]:
        """What is delivered of all that is owed; the rest comes later or never."""
        owed, self.owed = self._some(self.owed)
        still_open, self.open = self._some(self.open)
        return owed + still_open

    def _some(self, tracks: list[Track]) -> tuple[list[Track], list[Track]]:
        late = [self._rarely() for _ in tracks]
        taken = [track for track, is_late in zip(tracks, late, strict=True) if not is_late]
        left = [track for track, is_late in zip(tracks, late, strict=True) if is_late]
        return taken, left

    def _interleave(self, tracks: list[Track]) -> Track:
        queues = [deque(track) for track in tracks if track]
        chunks: Track = []
        while queues:
            queue = queues[self._number(0, len(queues) - 1)]
            chunks.append(queue.popleft())
            queues = [queue for queue in queues if queue]
        return chunks

    def _track(self, index: int) -> Track:
        kinds: tuple[Callable[[int], Track], ...] = (self._call, self._block, self._call, self._single)
        return kinds[self._number(0, len(kinds) - 1)](index)

    def _block(self, index: int) -> Track:
        kind = self._one_of("text", "reasoning")
        block_id = self._one_of(*BLOCK_IDS) if index == 0 else f"t{index}"  # unique among those now open
        pieces = self.draw(cuts(self.draw(texts())))
        track = [self._chunk(f"{kind}-start", id=block_id)]
        track += [self._chunk(f"{kind}-delta", id=block_id, delta=piece) for piece in pieces]
        if not self._rarely():
            track.append(self._chunk(f"{kind}-end", id=block_id))
        # Only release 7 keeps a block open over `finish-step`.
        return self._spanning(track) if self.version == 7 and self._rarely() else track

    def _spanning(self, track: Track) -> Track:
        """The first half of a block that goes on in a later step, under an id of its own."""
        self._spans += 1
        track = [{**chunk, "id": f"span-{self._spans}"} for chunk in track]
        half = self._number(1, len(track))
        self.open.append(track[half:])
        return track[:half]

    def _single(self, _: int) -> Track:
        kinds = [self._data, self._data, self._metadata, self._error, self._source, self._file, self._restart]
        if self.version == 7:
            kinds.append(self._only_in_7)
        return [kinds[self._number(0, len(kinds) - 1)]()]

    def _data(self) -> JsonObject:
        name = self._one_of(*DATA_NAMES)
        return {"type": f"data-{name}", "data": self.draw(json_values()), **self.draw(_data_fields())}

    def _metadata(self) -> JsonObject:
        return {"type": "message-metadata", "messageMetadata": self.draw(_metadata())}

    def _error(self) -> JsonObject:
        return self._chunk("error", errorText=self.draw(texts()))

    def _restart(self) -> JsonObject:
        return self._start(*(() if self.message_id is None else (self.message_id,)))

    def _source(self) -> JsonObject:
        if self.draw(st.booleans()):
            return self._chunk("source-url", sourceId="s1", url=self._one_of(*URLS))
        title, media_type = self.draw(texts()), self._one_of(*MEDIA_TYPES)
        return self._chunk("source-document", sourceId="s2", title=title, mediaType=media_type)

    def _file(self) -> JsonObject:
        return self._chunk("file", url=self._one_of(*URLS), mediaType=self._one_of(*MEDIA_TYPES))

    def _only_in_7(self) -> JsonObject:
        match self._number(0, 2):
            case 0:
                return self._chunk("reasoning-file", url=self._one_of(*URLS), mediaType="image/png")
            case 1:
                return self._chunk("custom", kind=self._one_of("openai.thing", "no dot"))
            case _:
                return self._chunk("steering-message", id="user-1", parts=self.draw(steering_parts()))

    # Tool calls

    def _call(self, _: int) -> Track:
        """One call, from its first input to its output; some of it may be left for later."""
        call = {"toolCallId": self._one_of(*CALL_IDS)}
        name = {"toolName": self._one_of(*TOOL_NAMES)}
        dynamic: JsonObject = {"dynamic": True} if self.draw(st.booleans()) else {}
        track = self._input(call, name, dynamic)
        if self._rarely():
            dynamic = {"dynamic": not dynamic}  # a tool the server changed its mind about
        end = self._one_of("available", "available", "available", "error", "open" if track else "available")
        if end == "available":
            value = self.draw(json_objects() | json_values())
            track.append(self._chunk("tool-input-available", **call, **name, input=value, **dynamic))
        if end == "error":
            fields: JsonObject = {**name, "input": self.draw(json_values()), "errorText": self.draw(texts())}
            track.append(self._chunk("tool-input-error", **call, **fields, **dynamic))
        elif self.draw(st.booleans()):
            # Release 5 looks for a part of the output's kind: that of an open call is the kind it began as.
            kind = {"dynamic": bool(track[0].get("dynamic"))} if end == "open" else dynamic
            track += self.outcome(call["toolCallId"], kind)
        return self._split(track)

    def _input(self, call: JsonObject, name: JsonObject, dynamic: JsonObject) -> Track:
        if self._rarely():
            return []
        encoding = self._one_of("", "", "json", "text")
        fields: JsonObject = {**call, **name, **dynamic, **({"inputEncoding": encoding} if encoding else {})}
        deltas = self.input_deltas(call["toolCallId"], self.draw(input_texts()))
        return [self._chunk("tool-input-start", **fields), *deltas]

    def input_deltas(self, call_id: str, text: str) -> Track:
        """Input that arrives in pieces."""
        pieces = self.draw(cuts(text, max_pieces=5))
        return [self._chunk("tool-input-delta", toolCallId=call_id, inputTextDelta=piece) for piece in pieces]

    def outcome(self, call_id: str, dynamic: JsonObject) -> Track:
        """What becomes of a call whose input is known."""
        # One approval id a call: a second request replaces the first, and an answer to that one is an error.
        approval: JsonObject = {"approvalId": f"approval-{call_id}"}
        call: JsonObject = {"toolCallId": call_id}
        track: Track = []
        denied = False
        if self.version >= 6 and self.draw(st.booleans()):
            track.append(self._chunk("tool-approval-request", **approval, **call))
            denied = self.draw(st.booleans())
            if self.version == 7 and self.draw(st.booleans()):
                track.append(self._chunk("tool-approval-response", **approval, approved=not denied))
        if denied:
            return [*track, self._chunk("tool-output-denied", **call)]
        return [*track, *self._output(call, dynamic)]

    def _output(self, call: JsonObject, dynamic: JsonObject) -> Track:
        if self.version > 5:  # the newer ones do not look at the kind
            dynamic = self.draw(_kind_fields())
        track: Track = []
        for _ in range(self._number(0, 2)):
            output = self.draw(json_values())
            track.append(
                self._chunk("tool-output-available", **call, **dynamic, output=output, preliminary=True)
            )
        match self._number(0, 3):
            case 0:
                text = self.draw(texts())
                track.append(self._chunk("tool-output-error", **call, **dynamic, errorText=text))
            case 1 | 2:
                output = self.draw(json_values())
                track.append(self._chunk("tool-output-available", **call, **dynamic, output=output))
            case _:
                pass
        return track

    def _split(self, track: Track) -> Track:
        """The part of a call that comes now; the rest is owed."""
        if not self._rarely():
            return track
        half = self._number(1, len(track))
        self.owe(track[half:])
        return track[:half]

    def owe(self, track: Track) -> None:
        """Deliver `track` later."""
        is_open = any(chunk["type"] == "tool-input-delta" for chunk in track)
        (self.open if is_open else self.owed).append(track)


def mend_metadata(chunks: Track) -> Track:
    """The same stream with a container as its first metadata: merging into a scalar is a TypeError."""
    mended: Track = []
    has_base = False
    for chunk in chunks:
        metadata = chunk.get("messageMetadata")
        if chunk.get("messageId") is not None:
            has_base = False
        if metadata is not None and not has_base:
            has_base = True
            if not is_object(metadata) and not is_array(metadata):
                metadata = {"first": metadata}
        mended.append({**chunk, "messageMetadata": metadata} if "messageMetadata" in chunk else chunk)
    return mended


@st.composite
def valid_streams(draw: st.DrawFn, version: int) -> Track:
    """Streams that every part of a release accepts: its chunk schema and its reader."""
    return Writer(draw, version).stream()
