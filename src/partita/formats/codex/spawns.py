"""Calls that start other agents: which thread each of them started.

The call's own output names the thread, or (since 2026) the path of the agent, which the header of its file
has too. Events and items say the same; whatever comes first counts, for all have the id of the call.
"""

from collections.abc import Callable
from itertools import chain
from typing import Final, TypeAlias

from partita.errors import DecodeError
from partita.types.json import Json, JsonObject, is_object, loads

from .fields import inner, snake, text, texts
from .lineage import spawn_of
from .telling import Telling

SPAWN: Final = "spawn_agent"
ROOT: Final = "/root"
"""The path of the agent that nobody started."""

FindAgent: TypeAlias = Callable[[str], str | None]
"""The thread of a sub-agent by its sign, where only its own file tells."""


def nobody(_: str) -> str | None:
    """No sub-agent has a file of its own."""
    return None


def parent_of(meta: JsonObject) -> str | None:
    """The thread whose call started this one. Reviews and the like are started by Codex itself."""
    if isinstance(inner(meta, "source").get("subagent"), str):
        return None
    parent = text(meta, "parent_thread_id") or text(spawn_of(meta), "parent_thread_id")
    return None if parent == text(meta, "id") else parent


def sign_of(meta: JsonObject) -> str:
    """By what a sub-agent is known when its call does not name its thread: who started it, and its path."""
    path = text(spawn_of(meta), "agent_path") or text(meta, "agent_path") or ""
    return _sign(parent_of(meta) or "", path)


def _sign(parent: str, path: str) -> str:
    return f"{parent} {path}"


class Spawns:
    """The calls of a thread that started others."""

    def __init__(self, telling: Telling) -> None:
        self._telling = telling
        self.find_agent: FindAgent = nobody
        self.path = ROOT  # of the agent whose thread this is
        self._waiting: dict[str, str] = {}  # calls without an output, with the name of the task

    def called(self, call_id: str, name: str, arguments: Json) -> None:
        """A call of any tool."""
        if name.endswith(SPAWN) and not self._telling.lineage.copied:
            self._waiting[call_id] = (text(arguments, "task_name") or "") if is_object(arguments) else ""

    def answered(self, call_id: str, output: Json) -> None:
        """The output of a call of any tool."""
        if self._waiting.pop(call_id, None) is None:
            return
        said = _said(output)
        agent = text(said, "agent_id")
        path = text(said, "task_name")
        if agent is None and path is not None:
            agent = self.find_agent(_sign(self._telling.lineage.session or "", path))
        self._link(agent, call_id)

    def told(self, kind: str, event: JsonObject) -> None:
        """An event of any kind."""
        if kind == "collab_agent_spawn_end":
            self._link(text(event, "new_thread_id"), text(event, "call_id"))
        elif kind == "sub_agent_activity" and event.get("kind") == "started":
            self._link(text(event, "agent_thread_id"), text(event, "event_id") or text(event, "id"))

    def done(self, kind: str, item: JsonObject) -> None:
        """An item of any kind."""
        if kind == "sub_agent_activity":
            self.told(kind, item)
        elif kind.startswith("collab_") and snake(text(item, "tool") or "") == SPAWN:
            threads = texts(item, "receiver_thread_ids")
            self._link(threads[0] if threads else None, text(item, "id"))

    def claim(self, sign: str) -> str | None:
        """The call without an output that is likely to have started a sub-agent of this sign."""
        parent, _, path = sign.partition(" ")
        if parent != self._telling.lineage.session:
            return None
        named = (call for call, task in self._waiting.items() if task and path == f"{self.path}/{task}")
        nameless = (call for call, task in self._waiting.items() if not task)
        call = next(chain(named, nameless), None)
        if call is not None:
            del self._waiting[call]
        return call

    def _link(self, agent: str | None, call_id: str | None) -> None:
        if agent and call_id and not self._telling.lineage.copied:
            self._telling.teller.link(agent, call_id)


def _said(output: Json) -> JsonObject:
    """What the output of a call says, if it is an object in JSON."""
    words = output if isinstance(output, str) else "".join(texts({"output": output}, "output"))
    if not words.startswith("{"):
        return {}
    try:
        said = loads(words)
    except DecodeError:
        return {}
    return said if is_object(said) else {}
