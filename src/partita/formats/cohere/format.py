"""Requests and responses of Cohere's chat API ↔ canonical messages.

A message is `message-N`, where N is the number of its first message in the request. The API takes each result
as a separate message. The documents of a request are one of its settings.

Wire: https://docs.cohere.com/reference/chat
"""

from collections.abc import Sequence
from typing import Any, Final

from msgspec import UNSET
from msgspec.structs import replace

from partita.formats.core.members import text_in
from partita.formats.core.metadata import FIELDS, INDEX, message_notes, notes
from partita.formats.core.request import HINT, Requests, check_messages, request_report
from partita.formats.core.response import BodyFacts, ReadBody, Responses
from partita.formats.core.role_messages import APART, FORM, STRING, RoleReader, RoleWriter
from partita.formats.core.rules import Rules
from partita.formats.core.tools import object_tools
from partita.formats.core.turns import Instructions, Position, Results, Step, Turn
from partita.formats.core.wire import Wire, read_wire, restore, to_json
from partita.types.json import Json, JsonObject, is_object
from partita.types.parts import ForeignPart

from . import wire
from .parts import BLOCKS, RESULTS, TOOL_NAME, as_string, read_assistant, write_assistant
from .stream import EVENTS, REASONS, USAGE, CohereDecoder, read_usage
from .wire import NAME

RULES: Final = Rules(
    instructions="first",  # "system turn must be the first in the list"
    blank_text="drop",  # "message must not be empty in a turn": https://docs.cohere.com/reference/errors
)
REPORT: Final = request_report(
    NAME,
    {
        "output": "a result is text or documents, without a mark of errors",
        "text": "the API takes a tool plan with calls, and no text",
    },
    frozenset({FORM, INDEX}),
)


# Reading


class _Reader(RoleReader):
    """Reads messages."""

    def read(self, raw: Json, path: str, id_: str, index: Any) -> None:
        message = read_wire(wire.MESSAGE, raw, path, HINT)
        match message:
            case wire.Assistant():
                found, noted = read_assistant(message)
                self.add_step(id_, found, noted, index)
            case wire.Tool():
                self.add_results(id_, [(RESULTS.read(message, self.calls), 0)], index)
            case wire.UnknownMessage():
                part = ForeignPart(NAME, dict(message.raw))
                self.add_content("user", id_, [(part, 0)], {}, index)
            case _:
                role, content = ("system" if isinstance(message, wire.System) else "user"), message.content
                text = content if isinstance(content, str) else None
                blocks = (wire.Text(text=content),) if isinstance(content, str) else content
                parts = (BLOCKS.read(block, role, {}) for block in blocks)
                noted = {FIELDS: dict(message.extra)} if message.extra else {}
                self.add_content(
                    role, id_, [(part, number) for number, part in enumerate(parts)], noted, index, text
                )


# Writing


class _Writer(RoleWriter):
    """Writes messages, and records their positions. Each block of the base class is a whole message."""

    rules, blocks = RULES, BLOCKS

    def write_message(self, role: str, blocks: Sequence[Any], noted: JsonObject) -> JsonObject:
        message = blocks[0]
        if not isinstance(message, Wire):
            return message
        return to_json(
            restore(as_string(message) if noted.get(FORM) == STRING else message, notes(noted, FIELDS))
        )

    def complete(self, payload: JsonObject) -> JsonObject:
        if self.request is not None:
            check_messages(payload)
        return payload

    def _append(self, role: str, blocks: list[Json], turn: Turn, noted: JsonObject) -> tuple[int, int]:
        return super()._append(role, blocks, turn, {**noted, APART: True})

    def write_blocks(self, turn: Turn, role: str) -> tuple[list[Json], Sequence[Position | None]]:
        if isinstance(turn, Step):
            message, positions = write_assistant(turn.parts, is_request=True, text=turn.text)
            return ([] if message == wire.Assistant() else [message]), positions
        for part, _ in turn.parts:
            is_foreign = isinstance(part, ForeignPart) and part.format == NAME
            if is_foreign and is_object(part.value) and "role" in part.value:
                return [part.value], [0] * len(turn.parts)  # a message of an unknown role
        blocks, positions = super().write_blocks(turn, role)
        type_: Any = wire.User if role == "user" else wire.System
        return ([type_(content=tuple(blocks))] if blocks else []), positions

    def write_results(self, turn: Results) -> None:
        for located in turn.parts:
            self.add("tool", [RESULTS.write(located.part)], turn._replace(parts=[located]), [0], {})

    def write_instructions(self, turn: Instructions) -> None:
        blocks, positions = self.write_blocks(turn, "system")
        self.add("system", blocks, turn, positions, self.notes_of(turn))


# Requests

TOOLS: Final = object_tools(NAME, "parameters", "function", template={"type": "function"}, names=TOOL_NAME)

# Responses

MESSAGE: Final = "message"
"""The note with the residue of the message in a body."""


def _read_body(response: wire.Response) -> ReadBody:
    parts, noted = read_assistant(response.message)
    kept = notes(noted, FIELDS)
    rest = replace(response, message=wire.Assistant())
    return ReadBody(rest, parts, response.finish_reason, response.id, notes={MESSAGE: kept} if kept else {})


def _write_body(facts: BodyFacts, written: wire.Assistant) -> wire.Response:
    return wire.Response(
        id=UNSET if facts.id is None else facts.id,
        finish_reason=facts.stop,
        message=restore(written, notes(message_notes(facts.message, NAME), MESSAGE)),
        usage=facts.usage,
        extra=facts.extra,
    )


RESPONSES: Final = Responses(
    NAME,
    CohereDecoder,
    wire.RESPONSE,
    is_body=lambda payload: is_object(payload.get("message")),
    is_event=lambda payload: str(payload.get("type")) in EVENTS,
    error_text=lambda payload: text_in(payload, "message") or None,
    read_body=_read_body,
    write_body=_write_body,
    blocks=BLOCKS,
    required=("responseId", "finishReason", "usage"),
    finish_reasons=REASONS,
    other_reasons={"content-filter": "ERROR"},
    usage=USAGE,
    read_usage=read_usage,
)
RESPONSE: Final = RESPONSES.format(f"{NAME}-response", "responses of Cohere's chat API")
REQUESTS: Final = Requests(
    REPORT, "Cohere", RESPONSES, TOOLS, reader=_Reader, writer=_Writer, members=("messages",)
)
FORMAT: Final = REQUESTS.format(NAME, "Cohere's chat API, requests and responses")
