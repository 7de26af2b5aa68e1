"""A message in the terminal: one small drawing for each kind of part."""

from typing import assert_never

from msgspec import UNSET
from rich.console import Group, RenderableType
from rich.markdown import Markdown
from rich.padding import Padding
from rich.panel import Panel
from rich.rule import Rule
from rich.text import Text

from partita.types.codec import to_json
from partita.types.json import Json, dumps
from partita.types.messages import Message, Part, ToolCallPart
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

COLOURS = {
    "input-streaming": "yellow",
    "input-available": "yellow",
    "approval-requested": "magenta",
    "approval-responded": "magenta",
    "output-available": "green",
    "output-error": "red",
    "output-denied": "red",
}
WIDTH = 120
"""How much of a value is shown on one line."""


def draw_message(message: Message) -> RenderableType:
    """A message, part by part."""
    return Group(*(draw_part(part) for part in message.content.parts))


def draw_part(part: Part) -> RenderableType:
    """One part."""
    match part:
        case TextPart(text=text):
            return Padding(Markdown(text), (0, 1))
        case ReasoningPart(text=text):
            return Padding(Text(text, style="italic dim"), (0, 1, 0, 3))
        case ToolCallPart():
            return _draw_call(part)
        case ToolResultPart(id=id, name=name, output=output):
            return Panel(_draw_output(output), title=f"{name} {id}", title_align="left")
        case StepStartPart():
            return Rule(style="dim")
        case SourceUrlPart(url=url, title=title):
            return Text(f"  ↗ {title or url}  {url}", style="blue")
        case SourceDocumentPart(title=title, filename=filename):
            return Text(f"  ↗ {title}  {filename or ''}", style="blue")
        case ImagePart(url=url, name=name):
            return Text(f"  ▣ image {name or shorten(url)}", style="cyan")
        case FilePart(url=url, media_type=kind, filename=name):
            return Text(f"  ▤ {kind} {name or shorten(url)}", style="cyan")
        case ReasoningFilePart(url=url, media_type=kind):
            return Text(f"  ▤ {kind} {shorten(url)} (reasoning)", style="dim cyan")
        case DataPart(name=name, data=data):
            return Text(f"  ◆ {name} {shorten(data)}", style="cyan")
        case CustomPart(kind=kind):
            return Text(f"  ◇ {kind}", style="cyan")
        case SteeringMessagePart(parts=parts):
            return Panel(Group(*map(draw_part, parts)), title="the user, in between", title_align="left")
        case ForeignPart() | UnknownPart():
            return Text(f"  ? {shorten(to_json(part))}", style="dim")
        case _:
            assert_never(part)


def _draw_call(part: ToolCallPart) -> RenderableType:
    lines: list[RenderableType] = [Text(f"→ {shorten(_given(part))}")]
    if part.approval is not None:
        answer = {True: "approved", False: "denied", None: "waiting"}[part.approval.approved]
        why = part.approval.reason or part.approval.request_reason
        lines.append(Text(f"? approval {answer}{f': {why}' if why else ''}", style="magenta"))
    lines.extend(
        Panel(draw_message(child), title=f"{child.__struct_config__.tag}", title_align="left", style="dim")
        for child in part.children
    )
    if part.output is not None:
        lines.append(_draw_output(part.output))
    title = f"[bold]{part.title or part.name}[/] {part.state}"
    return Panel(Group(*lines), title=title, title_align="left", border_style=COLOURS[part.state])


def _given(part: ToolCallPart) -> Json:
    """The input, or the text of it so far."""
    if part.input is not UNSET:
        return part.input
    return "" if part.raw_input is UNSET else part.raw_input


def _draw_output(output: ToolOutput) -> RenderableType:
    match output:
        case TextOutput(value=value):
            return Text(f"← {shorten(value)}")
        case JsonOutput(value=value):
            return Text(f"← {shorten(value)}")
        case ErrorTextOutput(value=value):
            return Text(f"✗ {shorten(value)}", style="red")
        case ErrorJsonOutput(value=value):
            return Text(f"✗ {shorten(value)}", style="red")
        case ExecutionDeniedOutput(reason=reason):
            return Text(f"✗ not allowed{f': {reason}' if reason else ''}", style="red")
        case ContentOutput(value=items):
            return Group(*map(draw_part, items))
        case InterruptedOutput(reason=reason):
            return Text(f"✗ interrupted ({reason})", style="red")
        case _:
            assert_never(output)


def shorten(value: Json) -> str:
    """A value on one line, cut where a line ends."""
    text = value if isinstance(value, str) else dumps(value).decode()
    return text if len(text) <= WIDTH else text[: WIDTH - 1] + "…"
