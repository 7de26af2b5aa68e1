"""Two runs side by side, in a terminal."""

from collections.abc import Iterator, Mapping, Sequence

from rich.cells import cell_len
from rich.console import RenderableType
from rich.text import Text

from partita.runtime.compare.differences import TextPiece, show_value
from partita.runtime.compare.run_diff import PartDiff, RunDiff, RunFact, text_of
from partita.types.messages import Part, ToolCallPart
from partita.types.parts import ReasoningPart, TextPart
from partita.views.text import counted

from .bodies import compact
from .console import Beside, Row, Rows
from .listing import draw_run
from .text import fold, one_line, safe, took

MARKS = {"same": ("=", "dim"), "changed": ("~", "yellow"), "removed": ("-", "red"), "added": ("+", "green")}
STYLES = {"=": "", "-": "red strike", "+": "green"}
BRACKETS = {"=": ("", ""), "-": ("[-", "-]"), "+": ("{+", "+}")}
CONTEXT = 120
"""How much of what both have is shown between two changes."""

DIFFERENCES = 12
LONGEST = 200


def draw_diff(diff: RunDiff, ids: Mapping[str, str], *, colour: bool) -> Iterator[RenderableType]:
    """What is known of both, then their parts in order."""
    yield Text().append("- ", "red").append_text(draw_run(diff.a, ids[diff.a.id]))
    yield Text().append("+ ", "green").append_text(draw_run(diff.b, ids[diff.b.id]))
    yield Text("")
    yield from _facts([fact for fact in diff.facts if fact.a is not None or fact.b is not None])
    yield Text("")
    alike: list[PartDiff] = []
    for part in diff.parts:
        if part.kind == "same":
            alike.append(part)
            continue
        yield from _alike(alike)
        alike = []
        yield from _part(part, colour=colour)
    yield from _alike(alike)
    if diff.same:
        yield Text("Both said and did the same.", "green")


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
    """`+20 %`, where both are numbers."""
    a, b = fact.a, fact.b
    if isinstance(a, str) or isinstance(b, str) or not a or b is None or a == b:
        return ""
    return f"{(b - a) / a:+.0%}".replace("%", " %")


def _alike(parts: Sequence[PartDiff]) -> Iterator[Text]:
    """Parts that do not differ, on a line."""
    names = [part.label for part in parts if part.a is not None]
    if names:
        listed = one_line(", ".join(names), 60)
        yield Text(f"= {counted(len(names), 'part')} alike: {listed}", "dim")


def _part(part: PartDiff, *, colour: bool) -> Iterator[RenderableType]:
    mark, style = MARKS[part.kind]
    line = Text().append(f"{mark} ", style).append(one_line(part.label, 100), "bold")
    times = [took(one) for one in part.durations if one is not None]
    yield line.append(f"  {' → '.join(times)}" if times else "", "dim")
    for one, sign in ((part.a, "removed"), (part.b, "added")):
        if part.kind == sign and one is not None:
            yield Beside("    ", Rows([Row(_gist(one), MARKS[sign][1], cut=True)]))
    if part.kind == "changed":
        if any(piece.mark != "=" for piece in part.text_diff):
            yield Beside("    ", _words(part.text_diff, colour=colour))
        yield from _differences(part)


def _words(pieces: Sequence[TextPiece], *, colour: bool) -> Text:
    text = Text()
    for place, piece in enumerate(pieces):
        before, after = ("", "") if colour else BRACKETS[piece.mark]
        words = safe(piece.text)
        if piece.mark == "=":
            words = _shortened(words, is_first=place == 0, is_last=place == len(pieces) - 1)
        text.append(f"{before}{words}{after}", STYLES[piece.mark])
    return text


def _shortened(words: str, *, is_first: bool, is_last: bool) -> str:
    """The ends of a long piece that both have, next to the changes."""
    if len(words) <= 2 * CONTEXT:
        return words
    start = "" if is_first else words[:CONTEXT]
    end = "" if is_last else words[-CONTEXT:]
    return f"{start} … {end}".strip() + (" " if end.endswith(" ") else "")


def _differences(part: PartDiff) -> Iterator[RenderableType]:
    kept = fold([str(number) for number in range(len(part.differences))], DIFFERENCES)
    for place in map(int, kept.head):
        path, old, new = part.differences[place]
        line = Text(f"    {one_line(path.removeprefix('$.'), 80)}: ")
        line.append(one_line(show_value(old), LONGEST), "red").append(" → ", "dim")
        yield line.append(one_line(show_value(new), LONGEST), "green")
    if kept.hidden:
        yield Text(f"    … {counted(kept.hidden, 'more difference')}", "dim")


def _gist(part: Part) -> str:
    """A part on one line."""
    match part:
        case TextPart(text=text) | ReasoningPart(text=text):
            return one_line(text, LONGEST)
        case ToolCallPart(input=given, output=output):
            said = text_of(output)
            return one_line(compact(given, LONGEST) + (f" → {said}" if said else ""), LONGEST)
        case _:
            return one_line(str(part.__struct_config__.tag))
