"""One line of talk: the prompts, answers and results of the conversation, or of one sub-agent."""

from collections.abc import Sequence
from typing import Final

from msgspec import UNSET

from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import (
    UserContent,
    UserMessage,
    UserPart,
)
from partita.types.parts import TextPart

from .answers import Answers
from .envelope import (
    AGENT,
    KIND,
    KNOWN,
    SPLIT,
    STRING,
    keep_content,
)
from .users import HIDDEN, TAGGED, TALK, first_text, kind_of_user, parts_of_kind, split_of

PROMPT_SHOWN: Final = 300
_KNOWN: Final = KNOWN["user"]


class Talk(Answers):
    """The records of one line of talk, told."""

    def user(self, record: JsonObject) -> None:
        """Results of calls, or words."""
        message = record.get("message")
        if not is_object(message):
            self._keep("a user record without a message", record)
            return
        if not record.keys() <= _KNOWN:
            self._puzzle_over(record, "user")
        uuid, content = record.get("uuid"), message.get("content")
        taken = type(uuid) is str and self._is_taken(uuid)
        if self._is_again(record, uuid):
            return
        if is_array(content) and any(type(it) is dict and it.get("type") == "tool_result" for it in content):
            if self._branches is not None and type(uuid) is str:
                self._branches.other(uuid, record.get("parentUuid"))
            del message["content"]
            content = self._results(record, content)
            if not content:
                return
        self._words(record, message, content, taken=taken)

    def _words(self, record: JsonObject, message: JsonObject, content: Json, *, taken: bool) -> None:
        """Words as a message. `taken`: a line of another kind has the same uuid."""
        text = first_text(content)
        kind = kind_of_user(record, text)
        uuid = record.get("uuid")
        id_ = self._own_id(uuid, taken=taken)
        parts = parts_of_kind(kind, content, text)
        if kind in TAGGED:
            record["message"] = message | {"content": content}
        else:
            if isinstance(content, str):
                record[STRING] = True
            elif not is_array(content):
                keep_content(record, message.get("content", UNSET))
            elif (split := split_of(content, parts)) is not None:
                record[SPLIT] = split
            message.pop("content", None)
        if kind != "prompt":
            record[KIND] = kind
        parent = self._place(record, kind in TALK, id_, parts)
        self._sink.add_message(
            UserMessage(
                id=id_,
                thread_id=self._sink.thread_id,
                run_id=self._sink.run_id,
                parent_id=self._sink.tail or "" if parent is None else parent,
                type="text" if kind in TALK else "event",
                internal=kind in HIDDEN
                or (kind in TALK and text == "Warmup" and bool(record.get("isSidechain"))),
                created_at=self._sink.time,
                content=UserContent(parts=tuple(parts), metadata={AGENT: record}),
            )
        )
        if kind == "interruption":
            self._sink.end_turn("interrupted", text)

    def _place(self, record: JsonObject, is_talk: bool, id: str, parts: Sequence[UserPart]) -> str | None:
        """What the words follow; a prompt begins a turn, and so does a command after an answer."""
        starts = is_talk or record.get(KIND) == "command"
        if starts and self._branches is not None:
            if self.asked and (is_talk or self.answered):
                self._sink.begin_turn()
                self.answered = False
            self.asked = True
        if self._branches is None:
            return None
        if not is_talk:
            self._branches.other(id, record.get("parentUuid"))
            return None
        words = next((part.text for part in parts if isinstance(part, TextPart) and part.text.strip()), "")
        if words:
            self._sink.set_fact("prompt", words[:PROMPT_SHOWN])
        return self._branches.prompt(id, record.get("parentUuid", UNSET), id)
