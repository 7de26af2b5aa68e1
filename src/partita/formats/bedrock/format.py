"""Requests of Amazon Bedrock Converse ↔ canonical messages.

A message is `message-N`, where N is the number of its first message in the request. Cache points are notes on
the part before them, as in the AI SDK.

Wire: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeVar

from msgspec import UNSET
from msgspec.structs import replace

from partita.errors import ConversionError
from partita.formats.core.metadata import message_notes, notes
from partita.formats.core.report import Place, Record, Report
from partita.formats.core.residue import residue
from partita.formats.core.role_messages import INDEX, JOINED, RoleReader, RoleWriter
from partita.formats.core.rules import TRAILING, Rules, arrange
from partita.formats.core.tools import Tools
from partita.formats.core.turns import Instructions, Placed, Prompt, Results, Step, Turn, join, split
from partita.formats.core.wire import Wire, read_wire, to_json
from partita.formats.format import Dumped, Format, Loaded, Request, ToolSpec
from partita.formats.losses import Loss
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of
from partita.types.messages import (
    Message,
    SystemContent,
    SystemMessage,
    ToolCallPart,
    UserContent,
    UserMessage,
)
from partita.types.parts import ReasoningPart, TextPart
from partita.types.tools import ToolResultPart

from . import wire
from .blocks import CACHE, Role, has_kind, is_written, read_blocks, write_blocks
from .parts import EMPTY, FIELDS, FILES, TOOL_NAME
from .response import RESPONSES
from .stream import EVENTS, BedrockDecoder, error_text
from .wire import FORMAT_NAME, NAME

HINT: Final = "give a request, its messages, a response, or the events of a stream"
SYSTEM: Final = "system"
"""The id of the instructions before the conversation, and their place."""

IN_MESSAGES: Final = "inMessages"
"""The note of instructions that were a message among the others."""

RULES: Final = Rules(
    instructions="first",
    begins="user",  # "A conversation must start with a user message", all models but Claude and Qwen
    blank_text="drop",  # "The text field in the ContentBlock object at … is blank."
)
NAMES: Final = "the API takes letters, digits, `_` and `-` in names, 64 of them at most"
REPORT: Final = Report(
    NAME,
    default="the API has no place for it",
    reasons={
        "id": "messages of the API have no id",
        "createdAt": "messages of the API have no time",
        "usage": "messages of the API have no usage",
        "text": TRAILING,
        "filename": "the API takes other names of documents, and each once",
        "tool-call.id": "the API takes letters, digits, `_`, `.`, `:` and `-` in ids, 64 of them at most",
        "tool-call.name": NAMES,
        "input": "the API takes only objects as input",
        "output": "a result is text, an object, or blocks of text, images and documents",
    },
    spelling=frozenset({INDEX, IN_MESSAGES}),
)
LAST: Final = "calls that wait for their results come last"
CACHE_POINTS: Final = "the API takes four cache points"
NO_FILES: Final = "the API takes no files of the assistant"
NO_REASONING: Final = "Claude refuses reasoning without a signature"
NO_LOCATION: Final = "the API does not take back citations of search results"
BESIDE_RESULTS: Final = "the API takes no documents and videos beside results"
NEEDS_TEXT: Final = "the API demands a text beside a document"
NO_TOOLS: Final = "the API demands the tools of all calls"
ATTACHED: Final = "See the attached documents."


AnyTurn = TypeVar("AnyTurn", bound=Turn)


def load(payload: Json) -> Loaded:
    """Read a request, its messages, one of them, a response, or the events of a stream."""
    match payload:
        case [*items] if not any(is_object(item) and "role" not in item for item in items):
            return _load_messages(items)
        case {"messages": [*messages]}:
            reader = _Reader(messages, "$.messages", payload.get("system"))
            return Loaded(tuple(join(reader.messages)), request=_read_request(payload))
        case {"messages": other}:
            raise ConversionError(f"messages is {kind_of(other)}", where="$.messages", hint="make it a list")
        case {"role": _, "content": _}:
            return _load_messages([payload])
        # A prompt that is stored on Bedrock has the messages itself:
        # https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-management-deploy.html
        case {"modelId": _}:
            return Loaded((), request=_read_request(payload))
        case _ if is_array(payload) or _is_response(payload):
            assert RESPONSE.load is not None
            return RESPONSE.load(payload)
        case _:
            raise ConversionError(f"{kind_of(payload)} is unknown to Converse", where="$", hint=HINT)


def _is_response(payload: Json) -> bool:
    """Whether a payload is a body, an error, or an event."""
    if not is_object(payload):
        return False
    return "output" in payload or error_text(payload) is not None or not EVENTS.isdisjoint(payload)


def _load_messages(items: Sequence[Json]) -> Loaded:
    """Messages without a request around them."""
    found = tuple(join(_Reader(items, "$").messages))
    return Loaded(found, again=lambda: dump(found).payload["messages"])


def dump(messages: Sequence[Message], request: Request | None = None) -> Dumped:
    """Write `system` and `messages`, or a whole request."""
    writer = _Writer(str(request.settings.get("modelId", "")) if request else "")
    payload = writer.write(messages)
    if request is not None:
        payload = _write_request(payload, request, writer.record)
    _declare_tools(payload, writer.record)
    _limit_cache_points(payload, writer.record)
    return Dumped(payload, lambda: REPORT.compare(writer.record, _read_back(payload)))


def _read_back(payload: JsonObject) -> dict[Place, Any]:
    return _Reader(payload.get("messages", []), "$", payload.get("system")).places


# Reading


class _Reader(RoleReader):
    """Reads messages. `system` has a place of its own."""

    def __init__(self, raws: Sequence[Json], path: str, system: Json = None) -> None:
        super().__init__(NAME)
        if system is not None:
            self._read({"role": "system", "content": system}, "$.system", SYSTEM, SYSTEM)
        for index, raw in enumerate(raws):
            self._read(raw, f"{path}[{index}]", f"message-{index + 1}", index)

    def _read(self, raw: Json, path: str, id_: str, index: Any) -> None:
        message = read_wire(wire.MESSAGE, raw, path, HINT)
        role = message.role
        if role not in ("user", "assistant", "system"):
            hint = "use user, assistant or system"
            raise ConversionError(f"unknown role {role!r:.40}", where=f"{path}.role", hint=hint)
        for number, block in enumerate(message.content):
            if not is_object(block):
                where = f"{path}.content[{number}]"
                raise ConversionError(f"a block is {kind_of(block)}", where=where, hint="make it an object")
        kept = residue(wire.Message(role=role, content=[]), replace(message, content=[]))
        noted: JsonObject = {FIELDS: kept} if kept else {}
        noted |= {IN_MESSAGES: True} if role == "system" and index != SYSTEM else {}
        found = read_blocks(message.content, role, {} if role == "assistant" else self.calls)
        if role == "assistant":
            self.add_step(id_, found, noted, index)
            return
        results = [one for one in found if role == "user" and isinstance(one.part, ToolResultPart)]
        others = [one for one in found if one not in results]
        if results:
            self.add_results(id_, results, index)
        if results and not others:
            return
        parts: Any = tuple(part for part, _ in others)
        given: Any = {"parts": parts, "provider_metadata": {NAME: noted} if noted else None}
        if role == "system":
            self.add(SystemMessage(id=id_, content=SystemContent(**given)), index, others)
        else:
            self.add(UserMessage(id=id_, content=UserContent(**given)), index, others)


# Writing


class _Writer(RoleWriter):
    """Writes messages, and records what went where."""

    def __init__(self, model: str) -> None:
        self.record = Record()
        super().__init__(NAME, self.record)
        self._is_claude = "anthropic" in model
        self._system: list[JsonObject] = []

    def write(self, messages: Sequence[Message]) -> JsonObject:
        """`system` and `messages`."""
        for turn in arrange(split(messages, is_written), RULES, self.record, _is_among_messages):
            match turn:
                case Step():
                    self._step(turn)
                case Results():
                    ordered = sorted(turn.parts, key=_index)  # a stable order, if there are no notes
                    self.add("user", *_arguments(turn._replace(parts=ordered), "user"), {})
                case Instructions() if not _is_among_messages(turn):
                    self._instructions(turn)
                case _:
                    self._message(turn)
        written: list[JsonObject] = []
        for number, (role, blocks, noted) in enumerate(self.messages):
            written.append({"role": role, "content": blocks, **notes(noted, FIELDS)})
            if _has_only_documents(blocks):
                blocks.append({"text": ATTACHED})
                self.record.losses.append(Loss(f"$.messages[{number}]", ATTACHED, NEEDS_TEXT, "repaired"))
        _make_names_unique(written)
        _strip_last_answer(written)
        return {**({"system": self._system} if self._system else {}), "messages": written}

    def _message(self, turn: Instructions | Prompt) -> None:
        role: Role = "user" if isinstance(turn, Prompt) else "system"
        noted = message_notes(turn.message, NAME)
        blocks, _, places = _arguments(turn, role)
        if self._has_results and any(has_kind(one, wire.DocumentBlock, wire.VideoBlock) for one in blocks):
            # https://github.com/pydantic/pydantic-ai/issues/6081
            self.messages.append(("assistant", [{"text": EMPTY}], {}))
            self._has_results = False
            self.record.losses.append(Loss(turn.path, EMPTY, BESIDE_RESULTS, "repaired"))
        self.add(role, blocks, turn, places, noted)

    def _step(self, step: Step) -> None:
        parts = list(self._sendable(step.parts))
        # A call must be followed by its result: nothing may be between them.
        ordered = sorted(parts, key=lambda placed: _waits(placed.part))
        blocks = [placed for placed in parts if is_written(placed.part)]
        if blocks != [placed for placed in ordered if is_written(placed.part)]:
            self.record.losses.append(Loss(step.path, "the order of calls and texts", LAST, "repaired"))
        written, turn, places = _arguments(step._replace(parts=ordered), "assistant")
        self.add_step(turn, written, places)

    def _sendable(self, parts: Sequence[Placed]) -> Iterator[Placed]:
        """The parts of the assistant without what the API refuses in a request."""
        for placed in parts:
            part, own = placed.part, notes(getattr(placed.part, "provider_metadata", None), NAME)
            if isinstance(part, FILES):
                self.record.losses.append(Loss.of(placed.path, part, NO_FILES))
            elif isinstance(part, ReasoningPart) and self._is_claude and own.get("unsigned"):
                self.record.losses.append(Loss.of(placed.path, part, NO_REASONING))
            elif "searchResultLocation" in str(own.get("citations")):
                self.record.losses.append(Loss.of(f"{placed.path}.citations", part.citations, NO_LOCATION))
                yield placed._replace(part=TextPart(part.text, state=part.state))
            else:
                yield placed

    def _instructions(self, turn: Instructions) -> None:
        blocks, _, places = _arguments(turn, "system")
        if self._system and blocks:
            self.record.losses.append(Loss(turn.path, "where the message begins", JOINED, "repaired"))
        start = len(self._system)
        self._system += blocks
        shifted = [None if one is None else (SYSTEM, start + one) for one in places]
        self.record.add(turn, (SYSTEM,) if blocks else None, shifted)


def _arguments(turn: AnyTurn, role: Role) -> tuple[list[Json], AnyTurn, Sequence[int | None]]:
    """The blocks of a turn, the turn, and the places of its parts among the blocks.

    The AI SDK also has cache points on whole messages: they are behind all blocks.
    """
    found, places = write_blocks(turn.parts, role)
    blocks: list[Json] = list(found)
    if isinstance(turn, Step) and turn.text is not None:
        blocks.append({"text": turn.text})
    point = message_notes(turn.message, NAME).get(CACHE)
    if blocks and is_object(point):
        blocks.append({CACHE: point})
    return blocks, turn, places


def _index(placed: Placed) -> int:
    index = notes(placed.part.provider_metadata, NAME).get(INDEX)
    return index if type(index) is int else 0


def _is_among_messages(turn: Instructions) -> bool:
    return message_notes(turn.message, NAME).get(IN_MESSAGES) is True


def _waits(part: Any) -> bool:
    return isinstance(part, ToolCallPart) and not part.provider_executed


def _has_only_documents(blocks: Sequence[Json]) -> bool:
    return any("document" in block for block in blocks) and not any("text" in block for block in blocks)


def _strip_last_answer(messages: Sequence[JsonObject]) -> None:
    """Claude refuses a last answer that ends in white space. The AI SDK strips it too.

    The last message is known only here: what is behind it may have no block.
    """
    match messages[-1:]:
        case [{"role": "assistant", "content": [*_, {"text": str(text)} as last]}]:
            last["text"] = text.rstrip()
        case _:
            pass


def _make_names_unique(messages: Sequence[JsonObject]) -> None:
    """Give each document a name of its own: "Messages can't contain duplicate document names".

    https://github.com/maximhq/bifrost/issues/7003. Names depend only on positions, so prompts stay cached.
    """
    seen: set[str] = set()
    blocks = [block for message in messages for block in message["content"]]
    results = [notes(block, "toolResult").get("content") for block in blocks]
    inner = [one for content in results if is_array(content) for one in content if is_object(one)]
    for block in [*blocks, *inner]:
        document = block.get("document")
        if not is_object(document) or not isinstance(document.get("name"), str):
            continue
        name, number = document["name"], 1
        while document["name"].lower() in seen:
            number += 1
            block["document"] = document = {**document, "name": f"{name[:190]}-{number}"}
        seen.add(document["name"].lower())


# Requests


def _read_request(payload: JsonObject) -> Request:
    """The request around messages. Tools of Bedrock and cache points stay among the settings."""
    settings: JsonObject = {key: item for key, item in payload.items() if key not in ("system", "messages")}
    config = settings.get("toolConfig")
    if not is_object(config) or not is_array(config.get("tools")):
        return Request((), settings, FORMAT_NAME)
    specs, others = TOOLS.read(config["tools"])
    rest = {key: item for key, item in config.items() if key != "tools"} | (
        {"tools": others} if others else {}
    )
    del settings["toolConfig"]
    return Request(specs, {**settings, **({"toolConfig": rest} if rest else {})}, FORMAT_NAME)


def _is_own_tool(raw: Json) -> bool:
    match raw:
        case {"toolSpec": {"name": str(), "inputSchema": {"json": {}}}}:
            return False
        case _:
            return True


def _read_tool(tool: wire.Tool) -> ToolSpec:
    spec = tool.tool_spec
    return ToolSpec(spec.name, spec.description or None, spec.input_schema["json"])


def _write_tool(spec: ToolSpec) -> Wire:
    schema = {"json": {"type": "object", **(spec.input_schema or {})}}
    description = spec.description or UNSET  # the API refuses an empty one
    name = TOOL_NAME.fit(spec.name)
    return wire.Tool(tool_spec=wire.ToolSpecification(name, schema, description))


TOOLS: Final = Tools(NAME, wire.TOOL, _read_tool, _write_tool, _is_own_tool)


def _write_request(payload: JsonObject, request: Request, record: Record) -> JsonObject:
    settings = dict(request.settings)
    if not payload["messages"]:
        if "promptVariables" not in settings and ":prompt/" not in str(settings.get("modelId")):
            raise ConversionError("no message to send", where="$", hint="give at least one that has content")
        del payload["messages"]
    config = settings.pop("toolConfig", {})
    others = config.get("tools") if is_object(config) else None
    tools = TOOLS.write(request.tools, others if is_array(others) else ())
    for index, spec in enumerate(request.tools):
        if TOOL_NAME.fit(spec.name) != spec.name:
            record.losses.append(Loss(f"$.tools[{index}].name", spec.name, NAMES, "repaired"))
    if tools:
        config = {**config, "tools": tools}
    return {**payload, **settings, **({"toolConfig": config} if config else {})}


def _declare_tools(payload: JsonObject, record: Record) -> None:
    """Declare the tools of the history, if no tools are declared.

    "The toolConfig field must be defined when using toolUse and toolResult content blocks."
    https://github.com/vxcontrol/pentagi/pull/196
    """
    content = [block for message in payload.get("messages", ()) for block in message["content"]]
    names = {notes(block, "toolUse").get("name"): None for block in content}
    names = {name: None for name in names if isinstance(name, str)}
    if names and not notes(payload, "toolConfig").get("tools"):
        tools = [to_json(_write_tool(ToolSpec(name))) for name in names]
        payload["toolConfig"] = {**notes(payload, "toolConfig"), "tools": tools}
        record.losses.append(Loss("$.toolConfig", ", ".join(names), NO_TOOLS, "repaired"))


def _limit_cache_points(payload: JsonObject, record: Record) -> None:
    """Remove all cache points but the last four. `pydantic-ai` found the limit on the live API.

    https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html
    """
    lists: list[tuple[str, Any]] = [("$.toolConfig.tools", notes(payload, "toolConfig").get("tools", ()))]
    lists += [("$.system", payload.get("system", ()))]
    lists += [
        (f"$.messages[{at}].content", one["content"]) for at, one in enumerate(payload.get("messages", ()))
    ]
    points = [
        (path, blocks, block)
        for path, blocks in lists
        for block in blocks
        if is_object(block) and CACHE in block
    ]
    for path, blocks, point in points[:-4]:
        blocks[:] = [block for block in blocks if block is not point]
        record.losses.append(Loss.of(path, point, CACHE_POINTS, "repaired"))


FORMAT: Final = Format(
    FORMAT_NAME,
    "Amazon Bedrock Converse, requests and answers",
    load,
    dump,
    BedrockDecoder,
    takes_request=True,
    is_complete=True,
)
RESPONSE: Final = Format(
    f"{FORMAT_NAME}-answer",
    "answers of Amazon Bedrock Converse",
    RESPONSES.load,
    RESPONSES.dump,
    BedrockDecoder,
    is_complete=True,
)
