"""Requests and responses of Amazon Bedrock Converse ↔ canonical messages.

A message is `message-N`, where N is the number of its first message in the request. Cache points are notes on
the part before them, as in the AI SDK.

Wire: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from msgspec.structs import replace

from partita.formats.core.codec import BEHIND
from partita.formats.core.members import objects_in, text_in
from partita.formats.core.metadata import INDEX, message_notes, notes, part_notes
from partita.formats.core.report import Record
from partita.formats.core.request import HINT, Requests, block_lists, check_messages, request_report
from partita.formats.core.response import BodyFacts, ReadBody, Responses
from partita.formats.core.role_messages import IN_MESSAGES, RoleReader, RoleWriter
from partita.formats.core.rules import TRAILING_SPACE, Rules
from partita.formats.core.tools import object_tools
from partita.formats.core.turns import LocatedPart, Position, Prompt, Step, Turn
from partita.formats.core.wire import read_wire
from partita.formats.losses import CITATIONS, REQUIRED, SIGNED, Loss
from partita.types.json import Json, JsonObject, is_object
from partita.types.parts import ReasoningPart, TextPart

from . import wire
from .parts import BLOCKS, CACHE, EMPTY, FILES, TOOL_NAME, read_blocks
from .stream import EVENTS, REASONS, USAGE, BedrockDecoder, error_text, read_usage
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
        "text": TRAILING_SPACE,
        "filename": "the API takes other names of documents, and each once",
        "output": "a result is text, an object, or blocks of text, images and documents",
    },
    frozenset({INDEX, IN_MESSAGES, BEHIND}),
)
CACHE_POINTS: Final = "the API takes four cache points"
NO_FILES: Final = "the API takes no files of the assistant"
WITH_RESULTS: Final = "the API takes no documents and videos together with results"
ATTACHED: Final = "See the attached documents."


# Reading


class _Reader(RoleReader):
    """Reads messages. `system` has a separate position."""

    def read(self, raw: Json, path: str, id_: str, index: Any) -> None:
        message: wire.Message = read_wire(wire.MESSAGE, raw, path, HINT)
        calls = {} if message.role == "assistant" else self.calls
        found = read_blocks(message.content, message.role, calls)
        self.add_message(message.role, id_, found, index, extra=message.extra)


# Writing


class _Writer(RoleWriter):
    """Writes messages, and records the positions of messages and parts."""

    rules, blocks = RULES, BLOCKS

    def write_blocks(self, turn: Turn, role: str) -> tuple[list[Json], Sequence[Position | None]]:
        """Return the blocks of a turn. A cache point on the whole message, as in the AI SDK, comes last."""
        blocks, positions = super().write_blocks(turn, role)
        point = message_notes(turn.message, NAME).get(CACHE)
        return ([*blocks, {CACHE: point}] if blocks and is_object(point) else blocks), positions

    def write_prompt(self, turn: Prompt) -> None:
        is_refused = any("document" in one or "video" in one for one in self.write_blocks(turn, "user")[0])
        if self._has_results and is_refused:
            # https://github.com/pydantic/pydantic-ai/issues/6081
            self.messages.append(("assistant", [{"text": EMPTY}], {}))
            self._has_results = False
            self.record.losses.append(Loss(turn.path, EMPTY, WITH_RESULTS, "repaired"))
        super().write_prompt(turn)

    def write_step(self, step: Step) -> None:
        super().write_step(step._replace(parts=list(self._sendable(step.parts))))

    def complete(self, payload: JsonObject) -> JsonObject:
        for number, content in enumerate(one["content"] for one in payload["messages"]):
            if any("document" in one for one in content) and not any("text" in one for one in content):
                content.append({"text": ATTACHED})
                self.record.losses.append(Loss(f"$.messages[{number}]", ATTACHED, REQUIRED, "repaired"))
        _make_names_unique(payload["messages"])
        _strip_last_response(payload["messages"])
        if self.request is not None and not payload["messages"] and _has_stored_prompt(payload):
            del payload["messages"]
        elif self.request is not None:
            check_messages(payload)
        _declare_tools(payload, self.record)
        _limit_cache_points(payload, self.record)
        return payload

    def _sendable(self, parts: Sequence[LocatedPart]) -> Iterator[LocatedPart]:
        """Yield the parts of the assistant without those that the API refuses in a request."""
        is_claude = self.request is not None and "anthropic" in str(self.request.settings.get("modelId"))
        for located in parts:
            part, own = located.part, part_notes(located.part, NAME)
            if isinstance(part, FILES):
                self.record.losses.append(Loss.of(located.path, part, NO_FILES))
            elif isinstance(part, ReasoningPart) and is_claude and own.get("unsigned"):
                self.record.losses.append(Loss.of(located.path, part, SIGNED))
            elif "searchResultLocation" in str(own.get("citations")):
                self.record.losses.append(Loss.of(f"{located.path}.citations", part.citations, CITATIONS))
                yield located._replace(part=TextPart(part.text, state=part.state))
            else:
                yield located


def _has_stored_prompt(payload: JsonObject) -> bool:
    """Whether Bedrock itself has the messages, in a stored prompt.

    https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-management-deploy.html
    """
    return "promptVariables" in payload or ":prompt/" in str(payload.get("modelId"))


def _strip_last_response(messages: Sequence[JsonObject]) -> None:
    """Strip trailing white space from the last response: Claude refuses it. The AI SDK does so too.

    The last message is only known here: the messages after it may have no blocks.
    """
    match messages[-1:]:
        case [{"role": "assistant", "content": [*_, {"text": str(text)} as last]}]:
            last["text"] = text.rstrip()
        case _:
            pass


def _make_names_unique(messages: Sequence[JsonObject]) -> None:
    """Give each document a unique name: "Messages can't contain duplicate document names".

    https://github.com/maximhq/bifrost/issues/7003. Names depend only on positions, so prompts stay cached.
    """
    seen: set[str] = set()
    blocks = [block for message in messages for block in message["content"]]
    inner = [one for block in blocks for one in objects_in(notes(block, "toolResult").get("content"))]
    for block in [*blocks, *inner]:
        name = unique = text_in(block.get("document"), "name")
        number = 1
        while unique.lower() in seen:
            number += 1
            unique = f"{name[:190]}-{number}"
            block["document"] = {**block["document"], "name": unique}
        if name:
            seen.add(unique.lower())


# Requests

TOOLS: Final = object_tools(NAME, "inputSchema.json", "toolSpec", names=TOOL_NAME, path="toolConfig.tools")


def _declare_tools(payload: JsonObject, record: Record) -> None:
    """Declare the tools of the history, if no tools are declared.

    "The toolConfig field must be defined when using toolUse and toolResult content blocks."
    https://github.com/vxcontrol/pentagi/pull/196
    """
    content = [block for message in payload.get("messages", ()) for block in message["content"]]
    found = dict.fromkeys(text_in(block.get("toolUse"), "name") for block in content)
    names = [name for name in found if name]
    config = notes(payload, "toolConfig")
    if names and not config.get("tools"):
        payload["toolConfig"] = {**config, "tools": TOOLS.declare(names)}
        record.losses.append(Loss("$.toolConfig", ", ".join(names), REQUIRED, "repaired"))


def _limit_cache_points(payload: JsonObject, record: Record) -> None:
    """Remove all cache points but the last four. `pydantic-ai` found the limit on the live API.

    https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html
    """
    points = [
        (path, blocks, block)
        for path, blocks in block_lists(payload, "toolConfig", "tools")
        for block in blocks
        if is_object(block) and CACHE in block
    ]
    for path, blocks, point in points[:-4]:
        blocks[:] = [block for block in blocks if block is not point]
        record.losses.append(Loss.of(path, point, CACHE_POINTS, "repaired"))


# Responses


def _read_body(response: wire.Response) -> ReadBody:
    message = response.output.message
    rest = replace(response, output=replace(response.output, message=replace(message, content=())))
    return ReadBody(rest, read_blocks(message.content, "assistant", {}), response.stop_reason)


def _write_body(facts: BodyFacts, blocks: Sequence[JsonObject]) -> wire.Response:
    output = wire.Output(wire.Message("assistant", tuple(blocks)))
    return wire.Response(output=output, stop_reason=facts.stop, usage=facts.usage, extra=facts.extra)


RESPONSES: Final = Responses(
    NAME,
    BedrockDecoder,
    wire.RESPONSE,
    is_body=lambda payload: "output" in payload,
    is_event=lambda payload: not EVENTS.isdisjoint(payload),
    error_text=error_text,
    read_body=_read_body,
    write_body=_write_body,
    blocks=BLOCKS,
    required=("finishReason", "usage"),
    finish_reasons=REASONS,
    usage=USAGE,
    read_usage=read_usage,
    reasons={"id": "responses have no id"},
)
RESPONSE: Final = RESPONSES.format(f"{FORMAT_NAME}-response", "responses of Amazon Bedrock Converse")
REQUESTS: Final = Requests(
    REPORT,
    "Converse",
    RESPONSES,
    TOOLS,
    reader=_Reader,
    writer=_Writer,
    is_request=lambda payload: "messages" in payload or "modelId" in payload,
)
FORMAT: Final = REQUESTS.format(FORMAT_NAME, "Amazon Bedrock Converse, requests and responses")
