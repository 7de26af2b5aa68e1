"""The events of one agent, and what they could not tell."""

from partita.formats.ag_ui.names import AGENT
from partita.formats.losses import Loss, Severity
from partita.types.json import Json, JsonObject


class Telling:
    """Gathers the events of one agent: the first, or a sub-agent, whose events carry its name."""

    def __init__(self, losses: list[Loss], message_id: str, agent: str | None = None) -> None:
        self.message_id = message_id
        """The message at hand."""
        self.agent = agent
        self.number = 0
        """The number of the chunk at hand."""
        self.losses = losses
        self._events: list[Json] = []

    def take(self) -> list[Json]:
        """The events since the last time."""
        events, self._events = self._events, []
        return events

    def emit(self, type: str, **members: Json) -> None:
        """Add an event. What is `None` is left out."""
        event: JsonObject = {"type": type}
        for name, value in members.items():
            if value is not None:
                event[name] = value
        self.emit_own(event)

    def emit_own(self, event: JsonObject) -> None:
        """Add an event, in the name of the agent."""
        if self.agent is not None:
            event[AGENT] = self.agent
        self._events.append(event)

    def emit_whole(self, *events: Json) -> None:
        """Add events as they are."""
        self._events += events

    def hold_last(self) -> Json:
        """Take the last event back: it comes later."""
        return self._events.pop()

    def lose(self, name: str, value: Json, why: str, severity: Severity = "lost") -> None:
        """Tell that a member of the chunk at hand does not arrive."""
        member = f".{name}" if name else ""
        self.losses.append(Loss.of(f"$[{self.number}]{member}", value, why, severity))
