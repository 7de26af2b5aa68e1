"""How an agent is spoken to: what to say first, what to answer to what it says, when it is done."""

from collections.abc import Coroutine, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

from partita.errors import AgentError
from partita.runtime.service import Decision, Desk, Question
from partita.types.json import Json, JsonObject

NOBODY: str = "nobody is there to allow it"


class Line(NamedTuple):
    """A message to the agent, one line of its input."""

    message: JsonObject
    is_told: bool = True
    """Whether it belongs to the record, where the decoder reads it as it reads the agent's own."""


class Errand(NamedTuple):
    """Something that takes time: what it gives back is done then. Meanwhile the agent is heard."""

    key: str
    work: Coroutine[Any, Any, Sequence["Action"]]


class Withdraw(NamedTuple):
    """Give up an errand: its result is not wanted any more."""

    key: str


Action: TypeAlias = Line | Errand | Withdraw


class Outcome(NamedTuple):
    """How a turn ended, in the agent's words. Without an error, well."""

    result: JsonObject
    error: str | None = None
    name: str | None = None


class Dialogue(Protocol):
    """One turn with an agent. It does nothing by itself: it says what to do."""

    session_id: str | None
    """The agent's name for the conversation, once it is known."""

    outcome: Outcome | None
    """Set when the turn is over."""

    def open(self) -> Sequence[Action]:
        """What to do first."""
        ...

    def hear(self, message: Json) -> Sequence[Action]:
        """What to do about a message of the agent."""
        ...

    def interrupt(self) -> Sequence[Line]:
        """What to say to make it end its turn; nothing if it does not listen."""
        ...

    async def close(self) -> None:
        """Clean up what was done for the agent."""
        ...


async def consult(desk: Desk | None, question: Question) -> Decision:
    """The decision of whoever sits at the desk; without one, no."""
    return Decision(False, NOBODY) if desk is None else await desk.ask(question)


def safe_name(value: str, what: str) -> str:
    """A name that a command line cannot take for an option."""
    if not value or value.startswith("-"):
        raise AgentError(f"{value!r} is no {what}", hint=f"give the {what} as the agent told it")
    return value
