"""What happened in a thread: its turns, calls, changed files and commits, each with its place."""

from typing import Literal, TypeAlias

from .times import Timestamp
from .value import Value

OverviewState: TypeAlias = Literal["done", "failed", "running", "denied", "interrupted"]
"""How a call ended. A command that ended with an exit code other than 0 failed, too."""


class PartPlace(Value, kw_only=True):
    """The place of a call: its message, and the path of the part in it."""

    message_id: str
    part: str  # `2`, or `2.children.0.1` for a call of a sub-agent


class OverviewTurn(Value, kw_only=True):
    """A prompt of the user and everything until the next one."""

    message_id: str  # its first message: the prompt, unless the turn has none
    title: str  # the start of the prompt, on one line
    answer_id: str | None  # the last message with text
    started_at: Timestamp | None
    ended_at: Timestamp | None
    seconds: float
    responses: int  # messages of the agent
    calls: int
    failed: int
    edits: int  # calls that changed files
    input_tokens: int
    output_tokens: int
    cost: float | None  # in US dollars, of responses with a price
    running: bool


class OverviewCall(PartPlace, kw_only=True):
    """A tool call on one line."""

    kind: str  # of its `ToolView`
    title: str
    subject: str
    state: OverviewState
    started_at: Timestamp | None
    ended_at: Timestamp | None
    added: int  # lines, of an edit
    removed: int
    input_tokens: int | None  # of the response that made it
    output_tokens: int | None
    cost: float | None  # in US dollars, of that response


class ChangedFile(Value, kw_only=True):
    """A file that the thread changed: how many lines differ in the end, and the calls that changed it."""

    path: str
    added: int
    removed: int
    created: bool
    deleted: bool
    edits: tuple[PartPlace, ...]


class DiffHunk(Value, kw_only=True):
    """Consecutive lines of a diff, where they begin if that is known, and the calls that made the changes."""

    lines: tuple[str, ...]  # each begins with ` `, `+` or `-`
    old_start: int | None
    new_start: int | None
    edits: tuple[PartPlace, ...]


class FileDiff(Value, kw_only=True):
    """A file that the thread changed, with all its edits as one diff."""

    path: str
    moved_from: str | None
    added: int
    removed: int
    created: bool
    deleted: bool
    combined: bool  # otherwise the file also changed between the edits, and the hunks are in their order
    hunks: tuple[DiffHunk, ...]
    line_count: int  # of all hunks, also of those that are left out


class ThreadDiff(Value, kw_only=True):
    """The files that a thread changed, with their diffs."""

    files: tuple[FileDiff, ...]


class MadeCommit(PartPlace, kw_only=True):
    """A commit that a command made."""

    hash: str
    subject: str
    branch: str
    url: str | None


class MadePullRequest(PartPlace, kw_only=True):
    """A pull request that a command made or found."""

    url: str


class ResumeCommand(Value, kw_only=True):
    """How to continue a session in a terminal."""

    command: str  # of the agent, such as `claude --resume ID`
    directory: str | None  # where it must run


class ThreadOverview(Value, kw_only=True):
    """What happened on a branch of a thread."""

    started_at: Timestamp | None
    ended_at: Timestamp | None
    seconds: float  # the sum of the turns
    turns: tuple[OverviewTurn, ...]
    calls: tuple[OverviewCall, ...]
    files: tuple[ChangedFile, ...]
    commits: tuple[MadeCommit, ...]
    pull_requests: tuple[MadePullRequest, ...]
    branch: str | None  # the git branch
    branch_url: str | None
    repository_url: str | None
    commands: int
    failed: int
    agents: int  # sub-agents
    input_tokens: int  # of all responses of the thread
    output_tokens: int
    cost: float | None
    resume: ResumeCommand | None
