"""Requests of Chat Completions ↔ canonical messages, for OpenAI and compatible servers.

The steps of the model and the results between them form one message, with step starts between the steps. A
message is `message-N`, where N is the number of its first message in the request.

Wire: https://platform.openai.com/docs/api-reference/chat/create
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Final

from msgspec import UNSET
from msgspec.structs import replace

from partita.errors import ConversionError, DecodeError
from partita.formats.core.members import described
from partita.formats.core.metadata import INDEX, RAW_INPUT, add_notes, message_notes, notes
from partita.formats.core.report import Record
from partita.formats.core.request import request_report
from partita.formats.core.role_messages import RoleReader, add_boundaries
from partita.formats.core.rules import Rules, arrange
from partita.formats.core.tools import Tools
from partita.formats.core.turns import (
    Instructions,
    LocatedPart,
    Position,
    Prompt,
    Results,
    Step,
    Turn,
    join,
    split,
)
from partita.formats.core.wire import read_wire, residue, restore, to_json
from partita.formats.format import Dumped, Format, Loaded, Request, ToolSpec
from partita.formats.losses import (
    BLANK,
    FILES_MOVED,
    JOINED,
    NO_PLACE,
    ORDERED,
    REQUIRED,
    UNREAD,
    Loss,
    json_losses,
)
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of
from partita.types.messages import (
    Message,
    SystemContent,
    SystemMessage,
    ToolCallPart,
    UserContent,
    UserMessage,
)
from partita.types.parts import ContentOutput, ReasoningPart, TextPart, ToolResultPart

from . import wire
from .assistant import (
    ORDER,
    TextSlice,
    add_slices,
    is_written,
    read_assistant,
    reasoning_field,
    write_assistant,
)
from .dialects import DIALECTS, OPENAI, Dialect
from .encoder import ChatEncoder
from .parts import (
    CONTENT,
    EMPTY,
    FIELDS,
    LEGACY,
    LIST,
    MEDIA,
    TOOL_NAME,
    TYPE,
    codecs_of,
    is_empty_text,
    is_plain,
    media_in,
)
from .response import IN_BODY, IN_CHOICE, IN_MESSAGE, dump_response, is_response, load_response
from .stream import DONE, ChatDecoder
from .wire import MESSAGE, NAME, ROLES

HINT: Final = "give a request, its messages, a response, or the records of a stream"

# Notes about messages and results, besides those of parts
ROLE: Final = "role"  # `system` or `developer`, if the server has the other

BRIDGE: Final = "OK."
"""The message of the assistant between results and a prompt, for servers that require one."""

BETWEEN_TEXTS: Final = "\n"
BETWEEN_TURNS: Final = "\n\n"
"""The separators of texts that become one text, and of instructions that become one message."""

EXACT: Final = Rules(hidden="send", calls="any")
"""No rules: messages are written as they were read."""

ACCEPTED_FILES: Final = (
    "servers take images, PDF, WAV, MP3 and text, only images by URL, and of the user only"
)
REPORT: Final = {
    dialect: request_report(
        dialect.namespace,
        {
            "input": "arguments are JSON",
            "output": "a result is text",
            "tool-call": "the API has no place for calls that a server ran",
            **dict.fromkeys(("image", "file", "reasoning-file"), ACCEPTED_FILES),
            "reasoning": "reasoning is sent back only to the server that it is from, if that wants it",
        },
        frozenset({CONTENT, ROLE, INDEX, RAW_INPUT, IN_BODY, IN_CHOICE, IN_MESSAGE}),
    )
    for dialect in DIALECTS.values()
}

EARLIER_TURN: Final = "the server takes reasoning back only until the next prompt"


def load(payload: Json, dialect: Dialect = OPENAI) -> Loaded:
    """Read a request, its messages, one of them, a response, or the records of a stream."""
    match payload:
        case [{"messages": _} as request] if is_object(request):
            return _load_request(request, "$[0]", dialect)
        case [*items]:
            if DONE in items or any(is_object(item) and "role" not in item for item in items):
                return load_response(payload, dialect)
            return _load_messages(items, "$", dialect)
        case {"messages": _} if is_object(payload):
            return _load_request(payload, "$", dialect)
        case {"role": _}:
            return _load_messages([payload], "$", dialect, is_alone=True)
        case _ if is_response(payload):
            return load_response(payload, dialect)
        case _:
            what = f"{described(payload)} is unknown to Chat Completions"
            raise ConversionError(what, where="$", hint=HINT)


def _load_request(payload: JsonObject, path: str, dialect: Dialect) -> Loaded:
    messages: Json = payload["messages"]
    if not is_array(messages):
        what = f"messages is {kind_of(messages)}"
        raise ConversionError(what, where=f"{path}.messages", hint="make it a list")
    request = _read_request(payload, dialect)
    loaded = _load_messages(messages, f"{path}.messages", dialect)

    def losses() -> Iterator[Loss]:
        yield from loaded.losses
        around = {key: item for key, item in payload.items() if key != "messages"}
        yield from json_losses(around, _write_request({}, request, dialect, Record()), path, UNREAD)

    return Loaded(loaded.messages, losses, request, is_complete=True)


def _load_messages(raws: Sequence[Json], path: str, dialect: Dialect, *, is_alone: bool = False) -> Loaded:
    reader = _Reader(raws, path, dialect, is_alone=is_alone)
    messages = tuple(join(reader.messages))

    def losses() -> Iterator[Loss]:
        writer = _Writer(dialect, is_exact=True)
        again = writer.write(messages)
        yield from reader.misplaced
        moved = reader.misplaced != []
        if len(again) != len(raws):
            yield Loss.of(path, raws, UNREAD, "changed")
            return
        pairs = zip(_in_order(raws, moved), _in_order(again, moved), strict=True)
        for (index, raw), (_, other) in pairs:
            yield from json_losses(raw, other, path if is_alone else f"{path}[{index}]", UNREAD)

    return Loaded(messages, losses, is_complete=True)


def _in_order(raws: Iterable[Json], moved: bool) -> list[tuple[int, Json]]:
    """Messages with their indexes. If results were moved to their calls, results come last, by id."""
    found = list(enumerate(raws))
    return sorted(found, key=lambda one: str(one[1].get("tool_call_id") or "")) if moved else found


def dump(messages: Sequence[Message], request: Request | None = None, *, dialect: Dialect = OPENAI) -> Dumped:
    """Write `messages`, or a whole request."""
    writer = _Writer(dialect)
    payload: JsonObject = {"messages": writer.write(messages)}
    if request is not None:
        payload = _write_request(payload, request, dialect, writer.record)
    report = REPORT.get(dialect) or REPORT[OPENAI]
    return Dumped(payload, lambda: report.compare(writer.record, _read_back(payload, writer, dialect)))


def _read_back(payload: JsonObject, writer: "_Writer", dialect: Dialect) -> dict[Position, Any]:
    positions = _Reader(payload["messages"], "$", dialect).positions
    add_slices(positions, writer.slices)
    return positions


# Reading


class _Reader(RoleReader):
    """Reads messages. The position of a part is a member of the message, or the number of an item."""

    def __init__(self, raws: Sequence[Json], path: str, dialect: Dialect, *, is_alone: bool = False) -> None:
        super().__init__(dialect.namespace)
        self.misplaced: list[Loss] = []
        self._path, self._is_alone = path, is_alone
        self._dialect = dialect
        self._codecs = codecs_of(dialect, is_exact=True)
        self._open: set[str] = set()  # ids of all calls that have no result
        self._functions: dict[str, str] = {}  # ids of the last calls of functions, by name
        self._results: list[tuple[ToolResultPart, Position]] = []
        self._first = 0  # the number of the first of these results
        for index, raw in enumerate(raws):
            try:
                message: Any = MESSAGE.read(raw)
            except DecodeError:
                message = None
            if message is None or (message.extra is not None and "content" in message.extra):
                message = _read_unusual(raw, self._path_of(index))
            kind = type(message)
            if kind is wire.Tool or kind is wire.FunctionResult:
                self._result(message, index)
                continue
            if self._results:
                self._end_results()
            self.calls = {}  # results are directly after their calls
            if kind is wire.Assistant:
                self._assistant(message, index)
            else:
                self._prompt(message, index)
        if self._results:
            self._end_results()

    def _path_of(self, index: int) -> str:
        return self._path if self._is_alone else f"{self._path}[{index}]"

    def _prompt(self, message: wire.Message, index: int) -> None:
        """Read a message of the user, or instructions, which are text."""
        content, is_user = message.content, type(message) is wire.User
        noted: JsonObject = {}
        role = self._dialect.system_role if is_user else message.__struct_config__.tag
        if role != self._dialect.system_role:
            noted[ROLE] = role
        found: list[tuple[Any, Position]] = []
        if isinstance(content, tuple):
            codecs = self._codecs.items if is_user else self._codecs.texts
            found = [(codecs.read(item, None), number) for number, item in enumerate(content)]
            noted[CONTENT] = LIST
        elif content:
            found = [(TextPart(content), "content")]
        else:
            content = ""
        kept = residue(type(message)(content=content), message)
        if kept:
            noted[FIELDS] = kept
        elif not found and CONTENT not in noted:
            noted[CONTENT] = EMPTY
        metadata, id_ = self._codecs.noted(noted), f"message-{index + 1}"
        parts = tuple([part for part, _ in found])
        read: Message
        if is_user:
            read = UserMessage(id=id_, content=UserContent(parts=parts, provider_metadata=metadata))
        else:
            read = SystemMessage(id=id_, content=SystemContent(parts=parts, provider_metadata=metadata))
        self.add(read, index, found)

    def _assistant(self, message: wire.Assistant, index: int) -> None:
        id_ = f"message-{index + 1}"
        found, noted = read_assistant(message, id_, self._codecs)
        self.add_step(id_, found, noted, index)
        if self.calls:
            self._open.update(self.calls)
        legacy = found[-1][0] if found and found[-1][1] == LEGACY else None
        self._functions = {legacy.name: legacy.id} if legacy is not None else {}

    def _result(self, message: wire.Tool | wire.FunctionResult, index: int) -> None:
        name = message.name or ""
        is_tool = type(message) is wire.Tool
        id_ = (message.tool_call_id if isinstance(message, wire.Tool) else self._functions.get(name)) or ""
        codecs = self._codecs.results if is_tool else self._codecs.function_results
        part: ToolResultPart = codecs.read(message, self.calls.get(id_, name))
        if not is_tool:
            part = replace(part, id=id_)
            if not id_:
                metadata = add_notes(part.provider_metadata, self._codecs.namespace, {ROLE: "function"})
                part = replace(part, provider_metadata=metadata)
        if id_ not in self.calls and id_ in self._open:
            self.misplaced.append(
                Loss(self._path_of(index), f"the place of the result of {id_}", ORDERED, "changed")
            )
        self._open.discard(id_)
        self._first = self._first if self._results else index
        self._results.append((part, (index, "result")))

    def _end_results(self) -> None:
        self.add_results(f"message-{self._first + 1}", self._results, self._first)
        self._results = []


def _read_unusual(raw: Json, path: str) -> Any:
    """Return a message that has an unknown or unexpected type."""
    _check(raw, path)
    return read_wire(MESSAGE, raw, path, HINT)


def _check(raw: Json, path: str) -> None:
    """Raise an error if a value is not a message."""
    if not is_object(raw):
        hint = 'give {"role": …, "content": …}'
        raise ConversionError(f"a message is {kind_of(raw)}", where=path, hint=hint)
    role, content = raw.get("role"), raw.get("content")
    if role not in ROLES:
        what = f"unknown role {role!r:.40}" if isinstance(role, str) else f"role is {kind_of(role)}"
        raise ConversionError(what, where=f"{path}.role", hint=f"use one of {', '.join(ROLES)}")
    if is_array(content):
        for index, item in enumerate(content):
            if not is_object(item):
                what, where = f"an item is {kind_of(item)}", f"{path}.content[{index}]"
                raise ConversionError(what, where=where, hint='give {"type": …}')
    elif content is not None and not isinstance(content, str):
        hint = "make it a string or a list of items"
        raise ConversionError(f"content is {kind_of(content)}", where=f"{path}.content", hint=hint)


# Writing


class _Writer:
    """Writes messages, and records what went where."""

    def __init__(self, dialect: Dialect, *, is_exact: bool = False) -> None:
        self.record = Record()
        self.slices: dict[Position, TextSlice] = {}
        """Parts that share a text, by their positions."""
        self._dialect = dialect
        self._codecs = codecs_of(dialect, is_exact=is_exact)
        self._is_exact = is_exact
        self._messages: list[Any] = []
        self._is_after_results = False

    def write(self, messages: Sequence[Message]) -> list[Json]:
        """The messages of a request."""
        written = partial(is_written, codecs=self._codecs)
        order = "anywhere" if self._dialect.system_anywhere else "first"
        rules = EXACT if self._is_exact else Rules(instructions=order)
        turns: list[Turn] = arrange(split(messages, written), rules, self.record.losses)
        if rules.instructions == "first":
            first = [turn for turn in turns if isinstance(turn, Instructions)]
            if len(first) > 1:
                self._prompt(first)
                turns = turns[len(first) :]
        replays_all = self._is_exact or self._dialect.replays == "always"
        prompts = () if replays_all else [at for at, turn in enumerate(turns) if isinstance(turn, Prompt)]
        last_prompt = prompts[-1] if prompts else -1
        results: list[Results] = []
        for number, turn in enumerate(turns):
            if isinstance(turn, Results):
                results.append(turn)
                continue
            if results:
                self._results(results)
                results = []
            if isinstance(turn, Step):
                self._step(turn, is_over=number < last_prompt)
            else:
                self._prompt([turn])
        if results:
            self._results(results)
        return [to_json(message) for message in self._messages]

    def _append(self, message: Any, noted: JsonObject) -> int:
        """Append a message with its residue; return its number."""
        self._messages.append(restore(message, notes(noted, FIELDS)) if noted else message)
        self._is_after_results = False
        return len(self._messages) - 1

    def _sent(self, turn: Turn, *, is_list: bool) -> Sequence[LocatedPart]:
        """The parts of a turn without empty texts, unless they are items of a list."""
        empty = [located for located in turn.parts if is_empty_text(located.part)]
        if is_list or not empty:
            return turn.parts
        self.record.losses += [Loss.of(path, part, BLANK, "minor") for part, path in empty]
        return [located for located in turn.parts if not is_empty_text(located.part)]

    # Instructions and prompts

    def _prompt(self, turns: Sequence[Instructions | Prompt]) -> None:
        """Write a message, or several instructions as one if the server takes only one."""
        first = turns[0]
        is_user = isinstance(first, Prompt)
        noted = message_notes(first.message, self._codecs.namespace) if len(turns) == 1 else {}
        is_list = noted.get(CONTENT) == LIST
        codecs = self._codecs.items if is_user else self._codecs.texts
        entries: list[tuple[Instructions | Prompt, list[Any]]] = []
        known: list[Any] = []
        for turn in turns:
            parts = self._sent(turn, is_list=is_list)
            items: list[Any] = [codecs.write(part) for part, _ in parts]
            if len(turns) > 1:
                items = [item if is_plain(item) else None for item in items]
            known += [item for item in items if item is not None]
            entries.append((_with_parts(turn, parts), items))
        if not known and not noted:
            for turn, items in entries:
                self.record.add(turn, None, [None] * len(items))
            return
        has_lists = is_user and self._dialect.lists_of_text
        is_list = is_list or (has_lists and len(known) > 1) or not all(map(is_plain, known))
        content: Any = tuple(known) if is_list else _joined_texts(entries)
        at = self._append(self._shell(first, noted, content), noted)
        number = start = 0
        for turn, items in entries:
            positions: list[Position | None] = []
            for item in items:
                if item is None:
                    positions.append(None)
                elif is_list:
                    positions.append((at, number))
                    number += 1
                elif len(known) == 1:
                    positions.append((at, "content"))
                else:
                    position = (at, "content", start)
                    self.slices[position] = TextSlice((at, "content"), start, start + len(item.text))
                    start += len(item.text) + len(BETWEEN_TEXTS)
                    positions.append(position)
            count = len(positions) - positions.count(None)
            if count:
                start += len(BETWEEN_TURNS) - len(BETWEEN_TEXTS)
            if count > 1 and not is_list:
                self.record.losses.append(Loss(turn.path, "where one text ends", JOINED, "changed"))
            if turn is not entries[0][0]:
                self.record.losses.append(Loss(turn.path, "where the message begins", JOINED, "changed"))
            self.record.add(turn, (at,), positions)

    def _shell(self, turn: Instructions | Prompt, noted: JsonObject, content: Any) -> wire.Message:
        """Return the message of a turn. A server may require a message of the assistant before it."""
        if isinstance(turn, Prompt):
            self._bridge(turn.path)
            return wire.User(content=content)
        role = noted.get(ROLE) if noted.get(ROLE) in ("system", "developer") else self._dialect.system_role
        return wire.System(content=content) if role == "system" else wire.Developer(content=content)

    def _bridge(self, path: str) -> None:
        if self._is_after_results and not self._dialect.user_after_tool and not self._is_exact:
            self._append(wire.Assistant(content=BRIDGE), {})
            self.record.losses.append(Loss(path or "$", f"{BRIDGE!r} before it", REQUIRED, "repaired"))

    # Steps

    def _step(self, step: Step, *, is_over: bool) -> None:
        is_after_results = self._is_after_results
        noted: JsonObject = {}
        if step.number == 1:
            noted = message_notes(step.message, self._codecs.namespace)
        elif step.boundaries:
            noted = notes(step.boundaries[-1].part.provider_metadata, self._codecs.namespace)
        parts = self._sent(step, is_list=noted.get(CONTENT) == LIST)
        if is_over:
            parts = list(self._without_reasoning(parts))
        given = parts if step.text is None else [*parts, LocatedPart(TextPart(step.text), "")]
        message, positions, slices = write_assistant(given, noted, self._codecs)
        at: int | None = None
        if message is not None:
            if self._dialect.needs_reasoning and not self._is_exact:
                message = self._with_reasoning(message, noted, step.path)
            at = self._append(message, noted)
        for number, piece in slices.items():
            positions[number] = (piece.whole, number)
            self.slices[at, positions[number]] = piece._replace(whole=(at, piece.whole))
        if slices:
            self.record.losses.append(Loss(step.path, "where one text ends", JOINED, "changed"))
        if len(parts) > 1:
            self._report_order(parts, positions)
        shifted = [None if at is None or one is None else (at, one) for one in positions[: len(parts)]]
        self.record.add(_with_parts(step, parts), None if at is None else (at,), shifted)
        add_boundaries(self.record, step, at if is_after_results else None)

    def _without_reasoning(self, parts: Sequence[LocatedPart]) -> Iterator[LocatedPart]:
        for located in parts:
            part = located.part
            if isinstance(part, ReasoningPart) and reasoning_field(part, self._codecs) is not None:
                self.record.losses.append(Loss.of(located.path, part, EARLIER_TURN))
            else:
                yield located

    def _with_reasoning(self, message: wire.Assistant, noted: JsonObject, path: str) -> wire.Assistant:
        """Return a message with an empty reasoning, if it has none."""
        field = self._dialect.reasoning
        if field is None or getattr(message, field) or field in notes(noted, FIELDS):
            return message
        self.record.losses.append(Loss(path, "no reasoning", REQUIRED, "repaired"))
        return replace(message, **{field: ""})

    def _report_order(self, parts: Sequence[LocatedPart], positions: Sequence[Position | None]) -> None:
        latest = 0
        for (_, path), position in zip(parts, positions, strict=False):
            member = position[0] if type(position) is tuple else position
            if member is not None:
                rank = ORDER[member]
                if rank < latest:
                    self.record.losses.append(Loss(path, "its place", ORDERED, "changed"))
                latest = max(rank, latest)

    # Results

    def _results(self, turns: Sequence[Results]) -> None:
        """Write results in the order of their calls, or in which they were read; then their images."""
        steps = [turn.step for turn in turns if turn.step is not None]
        calls = {part.id: part for step in steps for part, _ in step.parts if type(part) is ToolCallPart}
        every = [located for turn in turns for located in turn.parts]
        if len(every) > 1:
            order = {id_: number for number, id_ in enumerate(calls)}
            every.sort(key=lambda located: self._rank(located.part, order))
        positions: dict[int, Position] = {}
        media: list[Any] = []
        first = len(self._messages)
        for located in every:
            part, path = located
            if not isinstance(part, ToolResultPart):
                continue
            positions[id(located)] = (first, (len(self._messages), "result"))
            self._result(part, calls.get(part.id))
            if not self._is_exact and (moved := media_in(part.output)):
                media += self._moved(part, moved, path)
        self._is_after_results = True
        for turn in turns:
            found = [positions.get(id(located)) for located in turn.parts]
            shown = (
                [LocatedPart(_without_media(part), path) for part, path in turn.parts]
                if media
                else turn.parts
            )
            self.record.add(_with_parts(turn, shown), (first, "results"), found)
        if media:
            self._bridge("")
            self._append(wire.User(content=tuple(media)), {})

    def _rank(self, part: Any, order: dict[str, int]) -> int:
        noted = notes(part.provider_metadata, self._codecs.namespace).get(INDEX)
        return noted if type(noted) is int else order.get(getattr(part, "id", ""), len(order))

    def _result(self, part: ToolResultPart, call: ToolCallPart | None) -> None:
        own = notes(part.provider_metadata, self._codecs.namespace)
        of_call = notes(call.call_provider_metadata if call else None, self._codecs.namespace)
        is_function = of_call.get(TYPE) == LEGACY or own.get(ROLE) == "function"
        codecs = self._codecs.function_results if is_function else self._codecs.results
        self._messages.append(codecs.write(part))

    def _moved(self, part: ToolResultPart, media: Sequence[Any], path: str) -> list[Any]:
        """Return the images and files of a result as items of a prompt."""
        assert isinstance(part.output, ContentOutput), "no other output has images"
        items: list[Any] = []
        for item in media:
            where = f"{path}.output.value[{part.output.value.index(item)}]"
            if (block := self._codecs.items.write(item)) is None:
                self.record.losses.append(Loss.of(where, item, NO_PLACE))
            else:
                self.record.losses.append(Loss(where, "its place", FILES_MOVED, "repaired"))
                items.append(block)
        intro = f"Content of the result of {TOOL_NAME.fit(part.name)} ({self._codecs.call_id(part.id)}):"
        return [wire.Text(text=intro), *items] if items else []


def _with_parts(turn: Any, parts: Sequence[LocatedPart]) -> Any:
    """Return a turn with other parts."""
    return turn if parts is turn.parts else turn._replace(parts=parts)


def _joined_texts(entries: Iterable[tuple[Turn, Sequence[Any]]]) -> str:
    """Return the texts of turns as one text."""
    texts = [[item.text for item in items if item is not None] for _, items in entries]
    return BETWEEN_TURNS.join([BETWEEN_TEXTS.join(some) for some in texts if some])


def _without_media(part: Any) -> Any:
    """A result without images and files, whose loss is reported separately."""
    if not isinstance(part, ToolResultPart) or not isinstance(part.output, ContentOutput):
        return part
    kept = tuple(item for item in part.output.value if not isinstance(item, MEDIA))
    return replace(part, output=replace(part.output, value=kept))


# Requests

NO_PARAMETERS: Final[JsonObject] = {"type": "object", "properties": {}}
LENGTHS: Final = ("max_tokens", "max_completion_tokens")
"""The names of the setting for the maximum of tokens."""


def _read_function(tool: wire.FunctionTool) -> ToolSpec:
    function = tool.function
    description = function.description if isinstance(function.description, str) else None
    return ToolSpec(name=function.name, description=description, input_schema=function.parameters or None)


def _write_function(spec: ToolSpec) -> wire.FunctionTool:
    function = wire.DeclaredFunction(
        name=spec.name,
        description=UNSET if spec.description is None else spec.description,
        parameters=NO_PARAMETERS if spec.input_schema is None else spec.input_schema,
    )
    return wire.FunctionTool(function=function)


def _is_own_tool(raw: Json) -> bool:
    match raw:
        case {"type": "function", "function": {"name": str(), "parameters": dict()}}:
            return False
        case _:
            return True


TOOLS: Final = Tools(NAME, wire.TOOL, _read_function, _write_function, _is_own_tool, TOOL_NAME)


def _read_request(payload: JsonObject, dialect: Dialect) -> Request:
    """Read the request around messages. Tools that are not functions remain settings."""
    settings: JsonObject = {key: item for key, item in payload.items() if key != "messages"}
    return Request(TOOLS.take(settings), settings, dialect.format_name)


def _write_request(payload: JsonObject, request: Request, dialect: Dialect, record: Record) -> JsonObject:
    """Return a payload with the settings and tools of a request.

    The limit of tokens gets the server's name for it, unless the request was written for this server.
    """
    is_own = request.api == dialect.format_name
    settings = {
        dialect.max_tokens if key in LENGTHS and not is_own else key: item
        for key, item in request.settings.items()
    }
    for index, spec in enumerate(request.tools):
        if spec.input_schema is None:
            record.losses.append(Loss(f"$.tools[{index}].inputSchema", "none", REQUIRED, "repaired"))
    return TOOLS.add(request, {**settings, **payload}, record)


def _format(server: str, title: str) -> Format:
    dialect = DIALECTS[server]
    write = partial(dump, dialect=dialect)
    return Format(
        dialect.format_name,
        title,
        partial(load, dialect=dialect),
        write,
        partial(ChatDecoder, dialect.namespace),
        ChatEncoder,
        takes_request=True,
        is_complete=True,
    )


FORMAT: Final = _format("openai", "OpenAI's Chat Completions, requests and responses")
RESPONSE: Final = Format(
    f"{NAME}-response",
    "responses of OpenAI's Chat Completions",
    load_response,
    dump_response,
    is_complete=True,
)
DEEPSEEK: Final = _format("deepseek", "Chat Completions of DeepSeek")
GROQ: Final = _format("groq", "Chat Completions of Groq")
MISTRAL: Final = _format("mistral", "Chat Completions of Mistral")
OLLAMA: Final = _format("ollama", "Chat Completions of Ollama")
OPENROUTER: Final = _format("openrouter", "Chat Completions of OpenRouter")
VLLM: Final = _format("vllm", "Chat Completions of vLLM")
XAI: Final = _format("xai", "Chat Completions of xAI")
