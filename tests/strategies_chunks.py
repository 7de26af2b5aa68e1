"""Streams of UI message chunks as sent by servers: blocks, calls and steps, interleaved."""

from collections import deque
from collections.abc import Callable
from functools import cache
from typing import TypeAlias

from hypothesis import strategies as st

from partita.types.json import Json, JsonObject, is_array, is_object

from .strategies_fields import (
    BLOCK_IDS,
    CALL_IDS,
    DATA_NAMES,
    MEDIA_TYPES,
    MESSAGE_IDS,
    TOOL_NAMES,
    URLS,
    data_fields,
    finish_fields,
    input_texts,
    kind_fields,
    message_metadata,
    metadata_fields,
    optional_fields,
    steering_parts,
)
from .strategies_json import cuts, json_objects, json_values, texts

Track: TypeAlias = list[JsonObject]
"""Chunks in this order, with chunks of other tracks between them."""


@cache
def _integers(low: int, high: int) -> st.SearchStrategy[int]:
    return st.integers(low, high)


@cache
def _sampled(*values: str) -> st.SearchStrategy[str]:
    return st.sampled_from(values)


class Writer:
    """Writes a stream and remembers pending chunks: outputs of calls, ends of blocks."""

    def __init__(self, draw: st.DrawFn, version: int, message_id: str | None = None) -> None:
        self.draw = draw
        self.version = version
        self.message_id = message_id  # None: chosen by the reader
        self.owed: list[Track] = []  # of tool calls, which may be anywhere in the message
        self.open: list[Track] = []  # of open blocks and inputs: `reset-step` removes them
        self._spans = 0

    def stream(self, max_steps: int = 3) -> Track:
        """Return a stream, sometimes interrupted."""
        chunks = self._opening()
        for _ in range(self._number(0, max_steps)):
            chunks += self._step()
        chunks += self._interleave(self._pending_now())
        chunks += self._closing()
        if self._rarely():
            del chunks[self._number(0, len(chunks)) :]
        return with_container_metadata(chunks)

    def _chunk(self, type: str, **fields: Json) -> JsonObject:
        """Return a chunk of a type with these fields, and sometimes with optional ones."""
        return {"type": type, **fields, **self.draw(optional_fields(type))}

    def _number(self, low: int, high: int) -> int:
        return self.draw(_integers(low, high))

    def _one_of(self, *values: str) -> str:
        return self.draw(_sampled(*values))

    def _rarely(self) -> bool:
        return self._number(0, 7) == 7

    # Start, steps, finish

    def _opening(self) -> Track:
        if self._rarely():
            return []
        known = () if self.message_id is None else (self.message_id,)
        return [self._start(*known, *MESSAGE_IDS)]

    def _start(self, *ids: str) -> JsonObject:
        """Return a `start`, with or without an id; a new id starts another message."""
        chunk: JsonObject = {"type": "start", **self.draw(metadata_fields())}
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
        """Return the chunks of a step before its reset; none of them is ever finished."""
        owed = self.owed
        chunks = self._content()
        self.owed, self.open = [track for track in self.owed if track in owed], []
        return chunks[: self._number(0, len(chunks))]

    def _closing(self) -> Track:
        if self._rarely():
            return [self._chunk("abort")]
        reason = self.draw(finish_fields(self.version))
        return [{"type": "finish", **reason, **self.draw(metadata_fields())}]

    # Content of a step

    def _content(self) -> Track:
        due = self._pending_now()
        tracks = [self._track(index) for index in range(self._number(0, 4))]
        return self._interleave([*tracks, *due])

    def _pending_now(self) -> list[Track]:
        """Return some of the pending chunks; the others follow later or never."""
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
        return self._split_block(track) if self.version == 7 and self._rarely() else track

    def _split_block(self, track: Track) -> Track:
        """Return the first half of a block that continues in a later step with its own id."""
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
        return {"type": f"data-{name}", "data": self.draw(json_values()), **self.draw(data_fields())}

    def _metadata(self) -> JsonObject:
        return {"type": "message-metadata", "messageMetadata": self.draw(message_metadata())}

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
        """Return a call from its first input to its output; some chunks may be pending."""
        call = {"toolCallId": self._one_of(*CALL_IDS)}
        name = {"toolName": self._one_of(*TOOL_NAMES)}
        dynamic: JsonObject = {"dynamic": True} if self.draw(st.booleans()) else {}
        track = self._input(call, name, dynamic)
        if self._rarely():
            dynamic = {"dynamic": not dynamic}  # a tool whose name changes
        end = self._one_of("available", "available", "available", "error", "open" if track else "available")
        if end == "available":
            value = self.draw(json_objects() | json_values())
            track.append(self._chunk("tool-input-available", **call, **name, input=value, **dynamic))
        if end == "error":
            fields: JsonObject = {**name, "input": self.draw(json_values()), "errorText": self.draw(texts())}
            track.append(self._chunk("tool-input-error", **call, **fields, **dynamic))
        elif self.draw(st.booleans()):
            # Release 5 looks for a part of the output's kind; an open call has the kind of its start.
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
        """Return input in several deltas."""
        pieces = self.draw(cuts(text, max_pieces=5))
        return [self._chunk("tool-input-delta", toolCallId=call_id, inputTextDelta=piece) for piece in pieces]

    def outcome(self, call_id: str, dynamic: JsonObject) -> Track:
        """Return the result of a call with a complete input."""
        # One approval id per call: a second request replaces the first, whose response is then an error.
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
        if self.version > 5:  # newer releases ignore the kind
            dynamic = self.draw(kind_fields())
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
        """Return the first chunks of a call; the others are pending."""
        if not self._rarely():
            return track
        half = self._number(1, len(track))
        self.defer(track[half:])
        return track[:half]

    def defer(self, track: Track) -> None:
        """Deliver `track` later."""
        is_open = any(chunk["type"] == "tool-input-delta" for chunk in track)
        (self.open if is_open else self.owed).append(track)


def with_container_metadata(chunks: Track) -> Track:
    """Return the stream with a container as its first metadata: merging into a scalar is a TypeError."""
    changed: Track = []
    has_base = False
    for chunk in chunks:
        metadata = chunk.get("messageMetadata")
        if chunk.get("messageId") is not None:
            has_base = False
        if metadata is not None and not has_base:
            has_base = True
            if not is_object(metadata) and not is_array(metadata):
                metadata = {"first": metadata}
        changed.append({**chunk, "messageMetadata": metadata} if "messageMetadata" in chunk else chunk)
    return changed


@st.composite
def valid_streams(draw: st.DrawFn, version: int) -> Track:
    """Streams that are valid for the chunk schema and the reader of a release."""
    return Writer(draw, version).stream()
