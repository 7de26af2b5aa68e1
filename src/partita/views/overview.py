"""What happened in a thread, read from its messages one after the other."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, NamedTuple, TypeAlias

from msgspec.structs import replace

from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    Message,
    SystemMessage,
    ToolCallPart,
    UserMessage,
    text_of,
    unlisted_calls,
)
from partita.types.overview import (
    MadeCommit,
    MadePullRequest,
    OverviewCall,
    OverviewState,
    OverviewTurn,
    PartPlace,
    ThreadOverview,
)
from partita.types.parts import FilePart, ImagePart
from partita.types.tool_views import CommandView, EditView, ToolView

from .call_states import StateKind, call_state
from .file_changes import FileChanges
from .git_hosts import branch_url, commit_url
from .notices import notices
from .prompts import clean_title
from .tool_view import tool_view

REPORTS: Final = re.compile(r"\bcommit\b|\b(?:gh|glab|hub|tea)\b")
"""Commands whose output has to be read, because it may name a commit or a pull request."""

STATES: Final[Mapping[StateKind, OverviewState]] = {
    "done": "done",
    "failed": "failed",
    "denied": "denied",
    "interrupted": "interrupted",
    "open": "running",
    "waiting": "running",
}


class FoundCall(NamedTuple):
    """A call with its path in its message, the message of the agent that made it, and its view."""

    path: str
    maker: str
    part: ToolCallPart
    view: ToolView


def calls_of(message: Message, directory: str | None = None) -> Iterator[FoundCall]:
    """The calls of a message and of the sub-agents below it, in order. A network repeats some of them."""
    known: set[str] = set()
    waiting: list[tuple[str, Message, ToolCallPart | None]] = [("", message, None)]
    while waiting:  # a loop, because sub-agents may nest to any depth
        path, maker, call = waiting.pop()
        if call is None:
            waiting += reversed(list(_inside(maker, path)))
        elif "network." not in path or call.id not in known:
            known.add(call.id)
            yield FoundCall(path, maker.id, call, tool_view(call, directory))
            children = [
                (f"{path}.children.{index}.", child, None) for index, child in enumerate(call.children)
            ]
            waiting += reversed(children)


def _inside(message: Message, prefix: str) -> Iterator[tuple[str, Message, ToolCallPart | None]]:
    """The calls of a message and the messages of its network, with their paths."""
    content = message.content
    for index, part in enumerate(content.parts):
        if isinstance(part, ToolCallPart):
            yield f"{prefix}{index}", message, part
    if isinstance(content, AssistantContent) and content.network_execution is not None:
        result = content.network_execution.final_result
        if result is not None:
            for index, call in enumerate(unlisted_calls(result)):
                yield f"{prefix}network.calls.{index}", message, call
            for index, inner in enumerate(result.messages):
                yield f"{prefix}network.messages.{index}.", inner, None


def _with_sub_agents(message: Message) -> Iterator[Message]:
    """A message and the messages of the sub-agents below it."""
    waiting = [message]
    while waiting:
        current = waiting.pop()
        yield current
        for _, inner, call in _inside(current, ""):
            waiting += [inner] if call is None else call.children


class Tokens(NamedTuple):
    """What a response consumed."""

    input: int
    output: int
    cost: float | None


Times: TypeAlias = Mapping[str, tuple[datetime | None, datetime | None]]
"""By the path of a part: when it started and ended, if that is known."""


@dataclass(slots=True)
class _Turn:
    message_id: str
    title: str = ""
    answer_id: str | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    responses: int = 0
    calls: int = 0
    failed: int = 0
    edits: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None

    def reach(self, time: datetime | None) -> None:
        """Extend the turn to a time."""
        if time is not None:
            self.started_at = min(self.started_at or time, time)
            self.ended_at = max(self.ended_at or time, time)

    def consume(self, tokens: Tokens) -> None:
        """Add what a response consumed."""
        self.input_tokens += tokens.input
        self.output_tokens += tokens.output
        if tokens.cost is not None:
            self.cost = (self.cost or 0.0) + tokens.cost

    def finished(self, *, running: bool) -> OverviewTurn:
        """The turn as a value."""
        start, end = self.started_at, self.ended_at
        return OverviewTurn(
            message_id=self.message_id,
            title=self.title,
            answer_id=self.answer_id,
            started_at=start,
            ended_at=end,
            seconds=0.0 if start is None or end is None else (end - start).total_seconds(),
            responses=self.responses,
            calls=self.calls,
            failed=self.failed,
            edits=self.edits,
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            cost=self.cost,
            running=running,
        )


@dataclass
class OverviewBuilder:
    """Collects turns, calls, files and commits from messages, which are added in order."""

    directory: str | None
    """The folder of the project: paths inside it become relative."""
    repository: str | None
    """The page of the git repository."""
    responses: Mapping[str, Sequence[Tokens]]
    """What responses consumed, by message, also those of sub-agents."""
    run_ends: Mapping[str, datetime] = field(default_factory=dict[str, datetime])
    """When runs ended, if that is known: the last messages of runs have only the time of their start."""
    files: FileChanges = field(default_factory=FileChanges)
    commits: list[MadeCommit] = field(default_factory=list[MadeCommit])
    _turns: list[_Turn] = field(default_factory=list[_Turn])
    _last_turns: dict[str, _Turn] = field(default_factory=dict[str, _Turn])
    _calls: list[tuple[_Turn, OverviewCall]] = field(default_factory=list[tuple[_Turn, OverviewCall]])
    _pull_requests: dict[str, MadePullRequest] = field(default_factory=dict[str, MadePullRequest])

    def add(self, message: Message, times: Times, with_values: Callable[[], Message] | None = None) -> None:
        """Add a message. `with_values` reads it again if its large values are references to blobs."""
        turn = self._turn_of(message)
        if turn is None:
            return
        for inner in _with_sub_agents(message):
            for tokens in self.responses.get(inner.id, ()):
                turn.consume(tokens)
        if message.internal or isinstance(message, UserMessage | SystemMessage):
            return
        turn.reach(message.created_at)
        if message.run_id is not None:
            self._last_turns[message.run_id] = turn
        for ends in times.values():
            for time in ends:
                turn.reach(time)
        if isinstance(message, AssistantMessage):
            turn.responses += 1
            if text_of(message).strip():
                turn.answer_id = message.id
        calls = list(calls_of(message, self.directory))
        if with_values is not None and any(_is_read(call.view) for call in calls):
            calls = list(calls_of(with_values(), self.directory))
        for call in calls:
            self._add_call(turn, message.id, call, times.get(call.path, (None, None)))

    def _turn_of(self, message: Message) -> _Turn | None:
        """The turn of a message: a new one for a prompt, or for the first response if there is none."""
        is_prompt = isinstance(message, UserMessage) and message.type != "event" and not message.internal
        if is_prompt:
            self._turns.append(_Turn(message.id, _title_of(message)))
            self._turns[-1].reach(message.created_at)
        elif not self._turns and not message.internal and isinstance(message, AssistantMessage):
            self._turns.append(_Turn(message.id))
        return self._turns[-1] if self._turns else None

    def _add_call(
        self, turn: _Turn, message_id: str, call: FoundCall, times: tuple[datetime | None, datetime | None]
    ) -> None:
        view, place = call.view, PartPlace(message_id=message_id, part=call.path)
        state = STATES[call_state(call.part).kind]
        if state == "done" and view.failure is not None:
            state = "failed"
        changes = view.changes if isinstance(view, EditView) and state == "done" else ()
        turn.calls += 1
        turn.failed += state == "failed"
        turn.edits += bool(changes)
        made = self.responses.get(call.maker)
        self._calls.append(
            (
                turn,
                OverviewCall(
                    message_id=message_id,
                    part=call.path,
                    kind=view.kind,
                    title=view.title,
                    subject=view.subject,
                    state=state,
                    started_at=times[0],
                    ended_at=times[1],
                    added=sum(change.added for change in changes),
                    removed=sum(change.removed for change in changes),
                    input_tokens=sum(one.input for one in made) if made else None,
                    output_tokens=sum(one.output for one in made) if made else None,
                    cost=_cost(made or ()),
                ),
            )
        )
        for change in changes:
            self.files.add(place, change, call.part)
        if isinstance(view, CommandView):
            self._add_commits(place, view)

    def _add_commits(self, place: PartPlace, view: CommandView) -> None:
        for made in view.commits:
            if made.amends and self.commits:
                self.commits.pop()
            self.commits.append(
                MadeCommit(
                    message_id=place.message_id,
                    part=place.part,
                    hash=made.hash,
                    subject=made.subject,
                    branch=made.branch,
                    url=commit_url(self.repository, made.hash),
                )
            )
        for url in view.pull_requests:
            found = MadePullRequest(message_id=place.message_id, part=place.part, url=url)
            self._pull_requests.setdefault(url, found)

    def turns(self, *, is_running: bool) -> tuple[OverviewTurn, ...]:
        """The turns. With `is_running` an agent is working on the last one."""
        last = self._turns[-1:]
        for run_id, turn in self._last_turns.items():
            turn.reach(self.run_ends.get(run_id))
        return tuple(turn.finished(running=is_running and turn in last) for turn in self._turns)

    def calls(self, *, is_running: bool) -> tuple[OverviewCall, ...]:
        """The calls. Only those of a turn that an agent is working on are running."""
        last = self._turns[-1] if is_running and self._turns else None
        return tuple(
            replace(call, state="interrupted") if call.state == "running" and turn is not last else call
            for turn, call in self._calls
        )

    def overview(self, *, is_running: bool = False, branch: str | None = None) -> ThreadOverview:
        """Everything that was found. `branch`: the git branch, if no commit names one."""
        turns, calls = self.turns(is_running=is_running), self.calls(is_running=is_running)
        starts = [turn.started_at for turn in turns if turn.started_at is not None]
        ends = [turn.ended_at for turn in turns if turn.ended_at is not None]
        tokens = [one for some in self.responses.values() for one in some]
        branch = self.commits[-1].branch if self.commits else branch
        return ThreadOverview(
            started_at=min(starts, default=None),
            ended_at=max(ends, default=None),
            seconds=sum(turn.seconds for turn in turns),
            turns=turns,
            calls=calls,
            files=self.files.files(),
            commits=tuple(self.commits),
            pull_requests=self.pull_requests,
            branch=branch,
            branch_url=None if branch is None else branch_url(self.repository, branch),
            repository_url=self.repository,
            commands=sum(call.kind == "command" for call in calls),
            failed=sum(call.state == "failed" for call in calls),
            agents=sum(call.kind == "agent" for call in calls),
            input_tokens=sum(one.input for one in tokens),
            output_tokens=sum(one.output for one in tokens),
            cost=_cost(tokens),
            resume=None,
        )

    @property
    def pull_requests(self) -> tuple[MadePullRequest, ...]:
        """The pull requests, each at its first place."""
        return tuple(self._pull_requests.values())


def _cost(tokens: Sequence[Tokens]) -> float | None:
    """The sum of the known costs."""
    costs = [one.cost for one in tokens if one.cost is not None]
    return sum(costs) if costs else None


def _is_read(view: ToolView) -> bool:
    """Whether a large value of a call matters: the text of a change, or the output of a commit."""
    return isinstance(view, EditView) or (
        isinstance(view, CommandView) and REPORTS.search(view.command) is not None
    )


def _title_of(message: Message) -> str:
    """The start of a prompt on one line; without text, what it contains."""
    title = clean_title(text_of(message))
    if title:
        return title
    labels = [notice.label for notice in notices(message).values() if notice.label and not notice.hidden]
    files = [part.filename or "File" for part in message.content.parts if isinstance(part, FilePart)]
    images = ["Image" for part in message.content.parts if isinstance(part, ImagePart)]
    return next(iter([*labels, *files, *images]), "")
