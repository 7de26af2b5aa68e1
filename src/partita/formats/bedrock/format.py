"""Requests of Amazon Bedrock Converse ↔ canonical messages.

A message is `message-N`, where N is the number of its first message in the request. Cache points are notes on
the part before them, as in the AI SDK.

Wire: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from msgspec import UNSET

from partita.errors import ConversionError
from partita.formats.core.metadata import message_notes, notes
from partita.formats.core.report import Place, Record
from partita.formats.core.request import HINT, Requests, request_report
from partita.formats.core.role_messages import IN_MESSAGES, INDEX, SYSTEM, RoleReader, RoleWriter
from partita.formats.core.rules import TRAILING, Rules
from partita.formats.core.server_tools import BEHIND
from partita.formats.core.tools import Tools
from partita.formats.core.turns import Placed, Prompt, Step, Turn
from partita.formats.core.wire import Wire, read_wire, to_json
from partita.formats.format import Format, Request, ToolSpec
from partita.formats.losses import Loss
from partita.formats.reasons import CITATIONS, REQUIRED, SIGNED
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of
from partita.types.messages import Message
from partita.types.parts import ReasoningPart, TextPart

from . import wire
from .parts import CACHE, EMPTY, FIELDS, FILES, TOOL_NAME, is_written, read_blocks, write_blocks
from .response import RESPONSES
from .stream import BedrockDecoder
from .wire import FORMAT_NAME, NAME

RULES: Final = Rules(
    instructions="first",
    begins="user",  # "A conversation must start with a user message", all models but Claude and Qwen
    blank_text="drop",  # "The text field in the ContentBlock object at … is blank."
    order="calls-last",  # a call must be followed by its result: nothing may be between them
)
REPORT: Final = request_report(
    NAME,
    {
        "text": TRAILING,
        "filename": "the API takes other names of documents, and each once",
        "output": "a result is text, an object, or blocks of text, images and documents",
    },
    frozenset({INDEX, IN_MESSAGES, BEHIND}),
)
CACHE_POINTS: Final = "the API takes four cache points"
NO_FILES: Final = "the API takes no files of the assistant"
BESIDE_RESULTS: Final = "the API takes no documents and videos beside results"
ATTACHED: Final = "See the attached documents."


# Reading


class _Reader(RoleReader):
    """Reads messages. `system` has a place of its own."""

    def __init__(self, raws: Sequence[Json], path: str, request: JsonObject) -> None:
        super().__init__(NAME)
        if (system := request.get("system")) is not None:
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
        noted: JsonObject = {FIELDS: dict(message.extra)} if message.extra else {}
        noted |= {IN_MESSAGES: True} if role == "system" and index != SYSTEM else {}
        found = read_blocks(message.content, role, {} if role == "assistant" else self.calls)
        if role == "assistant":
            self.add_step(id_, found, noted, index)
        else:
            self.add_content(role, id_, found, noted, index)


# Writing


class _Writer(RoleWriter):
    """Writes messages, and records what went where."""

    def __init__(self, model: str) -> None:
        super().__init__(NAME)
        self._is_claude = "anthropic" in model

    def write(self, messages: Sequence[Message]) -> JsonObject:
        """`system` and `messages`."""
        self.write_turns(messages, RULES, is_written)
        written: list[JsonObject] = []
        for number, (role, blocks, noted) in enumerate(self.messages):
            written.append({"role": role, "content": blocks, **notes(noted, FIELDS)})
            if _has_only_documents(blocks):
                blocks.append({"text": ATTACHED})
                self.record.losses.append(Loss(f"$.messages[{number}]", ATTACHED, REQUIRED, "repaired"))
        _make_names_unique(written)
        _strip_last_answer(written)
        return {**({"system": self.system} if self.system else {}), "messages": written}

    def write_blocks(self, turn: Turn, role: str) -> tuple[list[Json], Sequence[Place | None]]:
        """The blocks of a turn. The AI SDK also has cache points on whole messages: behind all blocks."""
        blocks, places = write_blocks(turn.parts, role, turn.text if isinstance(turn, Step) else None)
        point = message_notes(turn.message, NAME).get(CACHE)
        return ([*blocks, {CACHE: point}] if blocks and is_object(point) else blocks), places

    def write_prompt(self, turn: Prompt) -> None:
        is_refused = any("document" in one or "video" in one for one in self.write_blocks(turn, "user")[0])
        if self._has_results and is_refused:
            # https://github.com/pydantic/pydantic-ai/issues/6081
            self.messages.append(("assistant", [{"text": EMPTY}], {}))
            self._has_results = False
            self.record.losses.append(Loss(turn.path, EMPTY, BESIDE_RESULTS, "repaired"))
        super().write_prompt(turn)

    def write_step(self, step: Step) -> None:
        super().write_step(step._replace(parts=list(self._sendable(step.parts))))

    def _sendable(self, parts: Sequence[Placed]) -> Iterator[Placed]:
        """The parts of the assistant without what the API refuses in a request."""
        for placed in parts:
            part, own = placed.part, notes(getattr(placed.part, "provider_metadata", None), NAME)
            if isinstance(part, FILES):
                self.record.losses.append(Loss.of(placed.path, part, NO_FILES))
            elif isinstance(part, ReasoningPart) and self._is_claude and own.get("unsigned"):
                self.record.losses.append(Loss.of(placed.path, part, SIGNED))
            elif "searchResultLocation" in str(own.get("citations")):
                self.record.losses.append(Loss.of(f"{placed.path}.citations", part.citations, CITATIONS))
                yield placed._replace(part=TextPart(part.text, state=part.state))
            else:
                yield placed


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


def _read_tool(tool: wire.Tool) -> ToolSpec | None:
    spec, schema = tool.tool_spec, tool.tool_spec.input_schema.get("json")
    return ToolSpec(spec.name, spec.description or None, schema) if is_object(schema) else None


def _write_tool(spec: ToolSpec) -> Wire:
    schema = {"json": {"type": "object", **(spec.input_schema or {})}}
    description = spec.description or UNSET  # the API refuses an empty one
    return wire.Tool(tool_spec=wire.ToolSpecification(spec.name, schema, description))


TOOLS: Final = Tools(NAME, wire.TOOL, _read_tool, _write_tool, names=TOOL_NAME)


def _read_request(payload: JsonObject) -> Request:
    """The request around messages. Tools of Bedrock and cache points stay among the settings."""
    settings = {key: item for key, item in payload.items() if key not in ("system", "messages")}
    config = dict(notes(settings, "toolConfig"))
    tools = TOOLS.take(config)
    if tools and config:
        settings["toolConfig"] = config
    elif tools:
        del settings["toolConfig"]
    return Request(tools, settings, FORMAT_NAME)


def _write(messages: Sequence[Message], request: Request | None) -> tuple[JsonObject, Record]:
    """`system` and `messages`, or a whole request."""
    writer = _Writer(str(request.settings.get("modelId", "")) if request else "")
    payload = writer.write(messages)
    if request is not None:
        payload = _write_request(payload, request, writer.record)
    _declare_tools(payload, writer.record)
    _limit_cache_points(payload, writer.record)
    return payload, writer.record


def _write_request(payload: JsonObject, request: Request, record: Record) -> JsonObject:
    settings = dict(request.settings)
    if not payload["messages"]:
        if "promptVariables" not in settings and ":prompt/" not in str(settings.get("modelId")):
            raise ConversionError("no message to send", where="$", hint="give at least one that has content")
        del payload["messages"]
    config = TOOLS.add(request, notes(settings, "toolConfig"), record)
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
        record.losses.append(Loss("$.toolConfig", ", ".join(names), REQUIRED, "repaired"))


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


RESPONSE: Final = RESPONSES.format(f"{FORMAT_NAME}-answer", "answers of Amazon Bedrock Converse")
REQUESTS: Final = Requests(
    REPORT,
    "Converse",
    RESPONSE,
    read=_Reader,
    write=_write,
    read_request=_read_request,
    is_response=RESPONSES.is_response,
    # A prompt that is stored on Bedrock has the messages itself:
    # https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-management-deploy.html
    is_request=lambda payload: "messages" in payload or "modelId" in payload,
)
load, dump = REQUESTS.load, REQUESTS.dump
FORMAT: Final = Format(
    FORMAT_NAME,
    "Amazon Bedrock Converse, requests and answers",
    load,
    dump,
    BedrockDecoder,
    takes_request=True,
    is_complete=True,
)
