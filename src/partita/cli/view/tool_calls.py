"""Tool calls: loading their outputs, their states, and the parts that their cards share."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, assert_never

from msgspec.structs import replace
from rich.console import RenderableType
from rich.text import Text

from partita.errors import DecodeError
from partita.store.blobs.moves import REFERENCE
from partita.types.json import Json, is_array, is_object, loads
from partita.types.messages import ToolCallPart
from partita.types.parts import (
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    FilePart,
    ForeignPart,
    ImagePart,
    InterruptedOutput,
    JsonOutput,
    TextOutput,
    TextPart,
    ToolOutput,
    UnknownPart,
)
from partita.types.tool_views import FileChange, ToolText, ToolView
from partita.views.call_data import CallData
from partita.views.call_states import StateKind, call_state
from partita.views.text import counted, size_of, split_lines
from partita.views.tool_text import read_text
from partita.views.tool_view import tool_view

from .console import Row, Rows
from .content import folded, tree
from .context import LONGEST_LINE, ViewContext
from .text import clipped, lines_of, one_line, safe

LARGEST = 1_000_000
"""How many bytes of a stored output are loaded without `full`."""


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call with its view, and its output with large values loaded."""

    part: ToolCallPart
    context: ViewContext
    view: ToolView
    data: CallData
    withheld: str = ""  # why the output or a part of it is not shown

    @property
    def files(self) -> tuple[ImagePart | FilePart, ...]:
        """Images and files in the output."""
        return tuple(item for item in self._items() if isinstance(item, ImagePart | FilePart))

    @property
    def others(self) -> tuple[ForeignPart | UnknownPart, ...]:
        """Other items of the output that the view does not contain."""
        items = [item for at, item in enumerate(self._items()) if at not in self.view.shown_items]
        return tuple(item for item in items if isinstance(item, ForeignPart | UnknownPart))

    def _items(self) -> tuple[object, ...]:
        return self.part.output.value if isinstance(self.part.output, ContentOutput) else ()

    def text(self, located: ToolText | None) -> str:
        """Return a text of the view."""
        return read_text(self.part, located)


def prepare_call(part: ToolCallPart, context: ViewContext) -> Call:
    """Return a call with its view and its output loaded."""
    output, withheld = _load(part.output, context)
    loaded = part if output is part.output else replace(part, output=output)
    return Call(loaded, context, tool_view(loaded, context.project), CallData(loaded), "; ".join(withheld))


def _load(output: ToolOutput | None, context: ViewContext) -> tuple[ToolOutput | None, list[str]]:
    """Return an output with large values loaded, and the reasons why others are not."""
    match output:
        case None | ExecutionDeniedOutput() | InterruptedOutput():
            return output, []
        case TextOutput() | JsonOutput() | ErrorTextOutput() | ErrorJsonOutput():
            value, withheld = _fetch(output.value, context)
            return _with_value(output, value), withheld
        case ContentOutput(value=items):
            fetched = [(item, *_fetch(item.text, context)) for item in items if isinstance(item, TextPart)]
            texts = {id(item): replace(item, text=text) for item, text, _ in fetched if text != item.text}
            reasons = [reason for _, _, withheld in fetched for reason in withheld]
            return replace(output, value=tuple(texts.get(id(item), item) for item in items)), reasons
        case _:
            assert_never(output)


def _with_value(
    output: TextOutput | JsonOutput | ErrorTextOutput | ErrorJsonOutput, value: Json
) -> ToolOutput:
    if value is output.value:
        return output
    if isinstance(output, TextOutput) and not isinstance(value, str):
        return JsonOutput(value=value)
    if isinstance(output, ErrorTextOutput) and not isinstance(value, str):
        return ErrorJsonOutput(value=value)
    return replace(output, value=value)


def _fetch(value: Json, context: ViewContext) -> tuple[Json, list[str]]:
    """Return the value that a reference refers to; any other value is returned unchanged."""
    match = REFERENCE.fullmatch(value) if isinstance(value, str) and value.startswith("blob:") else None
    if match is None or match["rest"] not in ("text", "json"):
        return value, []
    size = context.blobs.size(value)
    if size is not None and size > LARGEST and not context.full:
        return value, [f"{size_of(size)}; --full shows it"]
    data = None if size is None else context.blobs.read(value)
    if data is None:
        return value, ["deleted from the store"]
    return (data.decode("utf-8", "surrogatepass") if match["rest"] == "text" else loads(data)), []


MARKS: Mapping[StateKind, tuple[str, str]] = {
    "done": ("✓", "green"),
    "failed": ("✗", "red"),
    "denied": ("⊘", "red"),
    "interrupted": ("■", "yellow"),
    "open": ("…", "yellow"),
    "waiting": ("?", "magenta"),
}
"""The mark of a state, and its colour."""


class State(NamedTuple):
    """The state of a call: a mark, its colour, a label, and the given reason."""

    mark: str
    style: str
    label: str = ""
    reason: str = ""


def state_of(call: ToolCallPart) -> State:
    """Return the state of a call."""
    state = call_state(call)
    return State(*MARKS[state.kind], state.label, state.reason)


@dataclass(frozen=True, slots=True)
class Card:
    """The rendering of a call: title, output, and the input unless the title contains it."""

    title: Text
    output: Sequence[RenderableType] = ()
    input: Sequence[RenderableType] = ()
    outcome: str = ""  # replaces the label of the state
    notes: Sequence[str] = ()  # after the title; empty ones are left out
    failed: bool = False  # although its state is not a failure, as with an exit code


def card_title(name: str, subject: str = "", limit: int | None = None) -> Text:
    """Return the title of a card: the name of the tool, and the subject of the call."""
    title = Text().append(one_line(name, 80), "bold")
    return title.append(f"  {one_line(subject, limit)}") if subject else title


HEAD, TAIL = 6, 2
LONGEST_JSON = 200_000
"""Longer texts are not parsed as JSON. Tools of MCP servers often return JSON as text."""


def errors(call: Call) -> list[RenderableType]:
    """Return the error of a failed call; empty if it did not fail."""
    if not call.view.failed:
        return []
    value = call.data.value
    if is_object(value) or is_array(value):
        return [Rows([row._replace(style="red") for row in tree(value, call.context)])]
    return [Rows(folded(lines_of(call.data.text), call.context, HEAD, TAIL, "red"))]


def value_rows(call: Call) -> list[Row]:
    """Return the rows of an output that is a value instead of the expected text."""
    if call.view.failed or call.data.text or call.data.value is None:
        return []
    return tree(call.data.value, call.context)


def result_rows(call: Call) -> list[Row]:
    """Return the first and last lines of an output, a text or a value."""
    text, value = call.data.text, call.data.value
    if text[:1] in ("{", "[") and len(text) <= LONGEST_JSON:
        value = _parsed(text)
    if is_object(value) or is_array(value):
        return tree(value, call.context)
    return (
        folded(lines_of(text), call.context, HEAD, TAIL)
        if text or value is None
        else tree(value, call.context)
    )


def _parsed(text: str) -> Json:
    """Return the value of JSON text; `None` for any other text."""
    try:
        return loads(text)
    except DecodeError:
        return None


STYLES = {" ": "dim", "+": "green", "-": "red"}
CHANGE_LABELS = {"add": " new", "update": "", "delete": " deleted"}
SHOWN = 24
"""How many lines of a change are shown without `full`."""


def change_title(change: FileChange, context: ViewContext) -> Text:
    """Return `path  +3 -1`, and whether the file is new, deleted or moved."""
    text = Text(context.path(change.path))
    if change.moved_to:
        text.append(f" → {context.path(change.moved_to)}")
    text.append(CHANGE_LABELS[change.change], "bold")
    if change.added:
        text.append(f"  +{change.added:,}", "green")
    if change.removed:
        text.append(f"{' ' if change.added else '  '}-{change.removed:,}", "red")
    return text


def draw_change(change: FileChange, call: Call) -> list[Row]:
    """Return the lines of a change with their numbers if known; without `full`, the first of them."""
    hunks = [
        (
            hunk.lines if hunk.text is None else [f"+{line}" for line in split_lines(call.text(hunk.text))],
            hunk.old_start,
            hunk.new_start,
        )
        for hunk in change.hunks
    ]
    highest = max(((new or old or 0) + len(lines) for lines, old, new in hunks), default=0)
    is_numbered = any(old is not None or new is not None for _, old, new in hunks)
    width = len(str(highest)) + 1 if is_numbered else 0
    rows: list[Row] = []
    for index, (lines, old, new) in enumerate(hunks):
        if index:
            rows.append(Row("⋯", "dim", " " * width))
        rows.extend(_hunk_rows(lines, old, new, width, call.context))
    hidden = 0 if call.context.full or len(rows) <= SHOWN + 1 else len(rows) - SHOWN
    return [*rows[: len(rows) - hidden], Row(f"… {counted(hidden, 'more line')}", "dim")] if hidden else rows


def _hunk_rows(
    lines: list[str] | tuple[str, ...], old: int | None, new: int | None, width: int, context: ViewContext
) -> Iterator[Row]:
    for line in lines:
        mark, text = line[:1], line[1:]
        number = old if mark == "-" else new
        prefix = f"{number if number is not None else '':>{width - 1}} " if width else ""
        shown = safe(text.rstrip("\r").replace("\r", "\\r"), tabs=4)
        shown = shown if context.full else clipped(shown, LONGEST_LINE)
        yield Row(shown, STYLES[mark], f"{prefix}{mark} ", STYLES[mark])
        old = old + 1 if old is not None and mark != "+" else old
        new = new + 1 if new is not None and mark != "-" else new
