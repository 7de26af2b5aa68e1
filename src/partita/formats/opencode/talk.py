"""Messages of a session, told one by one, each in its place."""

from datetime import datetime
from typing import Final

from partita.formats.transcript import Teller
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import SystemContent, SystemMessage, SystemPart, UserContent, UserMessage
from partita.types.parts import DataPart, TextPart

from .content import KEY, KINDS, is_injected, kind_of_part, user_part, without
from .responses import Responses, error_words
from .second import ENDS, GENERATION
from .spots import Spots
from .times import time_in

PROMPT_LENGTH: Final = 200

COMMON: Final = frozenset(
    {"id", "sessionID", "role", "time", "agent", "path", "summary", "system", "variant", "error"}
)
SECOND: Final = frozenset({GENERATION, "metadata"})
FIELDS: Final = {
    "user": COMMON | SECOND | {"model", "tools", "format", "fallbackModels", "skill", "name", "description"},
    "assistant": COMMON
    | SECOND
    | {"parentID", "modelID", "providerID", "mode", "cost", "tokens", "finish", "structured"}
    | {"rawFinish", "snapshot", "providerState", "retry"},
}
"""The fields of a message that are understood, by its role."""


class Talk:
    """Tells messages in their places, and a message that is met again as it is now."""

    def __init__(self, teller: Teller, spots: Spots) -> None:
        self._teller = teller
        self._spots = spots
        self._responses = Responses(teller, spots)
        self._has_prompt = False

    def finish(self) -> None:
        """Nothing is open any more: a response that comes again is told anew."""
        self._responses.let_go()

    def message(self, id_: str, info: JsonObject, parts: list[JsonObject]) -> None:
        """A message, new or with more in it than before."""
        role = info.get("role")
        time = time_in(info, "created")
        if time is not None:
            self._teller.tick(time)
        for part in parts:
            if kind_of_part(part) not in KINDS:
                self._teller.puzzle(f"unknown part type {part.get('type')!r:.80}")
        if role != "assistant":
            self._responses.let_go(id_)
        if not isinstance(role, str) or role not in FIELDS:
            self._teller.puzzle(f"unknown message role {role!r:.80}")
            self.event(id_, "opencode-message", {"info": info, "parts": parts}, time=time, internal=True)
            return
        for field in info:
            if field not in FIELDS[role]:
                self._teller.puzzle(f"unknown field {field!r} of a message")
        if role == "user":
            self._user(id_, info, parts, time)
        elif (failure := self._responses.tell(id_, info, parts, time)) is not None:
            self.event(f"{id_}-error", "opencode-error", failure.error, words=failure.words)

    def happened(self, id_: str, kind: str, record: JsonObject, words: str) -> None:
        """Something that is no message: a command of the user's, a compaction, the end of a turn."""
        time = time_in(record, "created")
        if time is not None:
            self._teller.tick(time)
        self.event(id_, f"opencode-{kind}", record, words=words, time=time, internal=kind == "idle")
        if kind == "compaction":
            self._responses.count(id_, record, time)
        elif kind == "idle" and (end := ENDS.get(str(record.get("outcome")))) is not None:
            self._responses.let_go()
            self._teller.end_turn(end, error_words(record.get("error")) or None)

    def event(
        self,
        id_: str,
        name: str,
        data: Json,
        *,
        words: str = "",
        time: datetime | None = None,
        internal: bool = False,
    ) -> None:
        """A notice, after what was told last."""
        parts: tuple[SystemPart, ...] = (DataPart(name, data),)
        if words:
            parts = (TextPart(words), *parts)
        envelope = self._spots.envelope(id_, time or self._teller.time, internal=internal)
        envelope["type"] = "event"
        self._teller.say(SystemMessage(content=SystemContent(parts=parts), **envelope))

    def _user(self, id_: str, info: JsonObject, parts: list[JsonObject], time: datetime | None) -> None:
        is_notice = bool(parts) and all(part.get("type") == "compaction" for part in parts)
        internal = bool(parts) and all(is_injected(part) for part in parts)
        if id_ not in self._spots and not internal and not is_notice:
            self._begin_turn(parts)
        model = info.get("model")
        name = model.get("modelID") if is_object(model) else None
        metadata: JsonObject = {"model": name} if isinstance(name, str) else {}
        metadata[KEY] = without(info, "id", "sessionID", "role")
        content = UserContent(parts=tuple(user_part(part) for part in parts), metadata=metadata)
        envelope = self._spots.envelope(id_, time, internal=internal)
        if internal or is_notice:
            envelope["type"] = "event"
        self._teller.say(UserMessage(content=content, **envelope))

    def _begin_turn(self, parts: list[JsonObject]) -> None:
        self._responses.let_go()
        self._teller.begin_turn()
        if not self._has_prompt:
            self._has_prompt = True
            texts = [part.get("text") for part in parts if not is_injected(part)]
            words = "\n".join(text for text in texts if isinstance(text, str))
            self._teller.learn("prompt", words[:PROMPT_LENGTH])
