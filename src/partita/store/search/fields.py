"""The searchable text of a message, by field, and its entry in the search index."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple, assert_never

from msgspec import UNSET
from msgspec.structs import replace

from partita.store.values import MESSAGE_FIELDS, SearchField
from partita.types.json import Json, is_array, is_object
from partita.types.messages import (
    AssistantContent,
    Content,
    Message,
    NetworkExecution,
    Part,
    SystemContent,
    ToolCallPart,
    ToolContent,
    UserContent,
    unlisted_calls,
)
from partita.types.parts import (
    ContentOutput,
    CustomPart,
    DataPart,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    FilePart,
    ForeignPart,
    ImagePart,
    InterruptedOutput,
    JsonOutput,
    ReasoningFilePart,
    ReasoningPart,
    SourceDocumentPart,
    SourceUrlPart,
    SteeringMessagePart,
    StepStartPart,
    TextOutput,
    TextPart,
    ToolOutput,
    ToolResultPart,
    UnknownPart,
)

from .tokens import index_text

MAX_FIELD = 256 * 1024
"""The number of characters of a field that are searchable. The rest is stored, but not found."""

ENCODED = re.compile(r"data:[-\w.+]+/[-\w.+]+(?:;[-\w.+=]+)*,[^\s\"'()<>\\]*|blob:sha256:[0-9a-f]+(?:#\S*)?")
ENCODED_LENGTH = 1024
BASE64 = re.compile(rf"[A-Za-z0-9+/_-]{{{ENCODED_LENGTH}}}")


class SearchFields(NamedTuple):
    """The searchable text of a message."""

    text: str
    reasoning: str
    tool_input: str
    tool_output: str


NO_FIELDS = SearchFields("", "", "", "")


class IndexedFields(SearchFields):
    """Fields as the index of SQLite stores them: their tokens, separated by spaces."""

    __slots__ = ()


def index_fields(fields: SearchFields) -> IndexedFields:
    """The tokens of fields. Computing them needs no database, so a worker process can do it."""
    return IndexedFields(*map(index_text, fields))


class SearchEntry(NamedTuple):
    """An entry of the index: a message by its key, or a title by the negative key of its thread."""

    owner: str
    key: int
    title: str
    fields: SearchFields


class _Pieces:
    """The text that was collected so far, and the contents that are not read yet."""

    __slots__ = ("contents", "reasoning", "text", "tool_input", "tool_output")

    def __init__(self, *contents: Content) -> None:
        self.text: list[str] = []
        self.reasoning: list[str] = []
        self.tool_input: list[str] = []
        self.tool_output: list[str] = []
        self.contents = list(contents)

    def joined(self) -> SearchFields:
        return SearchFields(
            _joined(self.text), _joined(self.reasoning), _joined(self.tool_input), _joined(self.tool_output)
        )


def fields_of(message: Message) -> SearchFields:
    """The searchable text, reasoning, calls and outputs of a message and of its sub-agents.

    Names of files and titles of sources count as text. Data URLs, `blob:` URLs, base64 and internal events
    are not searchable.
    """
    if message.internal and message.type == "event":
        return NO_FIELDS
    pieces = _Pieces(message.content)
    while pieces.contents:  # no recursion: sub-agents can be nested to any depth
        _add_content(pieces, pieces.contents.pop())
    return pieces.joined()


def fields_by_part(message: Message) -> Iterator[tuple[str, SearchFields]]:
    """The searchable text of each part with its path, in the order of reading: sub-agents follow their call.

    The path is empty for text that is in no part. Names of parameters are left out: most are not displayed.
    """
    if message.internal and message.type == "event":
        return
    waiting: list[tuple[str, Content | Part]] = [("", message.content)]
    while waiting:  # no recursion: sub-agents can be nested to any depth
        path, item = waiting.pop()
        pieces = _Pieces()
        inside: list[tuple[str, Content | Part]] = []
        if isinstance(item, UserContent | AssistantContent | SystemContent | ToolContent):
            inside += [(f"{path}{index}", part) for index, part in enumerate(item.parts)]
            network = item.network_execution if isinstance(item, AssistantContent) else None
            if network is not None:
                _add_network(pieces, network)
                result = network.final_result
                nested = () if result is None else enumerate(result.messages)
                inside += [(f"{path}network.messages.{number}.", one.content) for number, one in nested]
                path = f"{path}network"
            elif item.content is not None and not any(type(part) is TextPart for part in item.parts):
                pieces.text.append(item.content)
        elif isinstance(item, ToolCallPart):
            _add_part(
                pieces, replace(item, input=list(item.input.values())) if is_object(item.input) else item
            )
            inside += [(f"{path}.children.{n}.", child.content) for n, child in enumerate(item.children)]
        else:
            _add_part(pieces, item)
        fields = pieces.joined()
        if any(fields):
            yield path.rstrip("."), fields
        waiting += reversed(inside)


def texts_by_field(message: Message) -> dict[SearchField, str]:
    """The searchable text of a message by the name of its field."""
    return dict(zip(MESSAGE_FIELDS, fields_of(message), strict=True))


def _joined(pieces: Sequence[str]) -> str:
    if not pieces:
        return ""
    text = "\n".join(pieces)
    if ":" in text and ("data:" in text or "blob:" in text):
        text = ENCODED.sub(" ", text).strip()
    return text[:MAX_FIELD]


def _add_content(pieces: _Pieces, content: Content) -> None:
    for part in content.parts:
        _add_part(pieces, part)
    if content.content is not None and not any(type(part) is TextPart for part in content.parts):
        pieces.text.append(content.content)
    if isinstance(content, AssistantContent) and content.network_execution is not None:
        _add_network(pieces, content.network_execution)


def _add_part(pieces: _Pieces, part: Part) -> None:
    match part:
        case TextPart():
            pieces.text.append(part.text)
            for citation in part.citations or ():
                _add_names(pieces.text, citation.source.title)
        case ReasoningPart():
            pieces.reasoning.append(part.text)
        case ToolCallPart():
            _add_call(pieces, part)
        case ToolResultPart():
            pieces.tool_input.append(part.name)
            _add_output(pieces.tool_output, part.output)
        case FilePart(filename=name) | ReasoningFilePart(filename=name) | ImagePart(name=name):
            _add_names(pieces.text, name)
        case SourceUrlPart():
            _add_names(pieces.text, part.title)
        case SourceDocumentPart():
            _add_names(pieces.text, part.title, part.filename)
        case SteeringMessagePart():
            for inner in part.parts:
                _add_part(pieces, inner)
        case StepStartPart() | DataPart() | CustomPart() | ForeignPart() | UnknownPart():
            pass
        case _:
            assert_never(part)


def _add_names(pieces: list[str], *names: str | None) -> None:
    pieces.extend(name for name in names if name)


def _add_call(pieces: _Pieces, call: ToolCallPart) -> None:
    pieces.tool_input.append(call.name)
    _add_names(pieces.tool_input, call.title)
    arguments = call.raw_input if call.input is UNSET else call.input
    if arguments is not UNSET:
        _flatten(arguments, pieces.tool_input)
    if call.output is not None:
        _add_output(pieces.tool_output, call.output)
    if call.approval is not None:
        _add_names(pieces.tool_output, call.approval.reason)
    pieces.contents.extend(child.content for child in reversed(call.children))


def _add_output(pieces: list[str], output: ToolOutput) -> None:
    match output:
        case TextOutput(value=text) | ErrorTextOutput(value=text):
            _flatten(text, pieces)
        case JsonOutput(value=value) | ErrorJsonOutput(value=value):
            _flatten(value, pieces)
        case ExecutionDeniedOutput(reason=text) | InterruptedOutput(message=text):
            _add_names(pieces, text)
        case ContentOutput(value=items):
            for item in items:
                match item:
                    case TextPart(text=text):
                        _flatten(text, pieces)
                    case FilePart(filename=name) | ImagePart(name=name):
                        _add_names(pieces, name)
                    case ForeignPart() | UnknownPart():
                        pass
                    case _:
                        assert_never(item)
        case _:
            assert_never(output)


def _flatten(value: Json, pieces: list[str]) -> None:
    """Add the keys and the scalars of a JSON value, in order, up to `MAX_FIELD` characters."""
    stack: list[Json] = [value]
    remaining = MAX_FIELD
    while stack and remaining > 0:
        item = stack.pop()
        if isinstance(item, str):
            if len(item) < ENCODED_LENGTH or not _is_encoded(item):
                pieces.append(item)
                remaining -= len(item)
        elif is_object(item):
            for key, inner in reversed(item.items()):
                stack += (inner, key)
        elif is_array(item):
            stack.extend(reversed(item))
        elif item is not None:
            pieces.append(("true" if item else "false") if isinstance(item, bool) else str(item))
            remaining -= len(pieces[-1])


def _is_encoded(text: str) -> bool:
    """Whether a long text is encoded bytes, which are not searched."""
    if text.startswith(("data:", "blob:")):
        return ENCODED.fullmatch(text) is not None
    return BASE64.match(text) is not None


def _add_network(pieces: _Pieces, network: NetworkExecution) -> None:
    pieces.tool_input.append(network.primitive_id)
    _add_names(pieces.reasoning, network.selection_reason)
    if network.input is not UNSET:
        _flatten(network.input, pieces.tool_input)
    result = network.final_result
    if result is None:
        return
    _add_names(pieces.text, result.text)
    _add_names(pieces.tool_output, result.error)
    for call in unlisted_calls(result):
        _add_call(pieces, call)
    if result.value is not UNSET:
        _flatten(result.value, pieces.tool_output)
    pieces.contents.extend(message.content for message in reversed(result.messages))
