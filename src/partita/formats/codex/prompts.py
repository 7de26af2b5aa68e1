"""User messages: prompts, context that Codex adds with the role of the user, rollbacks.

A prompt is a user item with an event right after it, so an item is pending until the next record is read. In
logs without such events (the first versions), the text decides what is a prompt and what is context.
"""

import re
from collections import deque
from typing import Final, NamedTuple

from msgspec.structs import replace

from partita.formats.core.members import present
from partita.formats.log.sink import TurnEnd
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import SystemContent, SystemMessage, UserContent, UserMessage, text_of

from .content import block_text, blocks_in, system_parts, user_parts
from .thread import Thread
from .wire import AGENT, member, text

INJECTED_PREFIXES: Final = (
    "<environment_context>",
    "<user_instructions>",
    "<INSTRUCTIONS>",
    "<turn_aborted>",
    "<skill>",
    "<skills_instructions>",
    "<apps_instructions>",
    "<plugins_instructions>",
    "<user_shell_command>",
    "<permissions instructions>",
    "<collaboration_mode>",
    "<multi_agent_mode>",
    "<personality_spec>",
    "<model_switch>",
    "<subagent_notification>",
    "<hook_prompt",
    "<user_action>",
    "# AGENTS.md instructions",
)
"""Prefixes of texts that Codex adds with the role of the user: `codex-rs/core/src/context`."""

IMAGE_TAG: Final = re.compile(r"</?image\b[^>]*>")
"""The tags around an image."""

MAX_RECENT: Final = 8


class PendingPrompt(NamedTuple):
    """A user item, until the next record is read."""

    message: UserMessage
    injected: bool
    line: int


class Prompts:
    """The user messages of a thread, and the turns that they begin."""

    def __init__(self, thread: Thread) -> None:
        self._thread = thread
        self._pending: PendingPrompt | None = None
        self._parents: list[str] = []  # the message before each prompt, to which a rollback returns
        self._recent_texts: deque[str] = deque(maxlen=MAX_RECENT)  # of the user, since the last response
        self._has_events = False  # whether this log has events for prompts
        self._is_running = False  # whether a task is running
        self._begins_turn = True  # whether the next prompt begins a turn
        self._followed: str | None = None  # the message that the current task follows

    def state(self) -> JsonObject:
        """What is needed to continue from here, where a turn begins."""
        return {
            "parents": list(self._parents),
            "confirms": self._has_events,
            "active": self._is_running,
            "before": self._followed,
        }

    def restore(self, state: JsonObject) -> None:
        """Continue from a state."""
        self._parents = list(state["parents"])
        self._has_events = state["confirms"]
        self._is_running, self._followed = state["active"], state["before"]

    # Turns

    def task_started(self) -> None:
        """Begin a task. The next prompt belongs to it."""
        self._is_running = self._begins_turn = True
        self._followed = self._thread.sink.tail or ""

    def task_ended(self, how: TurnEnd, why: str | None = None) -> None:
        """End the task, and the turn if a prompt began one."""
        if not self._begins_turn:
            self._thread.sink.end_turn(how, why)
        self._is_running, self._begins_turn, self._followed = False, True, None

    def start_response(self) -> None:
        """Begin a response. The next prompt begins another turn, or steers the running task."""
        self._recent_texts.clear()
        if not self._is_running:
            self._begins_turn = True

    def roll_back(self, turns: int) -> str | None:
        """Forget the last prompts; return the message to continue from, `None` if there were no prompts."""
        if turns <= 0 or not self._parents:
            return None
        kept = max(0, len(self._parents) - turns)
        parent = self._parents[kept]
        del self._parents[kept:]
        return parent

    # Messages

    def user_message(self, item: JsonObject, extra: JsonObject | None = None) -> None:
        """Add a user item, which is pending until the next record is read."""
        content = item.get("content")
        injected = is_injected(content)
        if not injected:
            self._begin()
        message = self._message(item, content, extra=extra)
        self._pending = PendingPrompt(message, injected, self._thread.sink.line)

    @property
    def has_pending(self) -> bool:
        """Whether an item may still get its event."""
        return self._pending is not None

    def confirm(self, prompt: str, event: JsonObject) -> None:
        """Add the pending item as a prompt, because the event of a prompt follows it."""
        self._has_events = True
        pending, self._pending = self._pending, None
        if pending is None:
            if prompt not in self._recent_texts:
                self._add_event(prompt, event)
            return
        with self._thread.sink.from_lines(pending.line, self._thread.sink.line):
            self._prompt(_with_notes(pending.message, prompt_notes(event)))

    def release(self) -> None:
        """Add the pending item, which has no event. In a log with such events, it is not a prompt."""
        self._release(is_prompt=not self._has_events)

    def finish(self) -> None:
        """Add the pending item, because no record follows: its text decides whether it is a prompt."""
        self._release(is_prompt=True)

    def system_message(self, item: JsonObject, role: str, extra: JsonObject | None = None) -> None:
        """Add a message of the developer or the system."""
        metadata = self._thread.metadata(role=role, extra=extra)
        content = SystemContent(parts=system_parts(item.get("content")), metadata=metadata)
        message = SystemMessage(
            id=self._thread.new_id(item, role),
            type="event",
            internal=True,
            created_at=self._thread.time,
            content=content,
        )
        self._thread.add_message(message)

    def agent_message(self, item: JsonObject) -> None:
        """Add a message of another agent to this one."""
        names = {name: item[name] for name in ("author", "recipient") if name in item}
        message = self._message(item, item.get("content"), source="agent", **names)
        self._thread.add_message(replace(message, type="event"))

    def _release(self, *, is_prompt: bool) -> None:
        """Add the pending item: as a prompt, unless it is context that Codex added."""
        pending, self._pending = self._pending, None
        if pending is None:
            return
        with self._thread.sink.from_lines(pending.line):
            if pending.injected or not is_prompt:
                self._add(replace(pending.message, internal=True, type="event"))
            else:
                self._prompt(pending.message)

    def _message(self, item: JsonObject, content: Json, **fields: Json) -> UserMessage:
        thread = self._thread
        return UserMessage(
            id=thread.new_id(item, "user"),
            created_at=thread.time,
            content=UserContent(parts=user_parts(content), metadata=thread.metadata(**fields)),
        )

    def _begin(self) -> None:
        if self._begins_turn:
            self._thread.sink.start_turn()
            self._begins_turn = False

    def _prompt(self, message: UserMessage) -> None:
        self._begin()
        before, self._followed = self._followed, None
        self._parents.append((self._thread.sink.tail or "") if before is None else before)
        self._add(message)
        self._thread.set_fact("prompt", IMAGE_TAG.sub("", text_of(message)))

    def _add_event(self, prompt: str, event: JsonObject) -> None:
        """Add a prompt whose item is missing."""
        self._thread.report_unknown("a prompt without its item")
        urls = (url for url in blocks_in(member(event, "images")) if isinstance(url, str))
        images: list[Json] = [{"type": "input_image", "image_url": url} for url in urls]
        content: list[Json] = [{"type": "input_text", "text": prompt}, *images]
        self._prompt(_with_notes(self._message(event, content, source="event"), prompt_notes(event)))

    def _add(self, message: UserMessage) -> None:
        self._recent_texts.append(text_of(message))
        self._thread.add_message(message)


def is_injected(content: Json) -> bool:
    """Whether the content of a user item is context that Codex added."""
    first = next((piece for block in blocks_in(content) if (piece := block_text(block)) is not None), None)
    return first is not None and first.lstrip().startswith(INJECTED_PREFIXES)


def prompt_notes(event: JsonObject) -> JsonObject:
    """Return the members of a prompt that only its event has."""
    return present(
        clientId=text(event, "client_id"),
        localImages=member(event, "local_images") or None,
        textElements=member(event, "text_elements") or None,
    )


def _with_notes(message: UserMessage, notes: JsonObject) -> UserMessage:
    metadata = message.content.metadata
    if not notes or not is_object(metadata):
        return message
    return replace(message, content=replace(message.content, metadata={AGENT: {**metadata[AGENT], **notes}}))
