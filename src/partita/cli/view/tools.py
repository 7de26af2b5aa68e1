"""Tool calls, drawn for what they are. What nobody knows is drawn as what it was given and what it gave."""

from collections.abc import Callable, Iterator
from typing import TypeAlias

from partita.types.messages import ToolCallPart
from partita.types.tools import ToolResultPart

from .agents import draw_agent
from .block import Block, Descend
from .bodies import Prose, compact, tree
from .calls import Call, loaded, ready
from .card import Card, named
from .files import draw_change_card, draw_read, draw_search
from .look import Look
from .media import describe
from .patches import BEGIN, is_change
from .plans import draw_list, draw_plan, draw_question, todos_of
from .results import errors, result_rows
from .rows import Beside, Row, Rows
from .shell import command_of, draw_shell
from .states import State, state_of
from .text import one_line
from .times import took
from .web import draw_fetch, draw_web_search

Drawer: TypeAlias = Callable[[Call], Card]

TOOLS: dict[Drawer, tuple[str, ...]] = {
    draw_shell: (
        "bash", "bashoutput", "execute_command", "exec", "exec_command", "local_shell", "local_shell_call",
        "powershell", "run_in_terminal", "run_shell_command", "run_terminal_cmd", "shell", "shell_command",
        "terminal", "write_stdin",
    ),
    draw_change_card: (
        "apply_patch", "create_file", "edit", "edit_file", "multiedit", "notebookedit", "patch", "replace",
        "search_replace", "str_replace_based_edit_tool", "str_replace_editor", "write", "write_file",
    ),
    draw_read: ("notebookread", "read", "read_file", "read_many_files", "view", "view_file", "view_image"),
    draw_search: (
        "codebase_search", "file_search", "find", "glob", "grep", "grep_search", "list", "list_dir",
        "list_directory", "ls", "rg", "search_file_content", "toolsearch",
    ),
    draw_list: (
        "tasklist", "todo", "todo_list", "todo_write", "todoread", "todowrite", "update_plan", "write_todos",
    ),
    draw_plan: ("exitplanmode", "exit_plan_mode"),
    draw_question: ("ask_user", "ask_user_question", "askuserquestion", "question", "request_user_input"),
    draw_fetch: ("fetch", "web_fetch", "webfetch"),
    draw_web_search: ("google_web_search", "web_search", "web_search_call", "websearch"),
    draw_agent: ("agent", "spawn_agent", "task"),
}  # fmt: skip
BY_NAME: dict[str, Drawer] = {name: drawer for drawer, names in TOOLS.items() for name in names}
COMMAND_NAMES = frozenset({"command", "cwd", "description", "timeout", "workdir"})
"""An input of these alone is a command, whatever its tool is called."""

SHORT_INPUT = 72
REASON_ROWS = 3


def draw_call(part: ToolCallPart, look: Look, depth: int) -> Iterator[Block | Descend]:
    """A call: its title and state, what it was given, its sub-agent, what came of it."""
    call = ready(part, look)
    card = drawer_of(call)(call)
    state = state_of(part)
    yield Block(_head(call, card, state), depth)
    if state.reason:
        yield Block(Prose(state.reason, look, REASON_ROWS, state.style), depth + 1, gap=False)
    for drawn in card.input:
        yield Block(drawn, depth + 1, gap=False)
    if part.children:
        yield Descend(part.children, depth + 1, agent_name(call))
    for drawn in card.output:
        yield Block(drawn, depth + 1, gap=False)
    yield from _beside(call, depth + 1)


def drawer_of(call: Call) -> Drawer:
    """Who draws a call: by the name of its tool, else by what it was given."""
    name = call.part.name.lower()
    known = BY_NAME.get(name)
    if known is draw_shell and BEGIN in command_of(call):
        return draw_change_card
    if known is not None:
        return known
    if is_change(call):
        return draw_change_card
    if todos_of(call) and "todo" in name:
        return draw_list
    if call.word("command") and call.input.keys() <= COMMAND_NAMES:
        return draw_shell
    return draw_unknown


def agent_name(call: Call) -> str:
    """What a sub-agent is called."""
    return one_line(
        call.word("subagent_type", "agent_type", "agent", "agent_name", "role") or "sub-agent", 40
    )


def tool_name(name: str) -> str:
    """The name of a tool; of one behind MCP its server too."""
    if name.startswith("mcp__"):
        server, _, tool = name.removeprefix("mcp__").partition("__")
        return f"{server}: {tool}" if tool else name
    return name


def draw_unknown(call: Call) -> Card:
    """Name, input and output as they are."""
    name = tool_name(call.part.name)
    flat = compact(call.input or call.words or {}, SHORT_INPUT + 1)
    short = len(flat) <= SHORT_INPUT and not any(isinstance(v, (dict, list)) for v in call.input.values())
    pairs = ", ".join(f"{key}: {compact(value)}" for key, value in call.input.items()) if short else ""
    given = [] if short and not call.words else [Rows(tree(call.input or call.words, call.look))]
    title = named(call.part.title or name, pairs)
    result = Beside("→ ", Rows(result_rows(call)), "bold", once=True)
    return Card(title, errors(call) or [result], input=given)


def _head(call: Call, card: Card, state: State) -> Beside:
    part = call.part
    failed = card.failed and state.mark == "✓"
    mark, style = ("✗", "red") if failed else (state.mark, state.style)
    head = card.title.copy()
    words = card.ending or state.words
    if words:
        head.append("  ").append(words, f"bold {style}")
    duration = call.look.durations.get(part.id)
    notes = [
        *filter(None, card.notes),
        *([took(duration)] if duration is not None and duration.total_seconds() >= 1 else []),
        *(["approved by the user"] if _approved(part) else []),
        *(["by the provider"] if part.provider_executed else []),
        *(["the tool is gone"] if part.unavailable else []),
    ]
    if notes:
        head.append(f"  {' · '.join(notes)}", "dim")
    return Beside(f"{mark} ", head, style, once=True)


def _approved(part: ToolCallPart) -> bool:
    return part.approval is not None and part.approval.approved is True and not part.approval.is_automatic


def _beside(call: Call, depth: int) -> Iterator[Block]:
    """Files and whatever else came with an output, and what was left where it is."""
    for file in call.given.files:
        yield Block(Rows([describe(file, call.look)]), depth, gap=False)
    for other in call.given.others:
        yield Block(Rows([describe(other, call.look)]), depth, gap=False)
    if call.given.withheld:
        yield Block(Rows([Row(f"(output: {call.given.withheld})", "dim")]), depth, gap=False)


def draw_result(part: ToolResultPart, look: Look, depth: int) -> Iterator[Block | Descend]:
    """A result apart from its call."""
    call = ToolCallPart(part.id, part.name, "output-available", output=part.output)
    shown = Call(call, look, {}, "", loaded(part.output, look))
    head = named(f"result of {tool_name(part.name)}")
    yield Block(_head(shown, Card(head), state_of(call)), depth)
    for drawn in errors(shown) or [Rows(result_rows(shown))]:
        yield Block(drawn, depth + 1, gap=False)
    yield from _beside(shown, depth + 1)
