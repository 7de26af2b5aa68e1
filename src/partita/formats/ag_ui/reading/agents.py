"""Which messages are of which sub-agent, and which call each of those hangs under.

Messages name their sub-agent, and its name is the id of the call that started it. Where several calls have
that id, the outermost has the sub-agent, and of several such the first.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from partita.formats.ag_ui.names import AGENT, ARGUMENTS
from partita.types.json import Json, JsonObject, is_array, is_object

from .raw import Raw

DEEPEST: Final = 32
"""How far sub-agents may stand under each other."""


class Grouped(NamedTuple):
    """The messages of each agent, `None` for the first, and the call that each sub-agent hangs under."""

    messages: dict[str | None, list[Raw]]
    homes: Mapping[str, JsonObject]

    def below(self, call: JsonObject) -> list[Raw]:
        """The messages under a call."""
        is_home = self.homes and self.homes.get(call["id"]) is call
        return self.messages.pop(call["id"], []) if is_home else []


def grouped(raws: Sequence[Raw]) -> Grouped:
    """The messages by agent. Those of sub-agents that no call leads to are the first agent's."""
    if not any(AGENT in raw.value for raw in raws):
        return Grouped({None: list(raws)}, {})
    homes = _homes(raws)
    messages: dict[str | None, list[Raw]] = {}
    for raw in raws:
        agent = raw.value.get(AGENT)
        owner = agent if isinstance(agent, str) and agent in homes else None
        messages.setdefault(owner, []).append(raw._replace(agent=owner))
    return Grouped(messages, homes)


def _homes(raws: Sequence[Raw]) -> dict[str, JsonObject]:
    """The calls that lead to sub-agents, from the first agent down."""
    named: dict[str | None, list[Raw]] = {}
    for raw in raws:
        agent = raw.value.get(AGENT)
        named.setdefault(agent if isinstance(agent, str) else None, []).append(raw)
    homes: dict[str, JsonObject] = {}
    level = named.pop(None, [])
    for _ in range(DEEPEST):
        found: list[Raw] = []
        for call in (call for raw in level for call in calls_in(raw.value)):
            if call["id"] not in homes:
                homes[call["id"]] = call
                found += named.get(call["id"], ())
        level = found
    return homes


def is_call(raw: Json) -> bool:
    """Whether a value is a call that can be read."""
    if not is_object(raw) or not isinstance(raw.get("id"), str) or not is_object(raw.get("function")):
        return False
    function = raw["function"]
    return isinstance(function.get("name"), str) and isinstance(function.get(ARGUMENTS), str)


def calls_in(value: JsonObject) -> list[JsonObject]:
    """The calls of a message."""
    calls = value.get("toolCalls")
    return [call for call in calls if is_call(call)] if is_array(calls) else []
