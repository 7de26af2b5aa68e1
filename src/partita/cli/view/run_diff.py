"""Rendering of the differences between two runs."""

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.console import RenderableType
from rich.text import Text

from partita.runtime.compare.differences import TextPiece, show_value
from partita.runtime.compare.run_diff import PartDiff, RunDiff, RunFact, text_of
from partita.types.messages import Part, ToolCallPart
from partita.types.parts import ReasoningPart, TextPart
from partita.views.text import counted

from .console import Beside, Row, Rows
from .content import compact
from .listing import draw_run
from .text import format_duration, one_line, safe

MARKS = {"same": ("=", "dim"), "changed": ("~", "yellow"), "removed": ("-", "red"), "added": ("+", "green")}
STYLES = {"=": "", "-": "red strike", "+": "green"}
BRACKETS = {"=": ("", ""), "-": ("[-", "-]"), "+": ("{+", "+}")}
CONTEXT = 120
"""How many unchanged characters are shown next to a change."""

DIFFERENCES = 12
LONGEST = 200


def draw_diff(diff: RunDiff, *, colour: bool) -> Iterator[RenderableType]:
    """Yield the facts about both runs, then their parts in order."""
    yield Text().append("- ", "red").append_text(draw_run(diff.a, diff.a.id))
    yield Text().append("+ ", "green").append_text(draw_run(diff.b, diff.b.id))
    yield Text("")
    yield from _facts([fact for fact in diff.facts if fact.a is not None or fact.b is not None])
    yield Text("")
    equal: list[PartDiff] = []
    for part in diff.parts:
        if part.kind == "same":
            equal.append(part)
            continue
        yield from _equal(equal)
        equal = []
        yield from _part(part, colour=colour)
    yield from _equal(equal)
    if diff.same:
        yield Text("Both runs are equal.", "green")


def _facts(facts: Sequence[RunFact]) -> Iterator[Text]:
    cells = [(fact.name, _cell(fact.a), _cell(fact.b), _change(fact)) for fact in facts]
    widths = [max(cell_len(cell[column]) for cell in cells) for column in range(3)]
    for fact, (name, a, b, change) in zip(facts, cells, strict=True):
        differs = fact.a != fact.b
        line = Text(no_wrap=True).append("~ " if differs else "= ", "yellow" if differs else "dim")
        line.append(name.ljust(widths[0]), "" if differs else "dim")
        line.append(f"  {a.rjust(widths[1])}", "red" if differs else "dim")
        line.append(f"  {b.rjust(widths[2])}", "green" if differs else "dim")
        line.append(f"  {change}" if change else "", "dim")
        line.rstrip()
        yield line


def _cell(value: str | float | None) -> str:
    match value:
        case None:
            return "–"
        case str():
            return one_line(value, 40)
        case int():
            return f"{value:,}"
        case _:
            return f"{value:,.4f}".rstrip("0").rstrip(".")


def _change(fact: RunFact) -> str:
    """Return `+20 %` if both values are numbers."""
    a, b = fact.a, fact.b
    if isinstance(a, str) or isinstance(b, str) or not a or b is None or a == b:
        return ""
    return f"{(b - a) / a:+.0%}".replace("%", " %")


def _equal(parts: Sequence[PartDiff]) -> Iterator[Text]:
    """Yield one line for parts without differences."""
    names = [part.label for part in parts if part.a is not None]
    if names:
        listed = one_line(", ".join(names), 60)
        yield Text(f"= {counted(len(names), 'equal part')}: {listed}", "dim")


def _part(part: PartDiff, *, colour: bool) -> Iterator[RenderableType]:
    mark, style = MARKS[part.kind]
    line = Text().append(f"{mark} ", style).append(one_line(part.label, 100), "bold")
    times = [format_duration(one) for one in part.durations if one is not None]
    yield line.append(f"  {' → '.join(times)}" if times else "", "dim")
    for one, sign in ((part.a, "removed"), (part.b, "added")):
        if part.kind == sign and one is not None:
            yield Beside("    ", Rows([Row(_summary(one), MARKS[sign][1], cut=True)]))
    if part.kind == "changed":
        if any(piece.mark != "=" for piece in part.text_diff):
            yield Beside("    ", _text_diff(part.text_diff, colour=colour))
        yield from _differences(part)


def _text_diff(pieces: Sequence[TextPiece], *, colour: bool) -> Text:
    text = Text()
    for index, piece in enumerate(pieces):
        before, after = ("", "") if colour else BRACKETS[piece.mark]
        shown = safe(piece.text)
        if piece.mark == "=":
            shown = _shorten(shown, is_first=index == 0, is_last=index == len(pieces) - 1)
        text.append(f"{before}{shown}{after}", STYLES[piece.mark])
    return text


def _shorten(text: str, *, is_first: bool, is_last: bool) -> str:
    """Return the ends of a long unchanged piece that are next to changes."""
    if len(text) <= 2 * CONTEXT:
        return text
    start = "" if is_first else text[:CONTEXT]
    end = "" if is_last else text[-CONTEXT:]
    return f"{start} … {end}".strip() + (" " if end.endswith(" ") else "")


def _differences(part: PartDiff) -> Iterator[RenderableType]:
    count = len(part.differences)
    shown = count if count <= DIFFERENCES + 1 else DIFFERENCES
    for path, old, new in part.differences[:shown]:
        line = Text(f"    {one_line(path.removeprefix('$.'), 80)}: ")
        line.append(one_line(show_value(old), LONGEST), "red").append(" → ", "dim")
        yield line.append(one_line(show_value(new), LONGEST), "green")
    if shown < count:
        yield Text(f"    … {counted(count - shown, 'more difference')}", "dim")


def _summary(part: Part) -> str:
    """Return a part on one line."""
    match part:
        case TextPart(text=text) | ReasoningPart(text=text):
            return one_line(text, LONGEST)
        case ToolCallPart(input=given, output=output):
            text = text_of(output)
            return one_line(compact(given, LONGEST) + (f" → {text}" if text else ""), LONGEST)
        case _:
            return one_line(str(part.__struct_config__.tag))
