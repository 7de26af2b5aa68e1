"""Changes of files, drawn with the numbers of their lines."""

from collections.abc import Iterator, Sequence
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
    ToolState,
    UnknownPart,
)
from partita.types.tool_views import FileChange, ToolText, ToolView
from partita.views.call_data import CallData
from partita.views.text import counted, size_of, split_lines
from partita.views.tool_text import read_text
from partita.views.tool_view import tool_view

from .bodies import folded, tree
from .console import Row, Rows
from .look import LONGEST_LINE, Look
from .text import clipped, lines_of, one_line, safe

# A tool call ready to be drawn: what it is, and its output with large values fetched.

LARGEST = 1_000_000
"""How many bytes are fetched for an output of which a few lines are shown."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call, as the functions that draw it receive it."""

    part: ToolCallPart
    look: Look
    view: ToolView
    data: CallData
    withheld: str = ""  # why the output, or a part of it, is not shown

    @property
    def files(self) -> tuple[ImagePart | FilePart, ...]:
        """Images and files in the output."""
        return tuple(item for item in self._items() if isinstance(item, ImagePart | FilePart))

    @property
    def others(self) -> tuple[ForeignPart | UnknownPart, ...]:
        """Everything else in the output that the view does not contain."""
        items = [item for at, item in enumerate(self._items()) if at not in self.view.shown_items]
        return tuple(item for item in items if isinstance(item, ForeignPart | UnknownPart))

    def _items(self) -> tuple[object, ...]:
        return self.part.output.value if isinstance(self.part.output, ContentOutput) else ()

    def text(self, located: ToolText | None) -> str:
        """A text of the view."""
        return read_text(self.part, located)


def ready(part: ToolCallPart, look: Look) -> Call:
    """A call with its view."""
    output, withheld = _load(part.output, look)
    loaded = part if output is part.output else replace(part, output=output)
    return Call(loaded, look, tool_view(loaded, look.project), CallData(loaded), "; ".join(withheld))


def _load(output: ToolOutput | None, look: Look) -> tuple[ToolOutput | None, list[str]]:
    """An output with the large values that are fetched, and why others are not."""
    match output:
        case None | ExecutionDeniedOutput() | InterruptedOutput():
            return output, []
        case TextOutput() | JsonOutput() | ErrorTextOutput() | ErrorJsonOutput():
            value, withheld = _fetch(output.value, look)
            return _with_value(output, value), withheld
        case ContentOutput(value=items):
            fetched = [(item, *_fetch(item.text, look)) for item in items if isinstance(item, TextPart)]
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


def _fetch(value: Json, look: Look) -> tuple[Json, list[str]]:
    """The value that a reference refers to; any other value is returned as it is."""
    match = REFERENCE.fullmatch(value) if isinstance(value, str) and value.startswith("blob:") else None
    if match is None or match["rest"] not in ("text", "json"):
        return value, []
    size = look.blobs.size(value)
    if size is not None and size > LARGEST and not look.full:
        return value, [f"{size_of(size)}; --full shows it"]
    data = None if size is None else look.blobs.read(value)
    if data is None:
        return value, ["it was kept apart, and is gone"]
    return (data.decode("utf-8", "surrogatepass") if match["rest"] == "text" else loads(data)), []


# How far a call has come, in a mark and a few words that need no colour.

INTERRUPTIONS = {
    "aborted": "interrupted: someone stopped it",
    "timeout": "interrupted: it took too long",
    "lost": "no result: the agent went away",
}


class State(NamedTuple):
    """A mark, its colour, what is to be said beside it, and the reason that was given."""

    mark: str
    style: str
    words: str = ""
    reason: str = ""


def state_of(call: ToolCallPart) -> State:
    """The state of a call. What came of it counts for more than what its state says."""
    match call.output:
        case InterruptedOutput(reason=reason, message=message):
            return State("■", "yellow", INTERRUPTIONS[reason], message or "")
        case ExecutionDeniedOutput(reason=reason):
            return _denied(call, reason)
        case ErrorTextOutput() | ErrorJsonOutput():
            return State("✗", "red", "failed")
        case _:
            return _by_name(call, call.state)


def _by_name(call: ToolCallPart, state: ToolState) -> State:
    approval = call.approval
    match state:
        case "input-streaming":
            return State("…", "yellow", "its input is not whole")
        case "input-available":
            return State("…", "yellow", "no result")
        case "approval-requested":
            return State(
                "?", "magenta", "waiting for approval", approval.request_reason or "" if approval else ""
            )
        case "approval-responded" if approval is not None and approval.approved is False:
            return _denied(call, None)
        case "approval-responded":
            return State("…", "yellow", "approved, no result")
        case "output-available":
            return State("…", "yellow", "still at work") if call.preliminary else State("✓", "green")
        case "output-error":
            return State("✗", "red", "failed")
        case "output-denied":
            return _denied(call, None)
        case _:
            assert_never(state)


def _denied(call: ToolCallPart, reason: str | None) -> State:
    by = call.approval.reason if call.approval is not None else None
    return State("⊘", "red", "denied", reason or by or "")


# What the drawing of one call is made of.


@dataclass(frozen=True, slots=True)
class Card:
    """A title, what came of the call, and what it was given where the title does not say it."""

    title: Text
    output: Sequence[RenderableType] = ()
    input: Sequence[RenderableType] = ()
    ending: str = ""  # how it ended, in better words than those of its state
    notes: Sequence[str] = ()  # for the end of the title; empty ones say nothing
    failed: bool = False  # although the tool does not say so


def named(name: str, about: str = "", limit: int | None = None) -> Text:
    """The title of a call: its name, and what it is about."""
    title = Text().append(one_line(name, 80), "bold")
    return title.append(f"  {one_line(about, limit)}") if about else title


# What came of a call, when there is no better way to draw it.

HEAD, TAIL = 6, 2
LONGEST_JSON = 200_000
"""Longer texts are not parsed to find out whether they are JSON, as tools of MCP servers write it."""


def errors(call: Call) -> list[RenderableType]:
    """The error of a call that failed; nothing when it did not fail."""
    if not call.view.failed:
        return []
    value = call.data.value
    if is_object(value) or is_array(value):
        return [Rows([row._replace(style="red") for row in tree(value, call.look)])]
    return [Rows(folded(lines_of(call.data.text), call.look, HEAD, TAIL, "red"))]


def value_rows(call: Call) -> list[Row]:
    """A value that a tool returned where a text is expected."""
    if call.view.failed or call.data.text or call.data.value is None:
        return []
    return tree(call.data.value, call.look)


def result_rows(call: Call) -> list[Row]:
    """What came back, a text or a value, the first and last lines of it."""
    text, value = call.data.text, call.data.value
    if text[:1] in ("{", "[") and len(text) <= LONGEST_JSON:
        value = _parsed(text)
    if is_object(value) or is_array(value):
        return tree(value, call.look)
    return folded(lines_of(text), call.look, HEAD, TAIL) if text or value is None else tree(value, call.look)


def _parsed(text: str) -> Json:
    """The value of a text that is JSON; nothing when it is not."""
    try:
        return loads(text)
    except DecodeError:
        return None


STYLES = {" ": "dim", "+": "green", "-": "red"}
NOTES = {"add": " new", "update": "", "delete": " deleted"}
SHOWN = 24
"""How many lines of a change are shown when not all is asked for."""


def stat(change: FileChange, look: Look) -> Text:
    """`path  +3 -1`, and whether the file is new, gone or moved."""
    text = Text(look.path(change.path))
    if change.moved_to:
        text.append(f" → {look.path(change.moved_to)}")
    text.append(NOTES[change.change], "bold")
    if change.added:
        text.append(f"  +{change.added:,}", "green")
    if change.removed:
        text.append(f"{' ' if change.added else '  '}-{change.removed:,}", "red")
    return text


def draw_change(change: FileChange, call: Call) -> list[Row]:
    """The lines of a change, numbered where numbers are known; the first of them unless all is asked for."""
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
    for place, (lines, old, new) in enumerate(hunks):
        if place:
            rows.append(Row("⋯", "dim", " " * width))
        rows.extend(_numbered(lines, old, new, width, call.look))
    hidden = 0 if call.look.full or len(rows) <= SHOWN + 1 else len(rows) - SHOWN
    return [*rows[: len(rows) - hidden], Row(f"… {counted(hidden, 'more line')}", "dim")] if hidden else rows


def _numbered(
    lines: list[str] | tuple[str, ...], old: int | None, new: int | None, width: int, look: Look
) -> Iterator[Row]:
    for line in lines:
        mark, text = line[:1], line[1:]
        number = old if mark == "-" else new
        prefix = f"{number if number is not None else '':>{width - 1}} " if width else ""
        shown = safe(text.rstrip("\r").replace("\r", "\\r"), tabs=4)
        shown = shown if look.full else clipped(shown, LONGEST_LINE)
        yield Row(shown, STYLES[mark], f"{prefix}{mark} ", STYLES[mark])
        old = old + 1 if old is not None and mark != "+" else old
        new = new + 1 if new is not None and mark != "-" else new
