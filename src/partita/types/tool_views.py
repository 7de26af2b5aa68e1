"""What a tool call is and what it did, ready to be drawn by the web UI and the terminal.

`partita.views.tool_view` makes these values. They are small: a long text that the call holds anyway is not
copied but located (`ToolText.path`).
"""

from typing import ClassVar, Literal, TypeAlias

from .value import Value

TodoStatus: TypeAlias = Literal["pending", "in_progress", "completed", "cancelled", "blocked"]
"""The status of an item of a to-do list."""

ChangeKind: TypeAlias = Literal["add", "update", "delete"]
"""What happened to a file."""


class ToolText(Value):
    """A text of a call: the text itself, or where the call holds it.

    `path` leads to a member of the call's JSON. The path `["output"]` is the text of the output; texts of a
    content output are joined by line breaks. The text begins after `skip_lines` lines and has `line_count`
    lines, if that is given. With a `separator`, each line begins with its number and that separator, which
    are not part of the text; a line without the separator is empty.
    """

    text: str | None = None
    path: tuple[str | int, ...] = ()
    skip_lines: int = 0
    line_count: int | None = None
    separator: str | None = None


class ToolViewBase(Value, tag_field="kind", kw_only=True):
    """What every view has: the one line that describes the call."""

    title: str  # `Shell`, `Edit`, the name of a sub-agent or of a tool
    subject: str = ""  # what the call is about, on one line: a command, a path, a question
    subject_is_code: bool = False  # the subject is code, a path or data, not prose
    notes: tuple[str, ...] = ()  # short facts, such as `12 found`
    failed: bool = False  # the tool reported an error, which is its output
    failure: str | None = None  # how it went wrong although the tool reported no error, such as `Exit 2`
    seconds: float | None = None  # how long it took, if the agent noted it
    shown_items: tuple[int, ...] = ()  # items of a content output that the view contains


class Commit(Value):
    """A commit that a command made."""

    hash: str
    subject: str
    branch: str = ""
    amends: bool = False  # it replaces the commit before it


class CommandView(ToolViewBase, tag="command"):
    """A command of a shell, or code that was run."""

    kind: ClassVar[Literal["command"]] = "command"
    command: str = ""  # without a `cd` at its start
    description: str = ""  # the description that the agent gave
    directory: str = ""  # where it ran, if that is not the directory of the session
    exit_code: int | None = None
    output: ToolText | None = None
    errors: ToolText | None = None  # standard error, if the agent keeps it apart
    status: str = ""  # the status that the agent reported
    commits: tuple[Commit, ...] = ()
    pull_requests: tuple[str, ...] = ()  # addresses that it printed


class Hunk(Value):
    """Consecutive lines of a change, and where they begin in the old and the new file, if that is known."""

    lines: tuple[str, ...] = ()  # each begins with ` `, `+` or `-`
    text: ToolText | None = None  # instead of `lines`: a text whose lines were all added
    old_start: int | None = None
    new_start: int | None = None


class FileChange(Value):
    """What happened to one file."""

    path: str
    change: ChangeKind = "update"
    moved_to: str = ""
    hunks: tuple[Hunk, ...] = ()
    added: int = 0
    removed: int = 0


class EditView(ToolViewBase, tag="edit"):
    """Files that were changed or written."""

    kind: ClassVar[Literal["edit"]] = "edit"
    changes: tuple[FileChange, ...] = ()


class ReadView(ToolViewBase, tag="read"):
    """A file that was read."""

    kind: ClassVar[Literal["read"]] = "read"
    path: str = ""
    text: ToolText | None = None
    first_line: int = 1  # the number of the first line of the text
    remark: str = ""  # what the agent appended for the model


class Match(Value):
    """A line that was found, or a line around one."""

    text: str
    line: int | None = None
    context: bool = False


class FoundFile(Value):
    """A file that was found, and the lines found in it."""

    path: str
    matches: tuple[Match, ...] = ()
    count: int | None = None  # how many matches it has, where only their number is known


class SearchView(ToolViewBase, tag="search"):
    """A search in files, a search for files, or a list of a directory."""

    kind: ClassVar[Literal["search"]] = "search"
    pattern: str = ""
    files: tuple[FoundFile, ...] = ()
    remarks: tuple[str, ...] = ()  # lines of the output that are neither files nor matches
    total: int | None = None  # `None` when it is not known


class Todo(Value):
    """An item of a to-do list."""

    text: str
    status: TodoStatus = "pending"


class TodoView(ToolViewBase, tag="todos"):
    """A to-do list."""

    kind: ClassVar[Literal["todos"]] = "todos"
    todos: tuple[Todo, ...] = ()
    explanation: str = ""


class PlanView(ToolViewBase, tag="plan"):
    """A plan that was presented to the user, in Markdown."""

    kind: ClassVar[Literal["plan"]] = "plan"
    plan: ToolText | None = None


class Choice(Value):
    """A choice of a question."""

    label: str
    description: str = ""


class Question(Value):
    """A question to the user, and the answer if there is one."""

    text: str
    choices: tuple[Choice, ...] = ()
    answer: str = ""


class QuestionView(ToolViewBase, tag="question"):
    """Questions to the user."""

    kind: ClassVar[Literal["question"]] = "question"
    questions: tuple[Question, ...] = ()


class FetchView(ToolViewBase, tag="fetch"):
    """A web page that was fetched."""

    kind: ClassVar[Literal["fetch"]] = "fetch"
    url: str = ""
    prompt: str = ""  # what the page was fetched for


class Link(Value):
    """A result of a web search."""

    url: str
    title: str = ""
    text: str = ""


class WebSearchView(ToolViewBase, tag="web-search"):
    """A web search."""

    kind: ClassVar[Literal["web-search"]] = "web-search"
    links: tuple[Link, ...] = ()


class AgentView(ToolViewBase, tag="agent"):
    """A sub-agent. What it did is in the `children` of the call."""

    kind: ClassVar[Literal["agent"]] = "agent"
    agent: str = ""
    description: str = ""
    prompt: ToolText | None = None


class NetworkView(ToolViewBase, tag="network"):
    """A turn of a network of agents, which the call's tool metadata describes under `networkExecution`."""

    kind: ClassVar[Literal["network"]] = "network"
    prompt: ToolText | None = None


class OtherView(ToolViewBase, tag="other"):
    """Any other tool: it is drawn as its input and its output."""

    kind: ClassVar[Literal["other"]] = "other"


ToolView: TypeAlias = (
    CommandView
    | EditView
    | ReadView
    | SearchView
    | TodoView
    | PlanView
    | QuestionView
    | FetchView
    | WebSearchView
    | AgentView
    | NetworkView
    | OtherView
)
"""What a tool call is. `other` is the kind of every tool that is none of the others."""


class Notice(Value, tag_field="kind", tag="notice", kw_only=True):
    """A part that an agent added for itself, such as a slash command: what it was, and its text."""

    kind: ClassVar[Literal["notice"]] = "notice"
    label: str  # `/model opus`; empty for output
    text: str = ""
    hidden: bool = False  # another part of the message shows it


class Prompt(Value, tag_field="kind", tag="prompt", kw_only=True):
    """A text of a user message, apart from what an editor or an agent added to it."""

    kind: ClassVar[Literal["prompt"]] = "prompt"
    text: str  # what the user wrote
    added: tuple[Notice, ...] = ()


PartView: TypeAlias = ToolView | Notice | Prompt
"""What the web UI shows for a part: a tool call, its result, a notice, or a prompt."""
