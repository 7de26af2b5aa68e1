"""The sub-agents of a run, and the calls they hang under."""

from partita.formats.ag_ui.notes import NAMESPACE, noted, rest_of
from partita.types.chunks import (
    ChildChunk,
    Chunk,
    ErrorChunk,
    MessageFinish,
    MessageStart,
    ToolInputAvailable,
    ToolOutputAvailable,
)
from partita.types.json import Json, JsonObject

from .run import Run

DEEPEST = 32
"""How far sub-agents may stand under each other; those below are told with the last one."""


class Subagents:
    """Every agent of a run by its name. `take` hands out the chunks of all, each to its place."""

    def __init__(self, main: Run) -> None:
        self._main = main
        self._runs: dict[str, Run] = {}
        self._paths: dict[str, tuple[str, ...]] = {}
        self._calls: set[tuple[str, ...]] = set()  # the paths of the calls that have an agent
        self._heard: dict[str, Run] = {}  # the agents that may have something to tell
        self._homes: dict[str, str] = {}  # calls made for agents that none started, by agent
        self._taken: list[Chunk] = []

    def run_of(self, agent: Json) -> Run:
        """The agent that an event is of. One that nobody announced hangs under a call of its own."""
        if not isinstance(agent, str):
            return self._main
        if agent not in self._runs:
            self._announce(agent, {"name": agent})
        run = self._heard[agent] = self._runs[agent]
        return run

    def hear(self, event: JsonObject) -> None:
        """A sub-agent begins, ends or fails."""
        agent = event.get("subagentRunId")
        if not isinstance(agent, str):
            self._main.keep(event)
        elif event["type"] == "SUBAGENT_STARTED":
            if agent in self._runs:
                self._main.keep(event)
            else:
                self._announce(agent, rest_of(event, "type", "subagentRunId"))
        else:
            self._end(agent, event)

    def take(self) -> list[Chunk]:
        """The chunks since the last time."""
        self._gather()
        chunks, self._taken = self._taken, []
        return chunks

    def close(self) -> None:
        """Nothing more comes of any sub-agent."""
        for run in self._runs.values():
            run.close()
        self._heard = dict(self._runs)
        self._gather()

    def finish(self) -> None:
        """The stream has ended."""
        self.close()
        self._main.close()

    def _gather(self) -> None:
        """Take the chunks of all agents. The first agent's come first: a call stands before what is below."""
        self._taken += self._main.take()
        for agent, run in self._heard.items():
            path = self._paths[agent]
            self._taken += [ChildChunk(path, chunk) for chunk in run.take()]
        self._heard = {}

    def _announce(self, agent: str, said: JsonObject) -> None:
        parent, above = self._parent(said.get("parentSubagentRunId"))
        call = said.get("parentToolCallId")
        if not isinstance(call, str) or call not in parent.known_calls or (*above, call) in self._calls:
            call = self._make_call(parent, agent, said)
        path = (*above, call)
        parent.settle()
        self._gather()
        self._runs[agent] = self._heard[agent] = run = Run()
        self._paths[agent] = path
        self._calls.add(path)
        run.begin(MessageStart(agent, {NAMESPACE: said}))

    def _parent(self, agent: Json) -> tuple[Run, tuple[str, ...]]:
        """The agent that called another, and the calls that lead to it: the first one, if in doubt."""
        if not isinstance(agent, str) or agent not in self._runs or len(self._paths[agent]) >= DEEPEST:
            return self._main, ()
        self._heard[agent] = self._runs[agent]
        return self._runs[agent], self._paths[agent]

    def _make_call(self, parent: Run, agent: str, said: JsonObject) -> str:
        name = said.get("name")
        parent.settle()
        parent.begin_step()
        id_ = agent if agent not in parent.known_calls else f"{agent}:call"
        parent.known_calls[id_] = name if isinstance(name, str) else agent
        parent.emit(ToolInputAvailable(id_, parent.known_calls[id_], {}, dynamic=True))
        self._homes[agent] = id_
        return id_

    def _end(self, agent: str, event: JsonObject) -> None:
        run = self.run_of(agent)
        run.close()
        said = {NAMESPACE: rest} if (rest := rest_of(event, "type", "subagentRunId")) else {}
        if event["type"] == "SUBAGENT_ERROR":
            run.emit(ErrorChunk(str(event.get("message", "the sub-agent failed"))))
            run.emit(MessageFinish("error", said))
        else:
            run.emit(MessageFinish("stop", said))
        self._gather()
        home = self._homes.pop(agent, None)
        if home is not None and "result" in event and len(self._paths[agent]) == 1:
            self._main.emit(ToolOutputAvailable(home, event["result"], provider_metadata=noted({})))
            self._main.answered(home)
