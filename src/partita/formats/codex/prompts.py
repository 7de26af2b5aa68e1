"""User messages: prompts, context that Codex adds in the user's name, rollbacks.

A prompt is a user's item that an event confirms right after it, so an item is held until the next record.
In logs without such events (the first versions), the text decides what is a prompt and what is context.
"""

from collections import deque
from typing import Final, NamedTuple

from msgspec.structs import replace

from partita.formats.core.members import present
from partita.formats.log.sink import TurnEnd
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import SystemContent, SystemMessage, UserContent, UserMessage, text_of

from .content import block_text, blocks_of, system_parts, user_parts
from .thread import Thread
from .wire import AGENT, found, text

INJECTED: Final = (
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
"""How texts begin that Codex adds in the user's name (`codex-rs/core/src/context`, `codex-rs/protocol`)."""

TITLE: Final = 200
RECENT: Final = 8


class Held(NamedTuple):
    """A user's item that waits for the next record."""

    message: UserMessage
    injected: bool
    line: int


class Prompts:
    """The user's messages of a thread, and the turns that they begin."""

    def __init__(self, thread: Thread) -> None:
        self._thread = thread
        self._held: Held | None = None
        self._parents: list[str] = []  # what each prompt followed: where a rollback returns to
        self._said: deque[str] = deque(maxlen=RECENT)  # texts of the user since the last response
        self._confirms = False  # whether this log has events for prompts
        self._titled = False
        self._active = False  # whether a task is running
        self._waits = True  # whether the next prompt begins a turn
        self._before: str | None = None  # the message that the current task follows

    def state(self) -> JsonObject:
        """What is needed to continue from here, where a turn begins."""
        return {
            "parents": list(self._parents),
            "confirms": self._confirms,
            "titled": self._titled,
            "active": self._active,
            "before": self._before,
        }

    def restore(self, state: JsonObject) -> None:
        """Continue from a state."""
        self._parents = list(state["parents"])
        self._confirms, self._titled = state["confirms"], state["titled"]
        self._active, self._before = state["active"], state["before"]

    # Turns

    def task_started(self) -> None:
        """A task begins; the next prompt belongs to it."""
        self._active = self._waits = True
        self._before = self._thread.sink.tail or ""

    def task_ended(self, how: TurnEnd, why: str | None = None) -> None:
        """The task has ended, and with it the turn, if a prompt began one."""
        if not self._waits:
            self._thread.sink.end_turn(how, why)
        self._active, self._waits, self._before = False, True, None

    def answered(self) -> None:
        """A response begins: the next prompt begins another turn, or steers the running task."""
        self._said.clear()
        if not self._active:
            self._waits = True

    def roll_back(self, turns: int) -> str | None:
        """Forget the last prompts; the message that the conversation continues from, if there were any."""
        if turns <= 0 or not self._parents:
            return None
        kept = max(0, len(self._parents) - turns)
        parent = self._parents[kept]
        del self._parents[kept:]
        return parent

    # Messages

    def user(self, item: JsonObject, extra: JsonObject | None = None) -> None:
        """A user's item."""
        content = item.get("content")
        injected = is_injected(content)
        if not injected:
            self._begin()
        message = self._message(item, content, extra=extra)
        self._held = Held(message, injected, self._thread.sink.line)

    @property
    def holds(self) -> bool:
        """Whether an item waits for its event."""
        return self._held is not None

    def confirm(self, prompt: str, event: JsonObject) -> None:
        """An event of a prompt: the item before it is one."""
        self._confirms = True
        held, self._held = self._held, None
        if held is None:
            if prompt not in self._said:
                self._add_event(prompt, event)
            return
        with self._thread.sink.from_lines(held.line, self._thread.sink.line):
            self._prompt(_with(held.message, prompt_notes(event)))

    def settle(self) -> None:
        """The held item is not confirmed: in a log that confirms prompts, it is not one."""
        self._release(is_prompt=not self._confirms)

    def finish(self) -> None:
        """No record follows the held item, for now: its text decides."""
        self._release(is_prompt=True)

    def instructions(self, item: JsonObject, role: str, extra: JsonObject | None = None) -> None:
        """A message of the developer or the system."""
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

    def agent(self, item: JsonObject) -> None:
        """A message of another agent to this one."""
        names = {name: item[name] for name in ("author", "recipient") if name in item}
        message = self._message(item, item.get("content"), source="agent", **names)
        self._thread.add_message(replace(message, type="event"))

    def _release(self, *, is_prompt: bool) -> None:
        """Add the held item: as a prompt, unless it is context that Codex added."""
        held, self._held = self._held, None
        if held is None:
            return
        with self._thread.sink.from_lines(held.line):
            if held.injected or not is_prompt:
                self._add(replace(held.message, internal=True, type="event"))
            else:
                self._prompt(held.message)

    def _message(self, item: JsonObject, content: Json, **fields: Json) -> UserMessage:
        thread = self._thread
        return UserMessage(
            id=thread.new_id(item, "user"),
            created_at=thread.time,
            content=UserContent(parts=user_parts(content), metadata=thread.metadata(**fields)),
        )

    def _begin(self) -> None:
        if self._waits:
            self._thread.sink.start_turn()
            self._waits = False

    def _prompt(self, message: UserMessage) -> None:
        self._begin()
        before, self._before = self._before, None
        self._parents.append((self._thread.sink.tail or "") if before is None else before)
        self._add(message)
        if not self._titled:
            title = text_of(message).strip()
            self._titled = bool(title)
            if title:
                self._thread.set_fact("prompt", title[:TITLE])

    def _add_event(self, prompt: str, event: JsonObject) -> None:
        """A prompt of which only the event is left."""
        self._thread.report_unknown("a prompt without its item")
        urls = (url for url in blocks_of(found(event, "images")) if isinstance(url, str))
        images: list[Json] = [{"type": "input_image", "image_url": url} for url in urls]
        content: list[Json] = [{"type": "input_text", "text": prompt}, *images]
        self._prompt(_with(self._message(event, content, source="event"), prompt_notes(event)))

    def _add(self, message: UserMessage) -> None:
        self._said.append(text_of(message))
        self._thread.add_message(message)


def is_injected(content: Json) -> bool:
    """Whether a user's content is context that Codex added."""
    first = next((piece for block in blocks_of(content) if (piece := block_text(block)) is not None), None)
    return first is not None and first.lstrip().startswith(INJECTED)


def prompt_notes(event: JsonObject) -> JsonObject:
    """What an event says of a prompt, and its item does not."""
    return present(
        clientId=text(event, "client_id"),
        localImages=found(event, "local_images") or None,
        textElements=found(event, "text_elements") or None,
    )


def _with(message: UserMessage, notes: JsonObject) -> UserMessage:
    metadata = message.content.metadata
    if not notes or not is_object(metadata):
        return message
    return replace(message, content=replace(message.content, metadata={AGENT: {**metadata[AGENT], **notes}}))
