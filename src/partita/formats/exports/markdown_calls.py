"""Tool calls in Markdown, by the kind of their view: commands as console blocks, edits as diffs."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, assert_never

from msgspec import UNSET

from partita.types.json import Json, indented, is_array, is_object
from partita.types.messages import ToolCallPart, text_of
from partita.types.parts import (
    ContentOutput,
    FilePart,
    ForeignPart,
    ImagePart,
    ReasoningFilePart,
    UnknownPart,
)
from partita.types.tool_views import (
    AgentView,
    CommandView,
    EditView,
    FetchView,
    FileChange,
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
    ToolText,
    ToolView,
    WebSearchView,
)
from partita.views.call_data import CallData
from partita.views.call_states import call_state
from partita.views.text import split_lines
from partita.views.tool_text import read_text
from partita.views.tool_view import tool_view

from .markdown_text import WEB, block, code, fenced, folded, is_long, line, link, prose, quoted

BOXES: Final[dict[TodoStatus, str]] = {
    "pending": "- [ ] ",
    "in_progress": "- [ ] ▶ ",
    "completed": "- [x] ",
    "cancelled": "- [ ] cancelled: ",
    "blocked": "- [ ] blocked: ",
}
CHANGES: Final = {"add": "new", "update": "", "delete": "deleted"}
LONGEST_LANGUAGE: Final = 12


class WrittenCall(NamedTuple):
    """A call in Markdown: its title and input, then its output. Messages of a sub-agent are between them.

    `has_input`, `has_output`: whether all of the input or output is written.
    """

    start: str
    end: str = ""
    has_input: bool = False
    has_output: bool = False


def write_call(call: ToolCallPart, directory: str | None = None) -> WrittenCall:
    """Write a call. Paths inside `directory`, that of the session, become relative."""
    one = _Call(call, tool_view(call, directory), CallData(call, directory))
    match one.view:
        case CommandView() as view:
            return _command(one, view)
        case EditView(changes=changes) as view if changes:
            return _edit(one, view)
        case ReadView() as view if one.text(view.text):
            language = _language(view.path)
            return one.written(
                code(view.path), view.notes, block("Content", one.text(view.text), language), view.remark
            )
        case SearchView() as view if view.files or view.remarks:
            lines = [*view.remarks, *(text for file in view.files for text in _found(file))]
            return one.written(code(view.subject), view.notes, block("Matches", "\n".join(lines)))
        case TodoView(todos=todos) as view if todos:
            items = "".join(f"{BOXES[todo.status]}{line(todo.text)}\n" for todo in todos)
            return one.written(line(view.explanation), view.notes, f"{items}\n")
        case PlanView(plan=plan) if plan:
            return one.written("", (), quoted(prose(one.text(plan)).rstrip()))
        case QuestionView(questions=questions):
            return one.written("", (), "".join(map(_question, questions)))
        case FetchView() as view:
            prompt = f"{line(view.prompt)}\n\n" if view.prompt else ""
            return one.written(link(view.url, view.url), view.notes, prompt, one.data.text)
        case WebSearchView(links=links) as view if links:
            items = "".join(f"- {link(found.title or found.url, found.url)}\n" for found in links)
            return one.written(code(view.subject) if view.subject else "", view.notes, f"{items}\n")
        case AgentView() | NetworkView() as view:
            return _agent(one, view)
        case EditView() | ReadView() | SearchView() | TodoView() | PlanView() | WebSearchView() | OtherView():
            return _other(one)
        case _:
            assert_never(one.view)


class _Call(NamedTuple):
    """A call with its view and its data."""

    part: ToolCallPart
    view: ToolView
    data: CallData

    def text(self, located: ToolText | None) -> str:
        """A text of the view."""
        return read_text(self.part, located)

    def head(self, subject: str, notes: Sequence[str], outcome: str = "") -> str:
        """The line above a call: its title, what it is about, and how it ended if it failed."""
        state = call_state(self.part)
        seconds = self.view.seconds
        facts = [
            f"**{line(self.view.title)}** {subject}".rstrip(),
            *map(line, notes),
            outcome or state.label,
            line(state.reason),
            f"{seconds:.1f} s" if seconds is not None and seconds >= 1 else "",
        ]
        return f"{' · '.join(filter(None, facts))}\n\n"

    def written(
        self, subject: str, notes: Sequence[str], body: str, output: str = "", *, outcome: str = ""
    ) -> WrittenCall:
        """A call whose view says it all. The error of a failed one and files are added."""
        failed = self._error() if self.view.failed else output and block("Output", output)
        return WrittenCall(self.head(subject, notes, outcome) + body, failed + self.attachments())

    def _error(self) -> str:
        if is_object(self.data.value) or is_array(self.data.value):
            return block("Error", indented(self.data.value).decode(), "json")
        return block("Error", self.data.text) if self.data.text else ""

    def attachments(self) -> str:
        """Files and other items of an output that the view does not contain."""
        if not isinstance(self.part.output, ContentOutput):
            return ""
        items = enumerate(self.part.output.value)
        return "".join(_item(item) for at, item in items if at not in self.view.shown_items)


def _item(item: object) -> str:
    match item:
        case ImagePart() | FilePart():
            return f"{file_line(item)}\n\n"
        case ForeignPart(value=value):
            return block("Content", indented(value).decode(), "json")
        case UnknownPart(raw=raw):
            return block("Content", indented(dict(raw)).decode(), "json")
        case _:
            return ""


def file_line(part: ImagePart | FilePart | ReasoningFilePart) -> str:
    """A file by its name. Its bytes are not in the document."""
    named = part.name if isinstance(part, ImagePart) else part.filename
    name = line(named or part.media_type or "file")
    if WEB.fullmatch(part.url):
        return f"File: {link(name, part.url)}"
    return f"*File: {name} (not included)*"


def _command(call: _Call, view: CommandView) -> WrittenCall:
    """`$ command` and its output in a console block. A long output is folded."""
    texts = (call.text(view.output), call.text(view.errors))
    output = "\n".join(text.rstrip("\n") for text in texts if text)
    if not output and view.exit_code is None:
        output = _value_text(call.data)
    prompt = "$ " + view.command.strip("\n").replace("\n", "\n> ")
    in_place = output and not is_long(output)
    body = fenced(f"{prompt}\n{output}" if in_place else prompt, "console")
    if output and not in_place:
        body += block("Output", output)
    notes = [*([f"in {code(view.directory)}"] if view.directory else []), *view.notes, view.status]
    head = call.head(line(view.description), notes, line(view.failure or "").lower())
    return WrittenCall(head + body, call.attachments())


def _value_text(data: CallData) -> str:
    """An output that is a value instead of a text."""
    return "" if data.text or data.value is None else indented(data.value).decode()


def _edit(call: _Call, view: EditView) -> WrittenCall:
    """The changed files, each with a diff."""
    if len(view.changes) == 1:
        change = view.changes[0]
        return call.written(_changed_file(change), (), _diff(change, call))
    body = "".join(f"{_changed_file(change)}\n\n{_diff(change, call)}" for change in view.changes)
    return call.written(line(view.subject), (), body)


def _changed_file(change: FileChange) -> str:
    moved = f" → {code(change.moved_to)}" if change.moved_to else ""
    counts = [f"+{change.added:,}"] if change.added else []
    counts += [f"−{change.removed:,}"] if change.removed else []
    facts = [*filter(None, [CHANGES[change.change]]), " ".join(counts)]
    return " · ".join([f"{code(change.path)}{moved}", *filter(None, facts)])


def _diff(change: FileChange, call: _Call) -> str:
    lines: list[str] = []
    for hunk in change.hunks:
        texts = hunk.lines
        if hunk.text is not None:
            texts = tuple(f"+{text}" for text in split_lines(call.text(hunk.text)))
        old = sum(not text.startswith("+") for text in texts)
        new = sum(not text.startswith("-") for text in texts)
        if hunk.old_start is not None or hunk.new_start is not None:
            lines.append(f"@@ -{hunk.old_start or 0},{old} +{hunk.new_start or 0},{new} @@")
        elif lines:
            lines.append("@@")
        lines += texts
    return block("Changes", "\n".join(lines), "diff") if lines else ""


def _found(file: FoundFile) -> list[str]:
    """A file with its matches, as ripgrep prints them."""
    if file.count is not None:
        return [f"{file.path}:{file.count}"]
    return [_match(file.path, match) for match in file.matches] or [file.path]


def _match(path: str, match: Match) -> str:
    mark = "-" if match.context else ":"
    place = [*([path] if path else []), *([str(match.line)] if match.line is not None else [])]
    return "".join(f"{one}{mark}" for one in place) + match.text


def _question(question: Question) -> str:
    choices = [
        f"- {line(choice.label)}" + (f": {line(choice.description)}" if choice.description else "")
        for choice in question.choices
    ]
    listed = "\n".join(choices) + "\n\n" if choices else ""
    answer = f"Answer: {line(question.answer)}\n\n" if question.answer else ""
    return f"{line(question.text)}\n\n{listed}{answer}"


def _agent(call: _Call, view: AgentView | NetworkView) -> WrittenCall:
    """A sub-agent or a network: its prompt, and its result after its messages, if these do not have them."""
    children = call.part.children
    prompt = call.text(view.prompt)
    subject = view.description if isinstance(view, AgentView) else ""
    subject = line(subject or ("" if prompt else view.subject))
    is_first = bool(children) and text_of(children[0]).strip() == prompt.strip()
    asked = folded("Prompt", quoted(prompt)) if prompt and not is_first else ""
    output = call.data.text or _value_text(call.data)
    if children and text_of(children[-1]).strip() == output.strip():
        output = ""
    result = folded("Result", quoted(output)) if is_long(output) else quoted(output)
    written = call.written(subject, view.notes, asked)
    return written if call.view.failed else written._replace(end=result + written.end)


def _other(call: _Call) -> WrittenCall:
    """Any other call: its input and its output as they are."""
    part = call.part
    given: Json = part.raw_input if part.input is UNSET else part.input
    is_titled = part.name.lower() != call.view.title.lower()
    head = call.head(code(part.name) if is_titled else "", ())
    shown = "" if given is UNSET or given is None or given == {} else _value_block("Input", given)
    output = call.data.text if call.data.text or call.data.value is None else call.data.value
    end = _value_block("Error" if call.view.failed else "Output", output) if output not in ("", None) else ""
    return WrittenCall(head + shown, end + call.attachments(), has_input=True, has_output=True)


def _value_block(title: str, value: Json) -> str:
    if isinstance(value, str):
        return block(title, value)
    return block(title, indented(value).decode(), "json")


def _language(path: str) -> str:
    """The name of a language by the extension of a file."""
    _, dot, suffix = path.rpartition("/")[2].rpartition(".")
    return suffix if dot and suffix.isalnum() and len(suffix) <= LONGEST_LANGUAGE else ""


def text_lines(call: WrittenCall) -> Iterator[str]:
    """The lines of a call, each also without the mark of a diff or a prompt."""
    for one in f"{call.start}\n{call.end}".split("\n"):
        yield one.strip()
        yield one[1:].strip()
        yield one[2:].strip()
