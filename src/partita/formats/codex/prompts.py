"""What users said, and what was said in their name: prompts, injected context, rollbacks.

A prompt is a user's item with an event right after it that says so; so an item is held until the next record.
Logs without such events (the first ones) leave it to the words to tell talk from context.
"""

from collections import deque
from typing import Final, NamedTuple

from msgspec.structs import replace

from partita.formats.transcript import TurnEnd
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import SystemContent, SystemMessage, UserContent, UserMessage, text_of

from .content import blocks_of, system_parts, text_in, user_parts
from .fields import AGENT, found, present, text
from .telling import Telling

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
"""How texts begin that come under the user's name and are none of theirs."""

TITLE: Final = 200
RECENT: Final = 8


class Held(NamedTuple):
    """A user's item that waits for the record after it."""

    message: UserMessage
    injected: bool
    line: int


class Prompts:
    """Who spoke, and which turn it begins."""

    def __init__(self, telling: Telling) -> None:
        self._telling = telling
        self._held: Held | None = None
        self._parents: list[str] = []  # what each prompt followed: where a rollback goes back to
        self._said: deque[str] = deque(maxlen=RECENT)  # words of users since the last answer
        self._confirms = False  # whether this log has events for prompts
        self._titled = False
        self._active = False  # whether a task is under way
        self._waits = True  # whether the next prompt begins a turn
        self._before: str | None = None  # the message that the task at hand follows

    def state(self) -> JsonObject:
        """What must be known to go on from here, where a turn begins."""
        return {
            "parents": list(self._parents),
            "confirms": self._confirms,
            "titled": self._titled,
            "active": self._active,
            "before": self._before,
        }

    def restore(self, state: JsonObject) -> None:
        """Go on from a state."""
        self._parents = list(state["parents"])
        self._confirms, self._titled = state["confirms"], state["titled"]
        self._active, self._before = state["active"], state["before"]

    # Turns

    def task_started(self) -> None:
        """A task begins; the next prompt is its."""
        self._active = self._waits = True
        self._before = self._telling.teller.tail or ""

    def task_ended(self, how: TurnEnd, why: str | None = None) -> None:
        """The task is over, and with it the turn, if a prompt began one with it."""
        if not self._waits:
            self._telling.teller.end_turn(how, why)
        self._active, self._waits, self._before = False, True, None

    def answered(self) -> None:
        """The model speaks: what the user says next is another turn, or steers the task under way."""
        self._said.clear()
        if not self._active:
            self._waits = True

    def roll_back(self, turns: int) -> str | None:
        """Forget the last prompts: the message that the talk goes on from, if there were any."""
        if turns <= 0 or not self._parents:
            return None
        kept = max(0, len(self._parents) - turns)
        parent = self._parents[kept]
        del self._parents[kept:]
        return parent

    # Words

    def user(self, item: JsonObject, extra: JsonObject | None = None) -> None:
        """An item under the user's name."""
        content = item.get("content")
        injected = is_injected(content)
        if not injected:
            self._begin()
        message = self._message(item, content, extra=extra)
        self._held = Held(message, injected, self._telling.teller.line)

    @property
    def holds(self) -> bool:
        """Whether an item waits for its event."""
        return self._held is not None

    def confirm(self, words: str, event: JsonObject) -> None:
        """An event that tells of a prompt: the item before it is one."""
        self._confirms = True
        held, self._held = self._held, None
        if held is None:
            if words not in self._said:
                self._alone(words, event)
            return
        with self._telling.teller.as_of(held.line, self._telling.teller.line):
            self._prompt(_with(held.message, _extra(event)))

    def settle(self) -> None:
        """Another record came than the event for a prompt: in a log that has such events, there is none."""
        held, self._held = self._held, None
        if held is None:
            return
        with self._telling.teller.as_of(held.line):
            if held.injected or self._confirms:
                self._say(replace(held.message, internal=True, type="event"))
            else:
                self._prompt(held.message)

    def finish(self) -> None:
        """Nothing comes after the item, for now: its words decide."""
        held, self._held = self._held, None
        if held is None:
            return
        with self._telling.teller.as_of(held.line):
            if held.injected:
                self._say(replace(held.message, internal=True, type="event"))
            else:
                self._prompt(held.message)

    def instructions(self, item: JsonObject, role: str, extra: JsonObject | None = None) -> None:
        """Words of developers and of the system."""
        metadata = self._telling.metadata(role=role, extra=extra)
        content = SystemContent(parts=system_parts(item.get("content")), metadata=metadata)
        message = SystemMessage(
            id=self._telling.new_id(item, role),
            type="event",
            internal=True,
            created_at=self._telling.time,
            content=content,
        )
        self._telling.teller.say(message)

    def agent(self, item: JsonObject) -> None:
        """Words of another agent to this one."""
        told = {name: item[name] for name in ("author", "recipient") if name in item}
        message = self._message(item, item.get("content"), source="agent", **told)
        self._telling.teller.say(replace(message, type="event"))

    # Inside

    def _message(self, item: JsonObject, content: Json, **fields: Json) -> UserMessage:
        telling = self._telling
        return UserMessage(
            id=telling.new_id(item, "user"),
            created_at=telling.time,
            content=UserContent(parts=user_parts(content), metadata=telling.metadata(**fields)),
        )

    def _begin(self) -> None:
        if self._waits:
            self._telling.teller.begin_turn()
            self._waits = False

    def _prompt(self, message: UserMessage) -> None:
        self._begin()
        before, self._before = self._before, None
        self._parents.append((self._telling.teller.tail or "") if before is None else before)
        self._say(message)
        if not self._titled:
            words = text_of(message).strip()
            self._titled = bool(words)
            if words:
                self._telling.teller.learn("prompt", words[:TITLE])

    def _alone(self, words: str, event: JsonObject) -> None:
        """A prompt of which only the event is left."""
        self._telling.teller.puzzle("a prompt without its item")
        urls = (url for url in blocks_of(found(event, "images")) if isinstance(url, str))
        images: list[Json] = [{"type": "input_image", "image_url": url} for url in urls]
        content: list[Json] = [{"type": "input_text", "text": words}, *images]
        self._prompt(_with(self._message(event, content, source="event"), _extra(event)))

    def _say(self, message: UserMessage) -> None:
        self._said.append(text_of(message))
        self._telling.teller.say(message)


def is_injected(content: Json) -> bool:
    """Whether words under the user's name are context that Codex put there."""
    first = next((words for block in blocks_of(content) if (words := text_in(block)) is not None), None)
    return first is not None and first.lstrip().startswith(INJECTED)


def _extra(event: JsonObject) -> JsonObject:
    """What an event says of a prompt, and its item does not."""
    return present(
        clientId=text(event, "client_id"),
        localImages=found(event, "local_images") or None,
        textElements=found(event, "text_elements") or None,
    )


def _with(message: UserMessage, extra: JsonObject) -> UserMessage:
    metadata = message.content.metadata
    if not extra or not is_object(metadata):
        return message
    return replace(message, content=replace(message.content, metadata={AGENT: {**metadata[AGENT], **extra}}))
