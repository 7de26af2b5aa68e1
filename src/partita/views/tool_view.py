"""Tool calls of every agent → views: their kind, title, and what they did (commands, changes, matches …).

`tool_view` is the only place that decides what a call is. The server sends the views with the messages; the
web UI and the terminal draw them.
"""

import re
from collections.abc import Callable, Mapping
from typing import Final, TypedDict, assert_never

from partita.errors import DecodeError
from partita.types.json import Json, JsonObject, dumps, is_array, is_object
from partita.types.messages import ToolCallPart
from partita.types.parts import ToolResultPart, ToolState
from partita.types.tool_views import (
    AgentView,
    Choice,
    CommandView,
    EditView,
    FetchView,
    FoundFile,
    Link,
    NetworkView,
    OtherView,
    PlanView,
    Question,
    QuestionView,
    ReadView,
    SearchView,
    Todo,
    TodoStatus,
    TodoView,
    ToolText,
    ToolView,
    WebSearchView,
)

from .call_data import CallData, first_text, integer, is_absolute, objects, texts
from .changes import BEGIN, find_changes, looks_like_change, path_of
from .commands import command_of, commits_of, pull_requests_of, result_of, split_folder
from .file_text import directory_entries, file_text, line_range
from .matches import find_matches
from .text import counted, one_line, size_of
from .tool_names import ACP_KINDS, NamedTool, find_tool, tool_title

LONGEST_TITLE: Final = 60
LONGEST_SUBJECT: Final = 240
LONGEST_DETAIL: Final = 300
MOST_LINKS: Final = 500
MOST_MEMBERS: Final = 6

COMMAND_MEMBERS: Final = frozenset({"command", "cwd", "description", "timeout", "workdir"})
"""A call whose input has only these members is a command, whatever the name of its tool is."""

NETWORK: Final = "networkExecution"


class Facts(TypedDict, total=False):
    """The members that every view may have besides its title and subject."""

    failed: bool
    seconds: float


def tool_view(part: ToolCallPart, directory: str | None = None) -> ToolView:
    """The view of a call. Paths inside `directory`, that of the session, become relative."""
    data = CallData(part, directory)
    if is_object((part.tool_metadata or {}).get(NETWORK)):
        return _network(data)
    tool = find_tool(part.name) or ACP_KINDS.get(str(data.acp.get("kind")))
    kind = tool.kind if tool else _kind_by_content(data)
    if kind == "command" and BEGIN in command_of(data):
        kind = "edit"  # Codex applies patches with a command, too
    elif kind == "edit" and data.word("command") == "view":
        kind = "read"  # Anthropic's text editor: https://docs.claude.com/en/docs/agents-and-tools/tool-use/text-editor-tool
    return VIEWS[kind](data, tool)


def result_view(part: ToolResultPart, directory: str | None = None) -> ToolView:
    """The view of a result whose call is in another message."""
    return tool_view(call_of_result(part), directory)


def call_of_result(part: ToolResultPart) -> ToolCallPart:
    """A result as a call of which only the output is known."""
    state: ToolState = "output-available"
    match part.output.type:
        case "error-text" | "error-json" | "interrupted":
            state = "output-error"
        case "execution-denied":
            state = "output-denied"
        case "text" | "json" | "content":
            pass
        case _:
            assert_never(part.output.type)
    return ToolCallPart(part.id, part.name, state, output=part.output)


def _kind_by_content(data: CallData) -> str:
    """The kind of a call of an unknown tool, by what it contains."""
    if data.part.children:
        return "agent"
    if looks_like_change(data):
        return "edit"
    if "todo" in data.part.name.lower() and _todos(data):
        return "todos"
    if data.word("command") and data.input.keys() <= COMMAND_MEMBERS:
        return "command"
    return "other"


def _facts(data: CallData, seconds: float | None = None) -> Facts:
    facts: Facts = {}
    if data.failed:
        facts["failed"] = True
    if seconds is None:
        seconds = _reported_seconds(data)
    if seconds is not None:
        facts["seconds"] = seconds
    return facts


def _reported_seconds(data: CallData) -> float | None:
    """The duration that Claude Code (in milliseconds) or Codex (in seconds) stores."""
    for name, unit in (("durationMs", 0.001), ("totalDurationMs", 0.001), ("duration_seconds", 1.0)):
        value = data.detail(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:
            return round(value * unit, 3)
    return None


def _subject(text: str) -> str:
    return one_line(text, LONGEST_SUBJECT)


def _command(data: CallData, _: NamedTool | None) -> CommandView:
    result = result_of(data)
    command, folder = split_folder(command_of(data))
    directory = data.word("workdir", "cwd", "dir_path", "directory")
    if folder and not data.is_directory(folder):
        directory = f"{directory}/{folder}" if directory and not is_absolute(folder) else folder
    elif folder:
        directory = ""
    return CommandView(
        title="Shell",
        subject=_subject(command),
        subject_is_code=True,
        notes=("in the background",) if data.input.get("run_in_background") is True else (),
        failure=f"Exit {result.exit_code}" if result.exit_code else None,
        command=command,
        description=data.word("description", "justification"),
        directory="" if data.is_directory(directory) else data.relative(directory),
        exit_code=result.exit_code,
        output=result.output,
        errors=result.errors,
        status=result.status,
        commits=commits_of(command, data.text),
        pull_requests=pull_requests_of(command, data.text),
        shown_items=data.acp_items("terminal"),
        **_facts(data, result.seconds),
    )


def _edit(data: CallData, tool: NamedTool | None) -> EditView:
    changes = find_changes(data)
    is_new = data.input.get("command") == "create" or (bool(changes) and changes[0].change == "add")
    path = changes[0].path if changes else data.relative(path_of(data)) or data.part.title or ""
    return EditView(
        title="Write" if is_new else tool.title if tool and tool.kind == "edit" else "Edit",
        subject=counted(len(changes), "file") if len(changes) > 1 else _subject(path),
        subject_is_code=len(changes) <= 1,
        changes=changes,
        shown_items=data.acp_items("diff"),
        **_facts(data),
    )


def _read(data: CallData, _: NamedTool | None) -> ReadView | SearchView:
    paths = [*texts(data.input.get("paths")), *texts(data.input.get("file_paths"))]
    path = path_of(data) or data.word("notebook_path", "url")
    shown = data.relative(path) if path else ", ".join(map(data.relative, paths))
    entries = directory_entries(data)
    if entries is not None:
        found = tuple(FoundFile(path=entry) for entry in entries)
        return SearchView(
            title="List",
            subject=_subject(shown),
            subject_is_code=True,
            notes=(f"{len(found):,} found" if found else "nothing found",),
            files=found,
            total=len(found),
            **_facts(data),
        )
    text, first, remark = file_text(data)
    lines = line_range(data)
    return ReadView(
        title="Read",
        subject=_subject(shown or data.part.title or ""),
        subject_is_code=True,
        notes=(lines,) if lines else (),
        path=shown,
        text=text,
        first_line=first,
        remark=remark,
        **_facts(data),
    )


def _search(data: CallData, tool: NamedTool | None) -> SearchView:
    pattern = data.word("pattern", "query", "regex", "search_term", "glob")
    place = data.word("path", "dir_path", "include", "directory")
    filters = [word for name in ("glob", "type") if (word := data.word(name)) and word != pattern]
    where = data.relative(place) if place and not data.is_directory(place) else ""
    subject = " ".join(
        [
            *([pattern] if pattern else []),
            *([f"in {where}" if pattern else where] if where else []),
            *(f"({word})" for word in filters),
        ]
    )
    found = find_matches(data)
    is_known = data.succeeded and not data.is_stored and found.total is not None
    return SearchView(
        title=tool.title if tool else "Search",
        subject=_subject(subject or place or data.part.title or ""),
        subject_is_code=True,
        notes=((f"{found.total:,} found" if found.total else "nothing found"),) if is_known else (),
        pattern=pattern[:LONGEST_DETAIL],
        files=() if data.failed else found.files,
        remarks=() if data.failed else found.remarks,
        total=found.total if is_known else None,
        **_facts(data),
    )


STATUSES: Final[Mapping[str, TodoStatus]] = {
    "completed": "completed",
    "complete": "completed",
    "done": "completed",
    "in_progress": "in_progress",
    "in-progress": "in_progress",
    "inprogress": "in_progress",
    "active": "in_progress",
    "running": "in_progress",
    "cancelled": "cancelled",
    "canceled": "cancelled",
    "deleted": "cancelled",
    "blocked": "blocked",
    "failed": "blocked",
}
"""The names that agents have for a status. Any other is pending."""


def _todos(data: CallData) -> tuple[Todo, ...]:
    """The items of a to-do list, wherever the agent puts them."""
    for name in ("todos", "plan", "items", "tasks"):
        found = objects(data.input.get(name))
        if found:
            return tuple(map(_todo, found))
    return tuple(map(_todo, objects(data.detail("newTodos", "tasks", "todos"))))


def _todo(item: JsonObject) -> Todo:
    text = first_text(item, "content", "step", "text", "description", "subject", "title", "task") or "…"
    status = "completed" if item.get("completed") is True else first_text(item, "status", "state").lower()
    return Todo(text=text, status=STATUSES.get(status, "pending"))


def _todo_list(data: CallData, _: NamedTool | None) -> TodoView:
    todos = _todos(data)
    done = sum(todo.status == "completed" for todo in todos)
    active = next((todo.text for todo in todos if todo.status == "in_progress"), "")
    return TodoView(
        title="To do",
        subject=_subject(active or data.word("explanation", "subject", "description", "taskId")),
        notes=(f"{done} of {len(todos)} done",) if todos else (),
        todos=todos,
        explanation=data.word("explanation"),
        **_facts(data),
    )


def _plan(data: CallData, _: NamedTool | None) -> PlanView:
    plan = data.located("plan")
    text = data.word("plan")
    for path, found in data.details:
        if plan is None and first_text(found, "plan"):
            plan, text = ToolText(path=(*path, "plan")), found["plan"]
    return PlanView(title="Plan", subject=_subject(text.lstrip("# \t\r\n")), plan=plan, **_facts(data))


def _question(data: CallData, _: NamedTool | None) -> QuestionView:
    items = objects(data.input.get("questions")) or [data.input]
    answers: Json = data.detail("answers")
    questions = [_question_of(question, answers) for question in items]
    if not any(question.answer for question in questions) and data.text and not data.failed:
        # Only the text for the model is known: it is displayed under the last question.
        last = questions[-1]
        questions[-1] = Question(text=last.text, choices=last.choices, answer=data.text[:4000])
    return QuestionView(
        title=counted(len(questions), "question") if len(questions) > 1 else "Question",
        subject=_subject(questions[0].text),
        questions=tuple(questions),
        **_facts(data),
    )


def _question_of(question: JsonObject, answers: Json) -> Question:
    text = first_text(question, "question", "text", "prompt", "message", "title")
    options: Json = question.get("options") or question.get("choices")
    keys = [text, first_text(question, "id")]
    answer = next((answers[key] for key in keys if key in answers), None) if is_object(answers) else None
    choices = [
        Choice(label=option)
        if isinstance(option, str)
        else Choice(
            label=first_text(option, "label", "text", "title"), description=first_text(option, "description")
        )
        for option in (options if is_array(options) else [])
    ]
    return Question(text=text, choices=tuple(choices), answer=_answer(answer))


def _answer(answer: Json) -> str:
    if answer is None:
        return ""
    if is_object(answer) and is_array(answer.get("answers")):  # Codex
        answer = answer["answers"]
    return ", ".join(map(_written, answer)) if is_array(answer) else _written(answer)


def _written(value: Json) -> str:
    """A text as it is, any other value as JSON."""
    if isinstance(value, str):
        return value
    try:
        return dumps(value).decode()
    except DecodeError:  # too deeply nested
        return "…"


URL: Final = re.compile(r"https?://\S+")


def _fetch(data: CallData, _: NamedTool | None) -> FetchView:
    prompt = data.word("prompt", "objective")
    in_prompt = URL.search(prompt[:10_000])  # Gemini CLI names the page in the prompt
    url = (
        data.word("url", "uri")
        or first_text(data.input.get("action"), "url")
        or (in_prompt[0] if in_prompt else "")
    )
    status, size = integer(data.detail("code", "status")), integer(data.detail("bytes"))
    return FetchView(
        title="Fetch",
        subject=_subject(url or data.part.title or ""),
        notes=(
            *([str(status)] if status is not None else []),
            *([size_of(size)] if size is not None else []),
        ),
        url=url,
        prompt=prompt if prompt != url else "",
        **_facts(data),
    )


def _web_search(data: CallData, _: NamedTool | None) -> WebSearchView:
    action = data.input.get("action")
    query = data.word("query", "q", "search_term", "objective") or first_text(action, "query", "url")
    return WebSearchView(
        title="Web search", subject=_subject(query), links=tuple(_links(data).values()), **_facts(data)
    )


def _links(data: CallData) -> dict[str, Link]:
    """The results of a search, wherever they are in what the tool returned, each address once."""
    found: dict[str, Link] = {}
    waiting: list[Json] = [data.value, data.detail("results", "sources", "webResults")]
    looked = 0
    while waiting and len(found) < MOST_LINKS and looked < 20 * MOST_LINKS:
        item = waiting.pop()
        looked += 1
        if is_array(item):
            waiting.extend(reversed(item[:MOST_LINKS]))
        elif is_object(item):
            url = first_text(item, "url", "uri", "link")
            if not url:
                waiting += [item.get("results"), item.get("content")]
            elif url not in found:
                text = first_text(item, "snippet", "description", "text", "content")[:LONGEST_DETAIL]
                found[url] = Link(
                    url=url, title=first_text(item, "title", "name")[:LONGEST_DETAIL], text=text
                )
    return found


PROMPTS: Final = ("prompt", "message", "task", "instructions", "input")


def _agent(data: CallData, tool: NamedTool | None) -> AgentView:
    agent = data.word("subagent_type", "agent_type", "agent", "agent_name", "role")
    description = data.word("description", "title", "task_name")
    name = tool.title if tool else data.part.title or tool_title(data.part.name)
    prompt = data.word(*PROMPTS) or data.input_text
    return AgentView(
        title=one_line(agent or name, LONGEST_TITLE),
        subject=_subject(description or prompt or _members(data)),
        agent=agent,
        description=description,
        prompt=data.located(*PROMPTS) or data.located_input(),
        **_facts(data),
    )


def _network(data: CallData) -> NetworkView:
    network: JsonObject = (data.part.tool_metadata or {})[NETWORK]
    given: Json = network.get("input")
    iteration = integer(network.get("iteration"))
    path = ("toolMetadata", NETWORK, "input")
    prompt: ToolText | None = None
    subject = ""
    if isinstance(given, str):
        prompt, subject = ToolText(path=path), given
    elif is_object(given) and isinstance(given.get("prompt"), str):
        prompt, subject = ToolText(path=(*path, "prompt")), given["prompt"]
    elif given is not None:
        subject = _written(given)
        prompt = ToolText(text=subject)
    return NetworkView(
        title=one_line(str(network.get("primitiveId", "")), LONGEST_TITLE),
        subject=_subject(subject or data.word("description", "title", "task_name")),
        notes=(
            str(network.get("primitiveType", "")),
            *([f"turn {iteration}"] if iteration is not None else []),
        ),
        prompt=prompt or data.located(*PROMPTS),
        **_facts(data),
    )


def _other(data: CallData, _: NamedTool | None) -> OtherView:
    return OtherView(
        title=one_line(data.part.title or tool_title(data.part.name), LONGEST_TITLE),
        subject=_subject(_members(data) or data.input_text),
        subject_is_code=True,
        **_facts(data),
    )


def _members(data: CallData) -> str:
    """The first members of the input, if none of them holds others."""
    members = list(data.input.items())[:MOST_MEMBERS]
    if any(is_object(value) or is_array(value) for _, value in members):
        return ""
    return ", ".join(f"{name}: {_written(value)[:80]}" for name, value in members)


VIEWS: Final[Mapping[str, Callable[[CallData, NamedTool | None], ToolView]]] = {
    "command": _command,
    "edit": _edit,
    "read": _read,
    "search": _search,
    "todos": _todo_list,
    "plan": _plan,
    "question": _question,
    "fetch": _fetch,
    "web-search": _web_search,
    "agent": _agent,
    "other": _other,
}
