"""One line of talk: the prompts, answers and results of the conversation, or of one sub-agent.

An answer is several records with one `message.id`, and results, hooks and progress stand between them. The
output tokens of early records may be partial: the record with the most counts, the later one on a tie.
"""

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Final, TypeAlias

from msgspec import UNSET, UnsetType

from partita.formats.claude_code.blocks import block_chunks
from partita.formats.claude_code.results import output_chunk
from partita.formats.transcript import Consumption, Teller
from partita.types.chunks import (
    Chunk,
    DataChunk,
    MessageMetadata,
    SourceUrlChunk,
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
    UserContent,
    UserMessage,
    UserPart,
)
from partita.types.parts import DataPart, TextPart
from partita.types.usage import Usage

from .branches import Branches
from .envelope import (
    AGENT,
    KIND,
    KNOWN,
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
from .users import HIDDEN, TAGGED, TALK, first_text, kind_of_user, parts_of_kind, split_of

SYNTHETIC: Final = "<synthetic>"
NOTHING_ASKED: Final = "No response requested."
RESPONSES: Final = 512
"""How many answers are remembered, for records of theirs that come late."""

NO_CALL: Final = "a result without its call"
PROMPT_SHOWN: Final = 300
STARTERS: Final = ("Task", "Agent")
"""The tool that starts sub-agents, by its old name and its new one."""

_STEP: Final = StepStart()
_KNOWN_ANSWERS: Final = KNOWN["assistant"]
_KNOWN_USERS: Final = KNOWN["user"]
_SAME: Final = ("type", "uuid", LINE)
"""What tells that two results are of one record."""

_WORDS: Final = {"text": "text", "thinking": "thinking", "redacted_thinking": "data"}
"""Blocks that are words, and where these stand."""


FindAgent: TypeAlias = Callable[[str], str | None]
"""The sub-agent that got a prompt, where only its own file tells."""


def nobody(prompt: str) -> str | None:
    """No sub-agent has a file of its own."""
    return None


class Response:
    """An answer of the model, as far as its records have come."""

    __slots__ = ("base", "blocks", "id", "key", "lines", "most", "stop")

    def __init__(self, id: str, key: str, base: JsonObject) -> None:
        self.id = id
        self.key = key
        self.base = base
        self.blocks = 0
        self.lines: set[str] = set()
        self.most = -1
        self.stop: Json = None


class Talk:
    """The records of one line of talk, told."""

    def __init__(
        self, teller: Teller, branches: Branches | None = None, find_agent: FindAgent = nobody
    ) -> None:
        self._teller = teller
        self._branches = branches
        self._find_agent = find_agent
        self._responses: dict[str, Response] = {}
        self._by_message: dict[str, Response] = {}
        self._said: dict[str, None] = {}
        self._early: dict[str, tuple[JsonObject, JsonObject, Json | UnsetType]] = {}  # results before calls
        self._tasks: dict[str, str] = {}  # the prompts of calls that start sub-agents nobody has named yet
        self.asked = False  # whether there was a prompt since the turn began
        self.answered = False

    # Answers

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
        if not record.keys() <= _KNOWN_ANSWERS:
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
                self._teller.grow(response.id, MessageMetadata({"stopReason": stop}))

    def _begin(self, record: JsonObject, message: JsonObject, key: str) -> Response:
        teller, uuid = self._teller, record.get("uuid")
        id_ = str(message.get("id") or uuid or f"line-{teller.place.offset}")
        if id_ in self._by_message:
            id_ = f"{id_}/{record.get('requestId') or uuid}"
        if self._is_taken(id_):
            id_ = f"{id_}/{teller.place.offset}"
        response = self._responses[key] = self._by_message[id_] = Response(id_, key, record)
        if len(self._responses) > 2 * RESPONSES:
            self._forget()
        parent = None
        if self._branches is not None and type(uuid) is str:
            parent = self._branches.answer(uuid, record.get("parentUuid"), id_)
        metadata: JsonObject = {"model": message.get("model"), AGENT: record}
        stop = message.get("stop_reason")
        if stop is not None:
            metadata["stopReason"] = stop
        teller.open(
            AssistantMessage(
                id=id_,
                thread_id=teller.thread_id,
                type="text",
                run_id=teller.run_id,
                parent_id=teller.tail or "" if parent is None else parent,
                created_at=teller.time,
                content=AssistantContent(parts=(), metadata=metadata, format=2),
            )
        )
        teller.grow(id_, _STEP)
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
        elif not is_array(content) or not self._is_plain(content):
            keep_content(response.base if envelope is None else envelope, content)
            if envelope is not None:
                self._teller.grow(response.id, DataChunk(f"data-{RECORD}", envelope))
                metadata = None
        if not is_array(told):
            if told is not None and told is not UNSET:
                self._teller.puzzle("the content of an answer is neither text nor blocks")
                self._teller.grow(response.id, DataChunk("data-claude-code-content", told))
            return
        number = response.blocks
        for block in told:
            if not self._teller.grow(response.id, *self._chunks(block, str(number), metadata)):
                self._keep_late(response, content, envelope or {})
                break
            number += 1
            metadata = None  # of one record, it is told with its first block
            if self._early and is_object(block) and block.get("id") in self._early:
                self._result(*self._early.pop(block["id"]))
        response.blocks = number

    def _keep_late(self, response: Response, content: Json, envelope: JsonObject) -> None:
        """Keep a record of an answer that is long past."""
        record = restored(response.base, envelope)
        self._note("claude-code-late", record | {"message": record["message"] | {"content": content}})

    def _is_plain(self, content: list[Json]) -> bool:
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
                if call in calls or self._teller.call_message(call) is not None:
                    return False
                calls.add(call)
            elif type(kind) is not str or kind not in _WORDS or type(block.get(_WORDS[kind])) is not str:
                return False
        return bool(content)

    def _chunks(self, block: Json, id: str, metadata: JsonObject | None) -> Sequence[Chunk]:
        """A content block as chunks, its record's envelope with the first."""
        if not is_object(block):
            self._teller.puzzle("a content block that is no object")
            return (DataChunk("data-claude-code-block", block),)
        kind = block.get("type")
        if kind == "tool_use":
            return self._call(block, metadata)
        if kind == "text" and len(block) == 2:
            text = block.get("text")
            if type(text) is str:
                return (TextStart(id, metadata), TextDelta(id, text), TextEnd(id))
        chunks = block_chunks(block, id, metadata)
        if chunks is None:
            self._teller.puzzle(f"unknown content block {kind!r:.60}")
            return (DataChunk("data-claude-code-block", block),)
        return chunks

    def _call(self, block: JsonObject, metadata: JsonObject | None) -> Sequence[Chunk]:
        call, name, input_ = block.get("id"), block.get("name"), block.get("input")
        if not isinstance(call, str) or not isinstance(name, str):
            self._teller.puzzle("a call without an id or a name")
            return (DataChunk("data-claude-code-block", block),)
        if self._teller.call_message(call) is not None:
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
        self._teller.consume(
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
                self._teller.time,
                "anthropic",
                run_id=self._teller.run_id,
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
            self._teller.say(
                SystemMessage(
                    id=id_,
                    type="event",
                    created_at=self._teller.time,
                    content=SystemContent(parts=parts, metadata={AGENT: record}),
                )
            )
            self._teller.end_turn("failed", text)
            return
        message.pop("content", None)
        metadata: JsonObject = {"model": SYNTHETIC, AGENT: record}
        asked = text != NOTHING_ASKED
        if asked:
            metadata["aborted"] = True
        self._teller.open(
            AssistantMessage(
                id=id_,
                internal=not asked,
                created_at=self._teller.time,
                content=AssistantContent(parts=(), metadata=metadata),
            )
        )
        self._blocks(Response(id_, id_, record), content, None)
        self._teller.close(id_)

    # Prompts, results, and what else comes as the user's

    def user(self, record: JsonObject) -> None:
        """Results of calls, or words."""
        message = record.get("message")
        if not is_object(message):
            self._keep("a user record without a message", record)
            return
        if not record.keys() <= _KNOWN_USERS:
            self._puzzle_over(record, "user")
        uuid, content = record.get("uuid"), message.get("content")
        taken = type(uuid) is str and self._is_taken(uuid)
        if self._is_again(record, uuid):
            return
        if is_array(content) and any(type(it) is dict and it.get("type") == "tool_result" for it in content):
            if self._branches is not None and type(uuid) is str:
                self._branches.other(uuid, record.get("parentUuid"))
            del message["content"]
            content = self._results(record, content)
            if not content:
                return
        self._words(record, message, content, taken=taken)

    def _results(self, record: JsonObject, content: list[Json]) -> list[Json]:
        """Give results to their calls; gives the blocks that are no results."""
        structured = record.pop("toolUseResult", UNSET)
        if len(content) == 1 and is_object(content[0]):
            self._result(record, content[0], structured)
            return []
        told = record
        others: list[Json] = []
        beside: list[int] = []
        for number, block in enumerate(content):
            if not is_object(block) or block.get("type") != "tool_result":
                others.append(block)
                beside.append(number)
                continue
            self._result({**told, WITH: [number]}, block, structured)
            told, structured = {name: record[name] for name in _SAME if name in record}, UNSET
        record[WITH] = beside
        return others

    def _result(self, record: JsonObject, block: JsonObject, structured: Json | UnsetType) -> None:
        call = block.get("tool_use_id")
        id_ = self._teller.call_message(call) if type(call) is str else None
        if id_ is None or type(call) is not str:
            self._give_up(str(call))
            self._early[str(call)] = (record, block, structured)
            if len(self._early) > RESPONSES:
                self._give_up(next(iter(self._early)))
            return
        if not self._teller.is_waiting(call):
            self._teller.puzzle("a result of a call that has one, or is long past", detail=call)
            self._note("claude-code-again", _alone(record, block, structured))
            return
        kind = record.get("toolDenialKind")
        response = self._by_message.get(id_)
        envelope = record | {WHOLE: True} if response is None else difference(response.base, record)
        denied = kind if type(kind) is str else None
        metadata: JsonObject = {AGENT: envelope}
        self._teller.grow(id_, output_chunk(block, structured, denied=denied, provider_metadata=metadata))
        if is_object(structured):
            self._follow_up(id_, call, structured)
        if call in self._tasks and (agent := self._find_agent(self._tasks[call])) is not None:
            self._link(agent, call)

    def finish(self) -> None:
        """Results whose calls never came are kept as what they are."""
        for call in list(self._early):
            self._give_up(call)

    def _give_up(self, call: str) -> None:
        if call in self._early:
            self._teller.puzzle(NO_CALL, detail=call)
            self._note("claude-code-result", _alone(*self._early.pop(call)))

    def _link(self, agent: str, call: str) -> None:
        self._tasks.pop(call, None)
        self._teller.link(agent, call)

    def claim(self, prompt: str) -> str | None:
        """The first call that gave a sub-agent this prompt, if nobody knows which one that was."""
        for call, given in self._tasks.items():
            if given == prompt:
                del self._tasks[call]
                return call
        return None

    def _follow_up(self, message_id: str, call: str, structured: JsonObject) -> None:
        """What a structured result tells beside the output: the sub-agent that worked, the pages found."""
        agent = structured.get("agentId")
        if isinstance(agent, str):
            self._link(agent, call)
        results = structured.get("results")
        if is_array(results) and "query" in structured:
            found = [
                page
                for result in results
                if is_object(result) and is_array(result.get("content"))
                for page in result["content"]
                if is_object(page) and isinstance(page.get("url"), str)
            ]
            for number, page in enumerate(found):
                title = page.get("title")
                self._teller.grow(
                    message_id,
                    SourceUrlChunk(
                        f"{call}:{number}", page["url"], title if isinstance(title, str) else None
                    ),
                )
        elif isinstance(structured.get("url"), str) and "codeText" in structured:
            self._teller.grow(message_id, SourceUrlChunk(f"{call}:0", structured["url"]))

    def _words(self, record: JsonObject, message: JsonObject, content: Json, *, taken: bool) -> None:
        """Words as a message. `taken`: a line of another kind has the same uuid."""
        text = first_text(content)
        kind = kind_of_user(record, text)
        uuid = record.get("uuid")
        id_ = self._own_id(uuid, taken=taken)
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
        if kind != "prompt":
            record[KIND] = kind
        parent = self._place(record, kind in TALK, id_, parts)
        self._teller.say(
            UserMessage(
                id=id_,
                thread_id=self._teller.thread_id,
                run_id=self._teller.run_id,
                parent_id=self._teller.tail or "" if parent is None else parent,
                type="text" if kind in TALK else "event",
                internal=kind in HIDDEN
                or (kind in TALK and text == "Warmup" and bool(record.get("isSidechain"))),
                created_at=self._teller.time,
                content=UserContent(parts=tuple(parts), metadata={AGENT: record}),
            )
        )
        if kind == "interruption":
            self._teller.end_turn("interrupted", text)

    def _place(self, record: JsonObject, is_talk: bool, id: str, parts: Sequence[UserPart]) -> str | None:
        """What the words follow; a prompt begins a turn, and so does a command after an answer."""
        starts = is_talk or record.get(KIND) == "command"
        if starts and self._branches is not None:
            if self.asked and (is_talk or self.answered):
                self._teller.begin_turn()
                self.answered = False
            self.asked = True
        if self._branches is None:
            return None
        if not is_talk:
            self._branches.other(id, record.get("parentUuid"))
            return None
        words = next((part.text for part in parts if isinstance(part, TextPart) and part.text.strip()), "")
        if words:
            self._teller.learn("prompt", words[:PROMPT_SHOWN])
        return self._branches.prompt(id, record.get("parentUuid", UNSET), id)

    # What does not fit

    def _puzzle_over(self, record: JsonObject, kind: str) -> None:
        for name in sorted(record.keys() - KNOWN[kind]):
            self._teller.puzzle(f"unknown field {name!r:.60} of {kind}")

    def _own_id(self, uuid: Json, *, taken: bool) -> str:
        """The id of a message that is a line of its own. `taken`: a line of another kind has its uuid."""
        if not isinstance(uuid, str):
            return f"line-{self._teller.place.offset}"
        return f"{uuid}/{self._teller.place.offset}" if taken else uuid

    def _is_taken(self, id: str) -> bool:
        """Whether a line of another kind has that uuid."""
        known = self._branches is not None and self._branches.knows(id)
        return known or id in self._said or id in self._by_message

    def _is_again(self, record: JsonObject, uuid: Json) -> bool:
        """Whether a line was there before; it is kept beside the first, and changes nothing."""
        if type(uuid) is not str:
            return False
        if uuid in self._said:
            self._note("claude-code-again", record)
            return True
        self._said[uuid] = None
        if len(self._said) > RESPONSES * 8:
            self._said = dict.fromkeys(islice(self._said, RESPONSES * 4, None))
        return False

    def _keep(self, what: str, record: JsonObject) -> None:
        self._teller.puzzle(what)
        self._note("claude-code-unknown", record)

    def _note(self, name: str, record: JsonObject) -> None:
        """Keep a record, under the number of its line."""
        self._teller.note(name, record, str(record.pop(LINE, self._teller.line)))


def _alone(record: JsonObject, block: JsonObject, structured: Json | UnsetType) -> JsonObject:
    """The record of a result that goes with no call."""
    alone: JsonObject = {**record, "message": {**record.get("message", {}), "content": [block]}}
    if structured is not UNSET:
        alone["toolUseResult"] = structured
    return alone


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
