"""Rendering of tool calls: a card for each kind of view, with state, input, sub-agent and output."""

from collections.abc import Iterator
from datetime import timedelta
from typing import assert_never

from msgspec import UNSET
from rich.console import RenderableType
from rich.text import Text

from partita.types.json import Json, is_object
from partita.types.messages import ToolCallPart, text_of
from partita.types.parts import ToolResultPart
from partita.types.tool_views import (
    AgentView,
    CommandView,
    EditView,
    FetchView,
    FoundFile,
    Match,
    NetworkView,
    OtherView,
    PlanView,
    Question,
    QuestionView,
    ReadView,
    SearchView,
    TodoStatus,
    TodoView,
    WebSearchView,
)
from partita.views.tool_names import tool_title
from partita.views.tool_view import call_of_result

from .console import Beside, Block, Row, Rows, SubAgentMessages
from .content import Prose, compact, describe, folded, tree
from .context import ViewContext
from .text import format_duration, lines_of, one_line, safe
from .tool_calls import (
    Call,
    Card,
    State,
    card_title,
    change_title,
    draw_change,
    errors,
    prepare_call,
    result_rows,
    state_of,
    value_rows,
)

COMMAND_HEAD, COMMAND_TAIL = 6, 6
READ_LINES = 4
FOUND_LINES = 6
PLAN_ROWS = 12
PAGE_ROWS = 6
LINKS = 8
PROMPT_ROWS = 3
RESULT_ROWS = 6
SHORT_INPUT = 72

BOXES: dict[TodoStatus, tuple[str, str]] = {
    "pending": ("[ ]", ""),
    "in_progress": ("[>]", "bold"),
    "completed": ("[x]", "dim"),
    "cancelled": ("[-]", "dim"),
    "blocked": ("[!]", "yellow"),
}


def draw_card(call: Call) -> Card:
    """Return the card of a call."""
    match call.view:
        case CommandView() as view:
            return _command(call, view)
        case EditView() as view:
            return _edit(call, view)
        case ReadView() as view:
            return _read(call, view)
        case SearchView() as view:
            return _search(call, view)
        case TodoView() as view:
            return _todos(call, view)
        case PlanView(plan=plan):
            body = [Prose(call.text(plan), call.context, PLAN_ROWS)] if plan else []
            return Card(card_title("plan"), [*body, *errors(call)])
        case QuestionView() as view:
            rows = [row for question in view.questions for row in _question(question)]
            return Card(card_title(view.title.lower()), [Rows(rows), *errors(call)])
        case FetchView() as view:
            return _fetch(call, view)
        case WebSearchView() as view:
            return _web_search(call, view)
        case AgentView() as view:
            return _agent(call, view)
        case NetworkView() as view:
            return _network(call, view)
        case OtherView():
            return _other(call)
        case _:
            assert_never(call.view)


def _command(call: Call, view: CommandView) -> Card:
    """`$ command`, its output, and its exit code if it is not 0."""
    first, *others = safe(view.command).strip("\n").split("\n")
    printed = folded(lines_of(call.text(view.output)), call.context, COMMAND_HEAD, COMMAND_TAIL)
    error_lines = folded(lines_of(call.text(view.errors)), call.context, COMMAND_HEAD, COMMAND_TAIL, "red")
    if not printed and not error_lines and view.exit_code is None:
        printed = value_rows(call)
    return Card(
        Text.assemble(("$ ", "bold green"), (first, "bold")),
        [Rows([*(Row(line, "bold", "> ") for line in others), *printed, *error_lines])],
        outcome=view.failure.lower() if view.failure else "",
        notes=[
            f"in {call.context.path(view.directory)}" if view.directory else "",
            *view.notes,
            one_line(view.status, 80),
        ],
        failed=view.failure is not None,
    )


def _edit(call: Call, view: EditView) -> Card:
    """The changed files with their lines."""
    verb = view.title.lower()
    if not view.changes:
        title = card_title(verb, call.context.path(view.subject))
        return Card(title, errors(call) or [Rows(result_rows(call))])
    body: list[RenderableType] = []
    if len(view.changes) == 1:
        title = Text().append(f"{verb}  ", "bold").append_text(change_title(view.changes[0], call.context))
        body.append(Rows(draw_change(view.changes[0], call)))
    else:
        title = card_title(verb, view.subject)
        for change in view.changes:
            body += [change_title(change, call.context), Rows(draw_change(change, call))]
    return Card(title, [*body, *errors(call)])


def _read(call: Call, view: ReadView) -> Card:
    """The file and the lines that were read, and the first of them."""
    notes = "".join(f" ({note})" for note in view.notes)
    body: list[RenderableType] = [] if view.failed else [Rows(_numbered(call, view) or value_rows(call))]
    if view.remark:
        body.append(Prose(view.remark, call.context, 1, "dim"))
    return Card(card_title("read", f"{call.context.path(view.path)}{notes}".strip()), [*body, *errors(call)])


def _numbered(call: Call, view: ReadView) -> list[Row]:
    """The first lines of a file with their numbers."""
    text = call.text(view.text)
    if not text.strip():
        return []
    lines = safe(text, tabs=4).removesuffix("\n").split("\n")
    width = len(str(view.first_line + len(lines)))
    rows = folded(lines, call.context, READ_LINES)
    count = len(lines) if len(rows) == len(lines) else READ_LINES
    numbers = [f"{view.first_line + index:>{width}}  " if index < count else "" for index in range(len(rows))]
    return [row._replace(prefix=number) for row, number in zip(rows, numbers, strict=True)]


def _search(call: Call, view: SearchView) -> Card:
    """The pattern and the folder of a search, the number of matches, and the first of them."""
    lines = (
        []
        if view.failed
        else [*view.remarks, *(line for file in view.files for line in _found(file, call.context))]
    )
    if not lines and not view.failed and view.total != 0:
        lines = lines_of(call.data.text)
    body = [Rows(folded([safe(line) for line in lines], call.context, FOUND_LINES) or value_rows(call))]
    has_pattern = bool(view.pattern) and view.subject.startswith(view.pattern)
    subject = f"“{view.pattern}”{view.subject[len(view.pattern) :]}" if has_pattern else view.subject
    return Card(card_title(view.title.lower(), subject), [*body, *errors(call)], notes=view.notes)


def _found(file: FoundFile, context: ViewContext) -> list[str]:
    """A file with its matches, as ripgrep prints them."""
    path = context.path(file.path, limit=None)
    if file.count is not None:
        return [f"{path}:{file.count}"]
    return [f"{path}{_line_number(match, path)}{match.text}" for match in file.matches] or [path]


def _line_number(match: Match, path: str) -> str:
    mark = "-" if match.context else ":"
    start = mark if path else ""
    return f"{start}{match.line}{mark}" if match.line is not None else start


def _todos(call: Call, view: TodoView) -> Card:
    """A to-do list with check boxes, and how many are done."""
    rows = [
        Row(one_line(todo.text), style, f"{box} ", style)
        for todo in view.todos
        for box, style in [BOXES[todo.status]]
    ]
    subject = view.explanation or ("" if view.todos else view.subject)
    return Card(card_title("to do", subject, 100), [Rows(rows), *errors(call)], notes=view.notes)


def _question(question: Question) -> list[Row]:
    """A question, its choices and its answer."""
    choices = [
        f"{choice.label}: {choice.description}" if choice.description else choice.label
        for choice in question.choices
    ]
    answer = [Row(one_line(question.answer, 400), "green", "→ ", "green")]
    return [
        Row(one_line(question.text), "bold"),
        *(Row(one_line(choice), prefix="- ") for choice in choices),
        *(answer if question.answer else []),
    ]


def _fetch(call: Call, view: FetchView) -> Card:
    """The URL of a page, the prompt about it, and the beginning of the result."""
    body = [] if view.failed or not call.data.text else [Prose(call.data.text, call.context, PAGE_ROWS)]
    return Card(
        card_title("fetch", view.url),
        [
            *([Rows([Row(one_line(view.prompt, 300), "dim")])] if view.prompt else []),
            *body,
            Rows(value_rows(call)),
            *errors(call),
        ],
        notes=view.notes,
    )


def _web_search(call: Call, view: WebSearchView) -> Card:
    """The query of a web search, and the pages that were found."""
    shown = view.links if call.context.full else view.links[:LINKS]
    rows = [
        row
        for link in shown
        for row in (
            *([Row(one_line(link.title, 80))] if link.title else []),
            Row(one_line(link.url), "blue", "  "),
        )
    ]
    if len(view.links) > len(shown):
        rows.append(Row(f"… {len(view.links) - len(shown)} more", "dim"))
    has_text = bool(call.data.text) and not view.links and not view.failed
    text = [Prose(call.data.text, call.context, PAGE_ROWS)] if has_text else []
    return Card(
        card_title("web search", f"“{view.subject}”" if view.subject else ""),
        [Rows(rows or value_rows(call)), *text, *errors(call)],
    )


def _agent(call: Call, view: AgentView) -> Card:
    """The agent that was started, its prompt and its result. Its messages are drawn or counted separately."""
    prompt = call.text(view.prompt)
    title = Text().append("agent", "bold")
    if view.title != "sub-agent":
        title.append(f" {one_line(view.title, 60)}", "bold cyan")
    subject = view.description or ("" if prompt else view.subject)
    if subject:
        title.append(f"  {one_line(subject)}")
    # With `full`, the prompt is drawn as the first message of the sub-agent.
    has_messages = call.context.full and bool(call.part.children)
    shown_prompt = [Prose(prompt, call.context, PROMPT_ROWS, "dim")] if prompt and not has_messages else []
    text = call.data.text
    result = Beside("→ ", Prose(text, call.context, RESULT_ROWS), "bold", once=True)
    output: list[RenderableType] = [result] if text and not _is_last_message(call) else []
    return Card(title, errors(call) or output or [Rows(value_rows(call))], input=shown_prompt)


def _is_last_message(call: Call) -> bool:
    """Whether the output is also the last message of the sub-agent, which is drawn right above."""
    children = call.part.children
    return call.context.full and bool(children) and text_of(children[-1]).strip() == call.data.text.strip()


def _network(call: Call, view: NetworkView) -> Card:
    """What a network selected, with its input and its result."""
    network: Json = (call.part.tool_metadata or {}).get("networkExecution")
    result: Json = network.get("finalResult") if is_object(network) else None
    text: Json = result.get("text") if is_object(result) else None
    body = [Prose(text, call.context, RESULT_ROWS)] if isinstance(text, str) and text else []
    return Card(card_title(view.title, view.subject), [*body, *errors(call)], notes=view.notes)


def _other(call: Call) -> Card:
    """Any other tool: its name, input and output."""
    value = call.data.input or call.data.input_text or _raw_input(call)
    flat = compact(value or {}, SHORT_INPUT + 1)
    members = value if is_object(value) else {}
    short = len(flat) <= SHORT_INPUT and not any(
        isinstance(member, (dict, list)) for member in members.values()
    )
    pairs = ", ".join(f"{key}: {compact(member)}" for key, member in members.items()) if short else ""
    shown = [] if short and is_object(value or {}) else [Rows(tree(value, call.context))]
    result = Beside("→ ", Rows(result_rows(call)), "bold", once=True)
    return Card(card_title(call.view.title, pairs), errors(call) or [result], input=shown)


def _raw_input(call: Call) -> Json:
    """Return an input that is neither an object nor text, or an incomplete input."""
    value: Json = call.part.raw_input if call.part.input is UNSET else call.part.input
    return None if value is UNSET else value


REASON_ROWS = 3


def draw_call(part: ToolCallPart, context: ViewContext, depth: int) -> Iterator[Block | SubAgentMessages]:
    """Yield the title and state of a call, its input, its sub-agent and its output."""
    call = prepare_call(part, context)
    card = draw_card(call)
    state = state_of(part)
    yield Block(_head(call, card, state), depth)
    if state.reason:
        yield Block(Prose(state.reason, context, REASON_ROWS, state.style), depth + 1, gap=False)
    for drawn in card.input:
        yield Block(drawn, depth + 1, gap=False)
    if part.children:
        yield SubAgentMessages(part.children, depth + 1, agent_name(call))
    for drawn in card.output:
        yield Block(drawn, depth + 1, gap=False)
    yield from _attachments(call, depth + 1)


def agent_name(call: Call) -> str:
    """Return the name of the sub-agent of a call."""
    name = call.view.agent if isinstance(call.view, AgentView) else ""
    return one_line(name or "sub-agent", 40)


def _head(call: Call, card: Card, state: State) -> Beside:
    part = call.part
    failed = card.failed and state.mark == "✓"
    mark, style = ("✗", "red") if failed else (state.mark, state.style)
    head = card.title.copy()
    label = card.outcome or state.label
    if label:
        head.append("  ").append(label, f"bold {style}")
    duration = call.context.durations.get(part.id)
    if duration is None and call.view.seconds is not None:
        duration = timedelta(seconds=call.view.seconds)
    notes = [
        *filter(None, card.notes),
        *([format_duration(duration)] if duration is not None and duration.total_seconds() >= 1 else []),
        *(["approved by the user"] if _approved(part) else []),
        *(["run by the provider"] if part.provider_executed else []),
        *(["tool no longer available"] if part.unavailable else []),
    ]
    if notes:
        head.append(f"  {' · '.join(notes)}", "dim")
    return Beside(f"{mark} ", head, style, once=True)


def _approved(part: ToolCallPart) -> bool:
    return part.approval is not None and part.approval.approved is True and not part.approval.is_automatic


def _attachments(call: Call, depth: int) -> Iterator[Block]:
    """Yield files and other items of an output, and why a part of it is not shown."""
    for file in call.files:
        yield Block(Rows([describe(file, call.context)]), depth, gap=False)
    for other in call.others:
        yield Block(Rows([describe(other, call.context)]), depth, gap=False)
    if call.withheld:
        yield Block(Rows([Row(f"(output: {call.withheld})", "dim")]), depth, gap=False)


def draw_result(part: ToolResultPart, context: ViewContext, depth: int) -> Iterator[Block | SubAgentMessages]:
    """Yield a result that is not in the same message as its call."""
    call = prepare_call(call_of_result(part), context)
    yield Block(
        _head(call, Card(card_title(f"result of {tool_title(part.name)}")), state_of(call.part)), depth
    )
    for drawn in errors(call) or [Rows(result_rows(call))]:
        yield Block(drawn, depth + 1, gap=False)
    yield from _attachments(call, depth + 1)
