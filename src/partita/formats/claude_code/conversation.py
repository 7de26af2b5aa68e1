"""The records of one agent: the conversation of a session file, or of a sub-agent in it.

A response of the model is several records with one `message.id`; results, hooks and progress may be between
them. In several versions the output tokens of early records are partial (anthropics/claude-code#22671): the
record with the most output tokens is used, the later one if two are equal.
"""

from collections.abc import Sequence
from itertools import islice
from typing import Final, TypeAlias

from msgspec import UNSET, UnsetType

from partita.formats.log.sink import Consumption, LogSink
from partita.formats.losses import NO_CALL
from partita.types import chunks as c
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    SystemContent,
    SystemMessage,
    UserContent,
    UserMessage,
    UserPart,
)
from partita.types.parts import DataPart, TextPart

from .blocks import block_chunks, sources_of
from .branches import Branches
from .envelope import (
    ADDED_NAMES,
    KIND,
    LINE,
    RECORD,
    SPLIT,
    STRING,
    WHOLE,
    WITH,
    difference,
    keep_content,
    restored,
)
from .tool_results import output_chunk
from .user_content import (
    CONVERSATION,
    HIDDEN,
    TAGGED,
    Kind,
    first_text,
    kind_of_user,
    opening_of,
    parts_of_kind,
    split_of,
)
from .wire import AGENT_TOOLS, CLAUDE_CODE, KNOWN, NO_RESPONSE, SYNTHETIC, read_usage

MAX_RESPONSES = 512
"""How many responses are remembered for late records."""


_EarlyResult: TypeAlias = tuple[JsonObject, JsonObject, Json | UnsetType]
_STEP: Final = c.StepStart()
_KNOWN: Final = {kind: names | ADDED_NAMES for kind, names in KNOWN.items()}
_KNOWN_ASSISTANT: Final = _KNOWN["assistant"]
_KNOWN_USER: Final = _KNOWN["user"]
_SHARED_MEMBERS: Final = ("type", "uuid", LINE)
"""Members that all results in one record share."""

_TEXTS: Final = {"text": "text", "thinking": "thinking", "redacted_thinking": "data"}
"""Blocks of text, and the member with the text."""


class Response:
    """A response of the model, with what was read of it so far."""

    __slots__ = ("base", "blocks", "id", "key", "lines", "max_output", "run_id", "stop")

    def __init__(self, id: str, key: str, base: JsonObject, run_id: str | None = None) -> None:
        self.id = id
        self.key = key
        self.base = base
        self.run_id = run_id
        self.blocks = 0
        self.lines: set[str] = set()
        self.max_output = -1
        self.stop: Json = None


class Conversation:
    """Reads the records of one agent into a sink."""

    def __init__(self, sink: LogSink, branches: Branches | None = None) -> None:
        """`branches`: those of the conversation; `None` for a sub-agent."""
        self._sink = sink
        self._branches = branches
        self._responses: dict[str, Response] = {}
        self._by_message: dict[str, Response] = {}
        self._read_uuids: dict[str, None] = {}  # uuids of lines that are messages
        self._early_results: dict[str, _EarlyResult] = {}  # results before their calls
        self._has_prompt = False  # since the turn began
        self._has_response = False
        self._command: str | None = None  # the last one, until something follows it

    def finish(self) -> None:
        """Keep the results whose calls were not found."""
        for call in list(self._early_results):
            self._give_up(call)

    # Unknown and repeated records

    def _report_members(self, record: JsonObject, kind: str) -> None:
        for name in sorted(record.keys() - _KNOWN[kind]):
            self._sink.report_unknown(f"unknown field {name!r:.60} of {kind}")

    def _line_id(self, uuid: Json, *, taken: bool) -> str:
        """Return the id of a message of one line. `taken`: a line of another kind has its uuid."""
        if not isinstance(uuid, str):
            return f"line-{self._sink.position.offset}"
        return f"{uuid}/{self._sink.position.offset}" if taken else uuid

    def _is_taken(self, id: str) -> bool:
        """Whether a line of another kind has that uuid."""
        known = self._branches is not None and self._branches.has_recent(id)
        return known or id in self._read_uuids or id in self._by_message

    def _is_repeated(self, record: JsonObject, uuid: Json) -> bool:
        """Whether a line was read before. It is kept as a note."""
        if type(uuid) is not str:
            return False
        if uuid in self._read_uuids:
            self._note("claude-code-again", record)
            return True
        self._read_uuids[uuid] = None
        if len(self._read_uuids) > MAX_RESPONSES * 8:
            self._read_uuids = dict.fromkeys(islice(self._read_uuids, MAX_RESPONSES * 4, None))
        return False

    def _note(self, name: str, record: JsonObject) -> None:
        """Keep a record, under the number of its line."""
        self._sink.add_record(name, record, str(record.pop(LINE, self._sink.line)))

    def _keep_unknown(self, what: str, record: JsonObject) -> None:
        self._sink.report_unknown(what)
        self._note("claude-code-unknown", record)

    # User records

    def read_user(self, record: JsonObject) -> None:
        """Read a user record: results of calls, or text."""
        message = record.get("message")
        if not is_object(message):
            self._keep_unknown("a user record without a message", record)
            return
        if not record.keys() <= _KNOWN_USER:
            self._report_members(record, "user")
        uuid, content = record.get("uuid"), message.get("content")
        taken = type(uuid) is str and self._is_taken(uuid)
        if self._is_repeated(record, uuid):
            return
        if is_array(content) and any(
            type(one) is dict and one.get("type") == "tool_result" for one in content
        ):
            if self._branches is not None and type(uuid) is str:
                self._branches.add_line(uuid, record.get("parentUuid"))
            del message["content"]
            content = self._results(record, content)
            if not content:
                return
        self._add_text(record, message, content, taken=taken)

    def _add_text(self, record: JsonObject, message: JsonObject, content: Json, *, taken: bool) -> None:
        """Add text as a message. `taken`: a line of another kind has the same uuid."""
        text = first_text(content)
        kind = kind_of_user(record, text)
        id_ = self._line_id(record.get("uuid"), taken=taken)
        parts = parts_of_kind(kind, content, text)
        if kind in TAGGED:
            record["message"] = message | {"content": content}
        else:
            if isinstance(content, str):
                record[STRING] = True
            elif not is_array(content):
                keep_content(record, message.get("content", UNSET))
            elif (split := split_of(content, parts)) is not None:
                record[SPLIT] = split
            message.pop("content", None)
        if kind == "prompt":
            self._command = None
        else:
            record[KIND] = kind
            self._open(kind, text)
        is_prompt = kind in CONVERSATION
        parent = self._parent(record, is_prompt, id_, parts)
        is_warm_up = is_prompt and text == "Warmup" and bool(record.get("isSidechain"))  # seen in recordings
        self._sink.add_message(
            UserMessage(
                id=id_,
                thread_id=self._sink.thread_id,
                run_id=self._sink.run_id,
                parent_id=self._sink.tail or "" if parent is None else parent,
                type="text" if is_prompt else "event",
                internal=kind in HIDDEN or is_warm_up,
                created_at=self._sink.time,
                content=UserContent(parts=tuple(parts), metadata={CLAUDE_CODE: record}),
            )
        )
        if kind == "interruption":
            self._sink.end_turn("interrupted", text)

    def _open(self, kind: Kind, text: str) -> None:
        """Set what a session can be named after. A command that gets a response is like a prompt."""
        opening = opening_of(kind, text)
        if opening is None:
            return
        if kind == "command":
            self._command = opening
        self._sink.set_fact("command" if kind == "command" else "opening", opening)

    def _parent(self, record: JsonObject, is_prompt: bool, id: str, parts: Sequence[UserPart]) -> str | None:
        """Return the parent of a text. A prompt begins a turn, and so does a command after a response."""
        if self._branches is None:
            return None
        if is_prompt or record.get(KIND) == "command":
            if self._has_prompt and (is_prompt or self._has_response):
                self._sink.start_turn()
                self._has_response = False
            self._has_prompt = True
        if not is_prompt:
            self._branches.add_line(id, record.get("parentUuid"))
            return None
        text = next((part.text for part in parts if isinstance(part, TextPart) and part.text.strip()), "")
        if text:
            self._sink.set_fact("prompt", text)
        return self._branches.add_prompt(id, record.get("parentUuid", UNSET), id)

    # Results of tools

    def _results(self, record: JsonObject, content: list[Json]) -> list[Json]:
        """Add results to their calls; return the other blocks."""
        structured = record.pop("toolUseResult", UNSET)
        if len(content) == 1 and is_object(content[0]):
            self._result(record, content[0], structured)
            return []
        envelope = record
        others: list[Json] = []
        positions: list[int] = []
        for number, block in enumerate(content):
            if not is_object(block) or block.get("type") != "tool_result":
                others.append(block)
                positions.append(number)
                continue
            self._result({**envelope, WITH: [number]}, block, structured)
            envelope, structured = {name: record[name] for name in _SHARED_MEMBERS if name in record}, UNSET
        record[WITH] = positions
        return others

    def _result(self, record: JsonObject, block: JsonObject, structured: Json | UnsetType) -> None:
        call = block.get("tool_use_id")
        id_ = self._sink.call_message(call) if type(call) is str else None
        if id_ is None or type(call) is not str:
            self._give_up(str(call))
            self._early_results[str(call)] = (record, block, structured)
            if len(self._early_results) > MAX_RESPONSES:
                self._give_up(next(iter(self._early_results)))
            return
        if not self._sink.is_pending(call):
            self._sink.report_unknown("a result of an old call, or of a call that has one", detail=call)
            self._note("claude-code-again", _result_record(record, block, structured))
            return
        kind = record.get("toolDenialKind")
        response = self._by_message.get(id_)
        envelope = record | {WHOLE: True} if response is None else difference(response.base, record)
        denied = kind if type(kind) is str else None
        metadata: JsonObject = {CLAUDE_CODE: envelope}
        self._sink.append(id_, output_chunk(block, structured, denied=denied, provider_metadata=metadata))
        if is_object(structured):
            self._add_links(id_, call, structured)
        prompt = self._sink.expected_agent_key(call)
        if prompt is not None and (agent := self._sink.find_agent(prompt)) is not None:
            self._sink.link_agent(agent, call)

    def _give_up(self, call: str) -> None:
        if call in self._early_results:
            self._sink.report_unknown(NO_CALL, detail=call)
            early_result = self._early_results.pop(call)
            with self._sink.from_lines(early_result[0][LINE]):
                self._note("claude-code-result", _result_record(*early_result))

    def _add_links(self, message_id: str, call: str, structured: JsonObject) -> None:
        """Add the other content of a structured result: its sub-agent, or the pages that it found."""
        agent = structured.get("agentId")
        if isinstance(agent, str):
            self._sink.link_agent(agent, call)
        results = structured.get("results")
        if is_array(results) and "query" in structured:  # WebSearch
            contents = [one["content"] for one in results if is_object(one) and is_array(one.get("content"))]
            pages = [page for content in contents for page in content if _is_page(page)]
            self._sink.append(message_id, *sources_of(pages, f"{call}:"))
        elif isinstance(structured.get("url"), str) and "codeText" in structured:  # WebFetch
            self._sink.append(message_id, c.SourceUrlChunk(f"{call}:0", structured["url"]))

    # Responses

    def read_assistant(self, record: JsonObject) -> None:
        """Read a record of a response."""
        message = record.get("message")
        if not is_object(message):
            self._keep_unknown("a response without a message", record)
            return
        uuid, request, id_ = record.get("uuid"), record.get("requestId"), message.get("id")
        key = f"{id_}:{request}" if request else str(id_ or uuid)
        response = self._responses.get(key)
        if response is not None and uuid in response.lines:
            self._note("claude-code-again", record)
            return
        if not record.keys() <= _KNOWN_ASSISTANT:
            self._report_members(record, "assistant")
        envelope: JsonObject | None = None
        if response is None:
            if message.get("model") == SYNTHETIC:
                self._synthetic(record, message)
                return
            content = message.pop("content", UNSET)
            response = self._begin(record, message, key)
            self._update_response(response, message)
        else:
            content = message.pop("content", UNSET)
            if self._branches is not None and type(uuid) is str:
                self._branches.continue_response(uuid, record.get("parentUuid"), response.id)
            envelope = difference(response.base, record)
            if "message" in envelope:
                self._update_response(response, message)
        if type(uuid) is str:
            response.lines.add(uuid)
        self._add_blocks(response, content, envelope)

    def _begin(self, record: JsonObject, message: JsonObject, key: str) -> Response:
        sink, uuid = self._sink, record.get("uuid")
        id_ = str(message.get("id") or uuid or f"line-{sink.position.offset}")
        if id_ in self._by_message:
            id_ = f"{id_}/{record.get('requestId') or uuid}"
        if self._is_taken(id_):
            id_ = f"{id_}/{sink.position.offset}"
        response = self._responses[key] = self._by_message[id_] = Response(id_, key, record, sink.run_id)
        if len(self._responses) > 2 * MAX_RESPONSES:
            self._responses = dict(islice(self._responses.items(), MAX_RESPONSES, None))
            self._by_message = {response.id: response for response in self._responses.values()}
        parent = None
        if self._branches is not None and type(uuid) is str:
            parent = self._branches.add_response(uuid, record.get("parentUuid"), id_)
        metadata: JsonObject = {"model": message.get("model"), CLAUDE_CODE: record}
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
        self._has_response = True
        if self._command is not None:
            sink.set_fact("opening", self._command)
            self._command = None
        return response

    def _update_response(self, response: Response, message: JsonObject) -> None:
        """Update the usage and the stop reason of a response."""
        usage = message.get("usage")
        if is_object(usage):
            self._add_consumption(response, message.get("model"), usage)
        stop = message.get("stop_reason")
        if stop is not None and stop != response.stop:
            response.stop = stop
            if response.blocks:
                self._sink.append(response.id, c.MessageMetadata({"stopReason": stop}))

    def _add_consumption(self, response: Response, model: Json, raw: JsonObject) -> None:
        """Use the usage of a record if it has the most output tokens so far."""
        usage = read_usage(raw)
        output = usage.output_tokens or 0
        if output < response.max_output:
            return
        response.max_output = output
        self._sink.add_consumption(
            Consumption(
                response.key,
                response.id,
                model if isinstance(model, str) else None,
                usage,
                self._sink.time,
                "anthropic",
                run_id=self._sink.run_id,
            )
        )

    def _synthetic(self, record: JsonObject, message: JsonObject) -> None:
        """Read a record that no model wrote: an error of the API, or the text of an aborted response."""
        uuid = record.get("uuid")
        taken = type(uuid) is str and self._is_taken(uuid)
        if self._is_repeated(record, uuid):
            return
        content = message.get("content", UNSET)
        text = first_text(content)
        id_ = self._line_id(uuid, taken=taken)
        if self._branches is not None:
            self._branches.add_line(id_, record.get("parentUuid"))
        if record.get("isApiErrorMessage"):
            data = {"error": record.get("error"), "status": record.get("apiErrorStatus")}
            parts = (DataPart("api-error", data), TextPart(text))
            self._sink.add_message(
                SystemMessage(
                    id=id_,
                    type="event",
                    created_at=self._sink.time,
                    content=SystemContent(parts=parts, metadata={CLAUDE_CODE: record}),
                )
            )
            self._sink.end_turn("failed", text)
            return
        message.pop("content", None)
        metadata: JsonObject = {"model": SYNTHETIC, CLAUDE_CODE: record}
        is_aborted = text != NO_RESPONSE
        if is_aborted:
            metadata["aborted"] = True
        self._sink.open(
            AssistantMessage(
                id=id_,
                internal=not is_aborted,
                created_at=self._sink.time,
                content=AssistantContent(parts=(), metadata=metadata),
            )
        )
        self._add_blocks(Response(id_, id_, record), content, None)
        self._sink.close(id_)

    # Blocks of responses

    def _add_blocks(self, response: Response, content: Json | UnsetType, envelope: JsonObject | None) -> None:
        """Append the blocks of a record. The first block has its envelope, unless the record is the first."""
        blocks = content
        metadata: JsonObject | None = None if envelope is None else {CLAUDE_CODE: envelope}
        if type(content) is str:
            (response.base if envelope is None else envelope)[STRING] = True
            blocks = [{"type": "text", "text": content}]
        elif not is_array(content) or not self._is_complete(response, content):
            keep_content(response.base if envelope is None else envelope, content)
            if envelope is not None:
                self._sink.append(response.id, c.DataChunk(f"data-{RECORD}", envelope))
                metadata = None
        if not is_array(blocks):
            if blocks is not None and blocks is not UNSET:
                self._sink.report_unknown("the content of a response is neither text nor blocks")
                self._sink.append(response.id, c.DataChunk("data-claude-code-content", blocks))
            return
        number = response.blocks
        for block in blocks:
            if not self._sink.append(
                response.id, *self._block_chunks(response, block, str(number), metadata)
            ):
                self._keep_late(response, content, envelope or {})
                break
            number += 1
            metadata = None
            if self._early_results and is_object(block) and block.get("id") in self._early_results:
                early_result = self._early_results.pop(block["id"])
                with self._sink.from_lines(early_result[0][LINE]):
                    self._result(*early_result)
        response.blocks = number

    def _keep_late(self, response: Response, content: Json, envelope: JsonObject) -> None:
        """Keep a record of a response that is no longer remembered."""
        record = restored(response.base, envelope)
        self._note("claude-code-late", record | {"message": record["message"] | {"content": content}})

    def _is_known(self, response: Response, call: str) -> bool:
        """Whether a call was read before.

        Some models reuse the id of a call for another one (seen in recordings): in a later turn, or in a
        later response once the earlier call has its result.
        """
        known_id = self._sink.call_message(call)
        if known_id is None or known_id == response.id:
            return known_id is not None
        other = self._by_message.get(known_id)
        return other is not None and other.run_id == self._sink.run_id and self._sink.is_pending(call)

    def _is_complete(self, response: Response, content: list[Json]) -> bool:
        """Whether the parts of blocks contain everything in the blocks."""
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
            elif type(kind) is not str or kind not in _TEXTS or type(block.get(_TEXTS[kind])) is not str:
                return False
        return bool(content)

    def _block_chunks(
        self, response: Response, block: Json, id: str, metadata: JsonObject | None
    ) -> Sequence[c.Chunk]:
        """Return the chunks of a block. The first one has the envelope of its record."""
        if not is_object(block):
            self._sink.report_unknown("a content block that is not an object")
            return (c.DataChunk("data-claude-code-block", block),)
        kind = block.get("type")
        if kind == "tool_use":
            return self._call(response, block, metadata)
        chunks = block_chunks(block, id, metadata)
        if chunks is None:
            self._sink.report_unknown(f"unknown content block {kind!r:.60}")
            return (c.DataChunk("data-claude-code-block", block),)
        return chunks

    def _call(self, response: Response, block: JsonObject, metadata: JsonObject | None) -> Sequence[c.Chunk]:
        call, name, input_ = block.get("id"), block.get("name"), block.get("input")
        if not isinstance(call, str) or not isinstance(name, str):
            self._sink.report_unknown("a call without an id or a name")
            return (c.DataChunk("data-claude-code-block", block),)
        if self._is_known(response, call):
            return ()
        if len(block) > 4 or "input" not in block:
            rest = {key: block[key] for key in block if key not in ("type", "id", "name", "input")}
            metadata = {"anthropic": rest} if metadata is None else {"anthropic": rest, **metadata}
        if name in AGENT_TOOLS and is_object(input_) and isinstance(input_.get("prompt"), str):
            self._sink.expect_agent(call, input_["prompt"].strip())
        return (c.ToolInputAvailable(call, name, input_, provider_metadata=metadata),)


def _result_record(record: JsonObject, block: JsonObject, structured: Json | UnsetType) -> JsonObject:
    """Return the record of a result without a call."""
    result_record: JsonObject = {**record, "message": {**record.get("message", {}), "content": [block]}}
    if structured is not UNSET:
        result_record["toolUseResult"] = structured
    return result_record


def _is_page(value: Json) -> bool:
    return is_object(value) and isinstance(value.get("url"), str)
