"""What the model says: the pieces of an answer, one message.

An answer is several records with one `message.id`, and results, hooks and progress stand between them. The
output tokens of early records may be partial: the record with the most counts, the later one on a tie.
"""

from collections.abc import Sequence
from itertools import islice
from typing import Final

from msgspec import UNSET, UnsetType

from partita.formats.claude_code.blocks import block_chunks
from partita.formats.log.sink import Consumption
from partita.types.chunks import (
    Chunk,
    DataChunk,
    MessageMetadata,
    StepStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolInputAvailable,
)
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    SystemContent,
    SystemMessage,
)
from partita.types.parts import DataPart, TextPart
from partita.types.usage import Usage

from .envelope import (
    AGENT,
    KNOWN,
    LINE,
    RECORD,
    STRING,
    difference,
    keep_content,
    restored,
)
from .outcomes import Outcomes
from .side import RESPONSES, Response
from .users import first_text

SYNTHETIC: Final = "<synthetic>"
NOTHING_ASKED: Final = "No response requested."
STARTERS: Final = ("Task", "Agent")
"""The tool that starts sub-agents, by its old name and its new one."""

_STEP: Final = StepStart()
_KNOWN: Final = KNOWN["assistant"]
_WORDS: Final = {"text": "text", "thinking": "thinking", "redacted_thinking": "data"}
"""Blocks that are words, and where these stand."""


class Answers(Outcomes):
    """The pieces of answers, told."""

    def assistant(self, record: JsonObject) -> None:
        """One piece of an answer."""
        message = record.get("message")
        if not is_object(message):
            self._keep("an answer without a message", record)
            return
        uuid, request, id_ = record.get("uuid"), record.get("requestId"), message.get("id")
        key = f"{id_}:{request}" if request else str(id_ or uuid)
        response = self._responses.get(key)
        if response is not None and uuid in response.lines:
            self._note("claude-code-again", record)
            return
        if not record.keys() <= _KNOWN:
            self._puzzle_over(record, "assistant")
        envelope: JsonObject | None = None
        if response is None:
            if message.get("model") == SYNTHETIC:
                self._synthetic(record, message)
                return
            content = message.pop("content", UNSET)
            response = self._begin(record, message, key)
            self._told(response, message)
        else:
            content = message.pop("content", UNSET)
            if self._branches is not None and type(uuid) is str:
                self._branches.more(uuid, record.get("parentUuid"), response.id)
            envelope = difference(response.base, record)
            if "message" in envelope:
                self._told(response, message)
        if type(uuid) is str:
            response.lines.add(uuid)
        self._blocks(response, content, envelope)

    def _told(self, response: Response, message: JsonObject) -> None:
        """What a record says of the whole answer: its usage, and why it ended."""
        usage = message.get("usage")
        if is_object(usage):
            self._consume(response, message.get("model"), usage)
        stop = message.get("stop_reason")
        if stop is not None and stop != response.stop:
            response.stop = stop
            if response.blocks:
                self._sink.append(response.id, MessageMetadata({"stopReason": stop}))

    def _begin(self, record: JsonObject, message: JsonObject, key: str) -> Response:
        sink, uuid = self._sink, record.get("uuid")
        id_ = str(message.get("id") or uuid or f"line-{sink.place.offset}")
        if id_ in self._by_message:
            id_ = f"{id_}/{record.get('requestId') or uuid}"
        if self._is_taken(id_):
            id_ = f"{id_}/{sink.place.offset}"
        response = self._responses[key] = self._by_message[id_] = Response(id_, key, record, sink.run_id)
        if len(self._responses) > 2 * RESPONSES:
            self._forget()
        parent = None
        if self._branches is not None and type(uuid) is str:
            parent = self._branches.answer(uuid, record.get("parentUuid"), id_)
        metadata: JsonObject = {"model": message.get("model"), AGENT: record}
        stop = message.get("stop_reason")
        if stop is not None:
            metadata["stopReason"] = stop
        sink.open(
            AssistantMessage(
                id=id_,
                thread_id=sink.thread_id,
                type="text",
                run_id=sink.run_id,
                parent_id=sink.tail or "" if parent is None else parent,
                created_at=sink.time,
                content=AssistantContent(parts=(), metadata=metadata, format=2),
            )
        )
        sink.append(id_, _STEP)
        self.answered = True
        return response

    def _forget(self) -> None:
        """Keep the newer half of the answers at hand."""
        self._responses = dict(islice(self._responses.items(), RESPONSES, None))
        self._by_message = {response.id: response for response in self._responses.values()}

    def _blocks(
        self, response: Response, content: Json | UnsetType, envelope: JsonObject | None = None
    ) -> None:
        """Tell the blocks of a record; with the first one its envelope, unless it is the first record."""
        told = content
        metadata: JsonObject | None = None if envelope is None else {AGENT: envelope}
        if type(content) is str:
            (response.base if envelope is None else envelope)[STRING] = True
            told = [{"type": "text", "text": content}]
        elif not is_array(content) or not self._is_plain(response, content):
            keep_content(response.base if envelope is None else envelope, content)
            if envelope is not None:
                self._sink.append(response.id, DataChunk(f"data-{RECORD}", envelope))
                metadata = None
        if not is_array(told):
            if told is not None and told is not UNSET:
                self._sink.report_unknown("the content of an answer is neither text nor blocks")
                self._sink.append(response.id, DataChunk("data-claude-code-content", told))
            return
        number = response.blocks
        for block in told:
            if not self._sink.append(response.id, *self._chunks(response, block, str(number), metadata)):
                self._keep_late(response, content, envelope or {})
                break
            number += 1
            metadata = None  # of one record, it is told with its first block
            if self._early and is_object(block) and block.get("id") in self._early:
                early = self._early.pop(block["id"])
                with self._sink.as_of(early[0][LINE]):
                    self._result(*early)
        response.blocks = number

    def _keep_late(self, response: Response, content: Json, envelope: JsonObject) -> None:
        """Keep a record of an answer that is long past."""
        record = restored(response.base, envelope)
        self._note("claude-code-late", record | {"message": record["message"] | {"content": content}})

    def _is_known(self, response: Response, call: str) -> bool:
        """Whether a call was reported before. Some models use an id again for another call: in a later turn,
        or in a later answer once the call before it has its result.
        """
        held = self._sink.call_message(call)
        if held is None or held == response.id:
            return held is not None
        other = self._by_message.get(held)
        return other is not None and other.run_id == self._sink.run_id and self._sink.is_waiting(call)

    def _is_plain(self, response: Response, content: list[Json]) -> bool:
        """Whether the parts that come of blocks say all that the blocks say."""
        calls: set[str] = set()
        for block in content:
            if not is_object(block):
                return False
            kind = block.get("type")
            if kind == "tool_use":
                call = block.get("id")
                if type(call) is not str or type(block.get("name")) is not str or "input" not in block:
                    return False
                if call in calls or self._is_known(response, call):
                    return False
                calls.add(call)
            elif type(kind) is not str or kind not in _WORDS or type(block.get(_WORDS[kind])) is not str:
                return False
        return bool(content)

    def _chunks(
        self, response: Response, block: Json, id: str, metadata: JsonObject | None
    ) -> Sequence[Chunk]:
        """A content block as chunks, its record's envelope with the first."""
        if not is_object(block):
            self._sink.report_unknown("a content block that is no object")
            return (DataChunk("data-claude-code-block", block),)
        kind = block.get("type")
        if kind == "tool_use":
            return self._call(response, block, metadata)
        if kind == "text" and len(block) == 2:
            text = block.get("text")
            if type(text) is str:
                return (TextStart(id, metadata), TextDelta(id, text), TextEnd(id))
        chunks = block_chunks(block, id, metadata)
        if chunks is None:
            self._sink.report_unknown(f"unknown content block {kind!r:.60}")
            return (DataChunk("data-claude-code-block", block),)
        return chunks

    def _call(self, response: Response, block: JsonObject, metadata: JsonObject | None) -> Sequence[Chunk]:
        call, name, input_ = block.get("id"), block.get("name"), block.get("input")
        if not isinstance(call, str) or not isinstance(name, str):
            self._sink.report_unknown("a call without an id or a name")
            return (DataChunk("data-claude-code-block", block),)
        if self._is_known(response, call):
            return ()
        if len(block) > 4 or "input" not in block:
            rest = {key: block[key] for key in block if key not in ("type", "id", "name", "input")}
            metadata = {"anthropic": rest} if metadata is None else {"anthropic": rest, **metadata}
        if name in STARTERS and is_object(input_) and isinstance(input_.get("prompt"), str):
            self._tasks[call] = input_["prompt"].strip()
            if len(self._tasks) > RESPONSES:
                del self._tasks[next(iter(self._tasks))]
        return (ToolInputAvailable(call, name, input_, provider_metadata=metadata),)

    def _consume(self, response: Response, model: Json, usage: JsonObject) -> None:
        """The usage of an answer: that of the record with the most output, the later one on a tie."""
        output, fresh, cached, written = _counts(usage)
        if output < response.most:
            return
        response.most = output
        total_input = fresh + cached + written
        details = usage.get("output_tokens_details")
        thought = details.get("thinking_tokens") if is_object(details) else None
        self._sink.consume(
            Consumption(
                response.key,
                response.id,
                model if isinstance(model, str) else None,
                Usage(
                    input_tokens=total_input,
                    output_tokens=output,
                    total_tokens=total_input + output,
                    reasoning_tokens=thought if isinstance(thought, int) else None,
                    cached_input_tokens=cached,
                    cache_write_tokens=written,
                    raw=usage,
                ),
                self._sink.time,
                "anthropic",
                run_id=self._sink.run_id,
            )
        )

    def _synthetic(self, record: JsonObject, message: JsonObject) -> None:
        """Words that no model wrote: an error of the API, or what is left of an answer that was cut off."""
        uuid = record.get("uuid")
        taken = type(uuid) is str and self._is_taken(uuid)
        if self._is_again(record, uuid):
            return
        content = message.get("content", UNSET)
        text = first_text(content)
        id_ = self._own_id(uuid, taken=taken)
        if self._branches is not None:
            self._branches.other(id_, record.get("parentUuid"))
        if record.get("isApiErrorMessage"):
            data = {"error": record.get("error"), "status": record.get("apiErrorStatus")}
            parts = (DataPart("api-error", data), TextPart(text))
            self._sink.add_message(
                SystemMessage(
                    id=id_,
                    type="event",
                    created_at=self._sink.time,
                    content=SystemContent(parts=parts, metadata={AGENT: record}),
                )
            )
            self._sink.end_turn("failed", text)
            return
        message.pop("content", None)
        metadata: JsonObject = {"model": SYNTHETIC, AGENT: record}
        asked = text != NOTHING_ASKED
        if asked:
            metadata["aborted"] = True
        self._sink.open(
            AssistantMessage(
                id=id_,
                internal=not asked,
                created_at=self._sink.time,
                content=AssistantContent(parts=(), metadata=metadata),
            )
        )
        self._blocks(Response(id_, id_, record), content, None)
        self._sink.close(id_)


def _counts(usage: JsonObject) -> tuple[int, ...]:
    """How many tokens were written, read, read from a cache and put into one."""
    counts = [usage.get(name) for name in _COUNTS]
    return tuple([count if type(count) is int else 0 for count in counts])


_COUNTS: Final = (
    "output_tokens",
    "input_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
)
