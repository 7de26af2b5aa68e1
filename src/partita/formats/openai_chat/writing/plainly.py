"""A whole talk that is plain, written in one walk: what `place` and `Untold` make of it in several.

What stands around the contents is told as it is of any message, so messages may have threads and times.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from partita.formats.bare import is_bare_answer, is_bare_around, is_bare_content
from partita.formats.losses import Loss
from partita.formats.openai_chat.dialects import Dialect
from partita.formats.openai_chat.plainly import PlainWriter, plain_words
from partita.types.json import JsonObject
from partita.types.messages import AssistantMessage, Message, SystemMessage, UserMessage, derive_type

from .untold import NO_PLACE, Untold

MADE_ID: Final = "message-"
FIRST: Final = "$[0]"
APART: Final = "#"
"""What the id of a message has that may be a piece of another."""


class Written(NamedTuple):
    """The messages of a request, and what could not be told in them."""

    messages: list[JsonObject]
    losses: list[Loss]


def write_plainly(messages: Sequence[Message], dialect: Dialect) -> Written | None:
    """The messages of a request; none if there is anything unusual in them."""
    talk = _Talk(dialect)
    for index, message in enumerate(messages):
        if not talk.take(message, f"$[{index}]"):
            return None
    return Written(talk.written, talk.losses + talk.untold)


class _Talk:
    """The talk so far."""

    def __init__(self, dialect: Dialect) -> None:
        answers = PlainWriter(dialect)
        self._write_answer = answers.answer
        self._dialect = dialect
        self.written, self.losses, self.untold = answers.messages, answers.losses, answers.untold
        self._around = Untold(dialect, self.untold).around

    def take(self, message: Message, path: str) -> bool:
        """Whether a message could be written."""
        if APART in message.id or message.internal or message.type == "event":
            return False
        if type(message) is AssistantMessage:
            return self._answer(message, path)
        if type(message) is UserMessage:
            is_refused = not self._dialect.user_after_tool and self._is_result_last()
            return not is_refused and self._say(message, "user", path)
        if type(message) is SystemMessage:
            is_refused = not self._dialect.system_anywhere and path != FIRST
            return not is_refused and self._say(message, self._dialect.system_role, path)
        return False

    def _say(self, message: SystemMessage | UserMessage, role: str, path: str) -> bool:
        """What others than the model say, in one text."""
        content = message.content
        said = plain_words(content.parts)
        if said is None or content.provider_metadata is not None:
            return False
        is_bare = message.type == "text" and is_bare_around(message) and is_bare_content(content)
        self._tell_around(message, f"{MADE_ID}{len(self.written) + 1}", path, is_bare=is_bare)
        self.written.append({"role": role, "content": said})
        return True

    def _answer(self, message: AssistantMessage, path: str) -> bool:
        """What the model says; behind results it is read as part of the answer before."""
        content = message.content
        if content.provider_metadata is not None or content.network_execution is not None:
            return False
        id_ = None if self._is_result_last() else f"{MADE_ID}{len(self.written) + 1}"
        is_bare = is_bare_around(message) and is_bare_answer(content)
        is_bare = is_bare and message.type == derive_type(content.parts)
        self._tell_around(message, id_, path, is_bare=is_bare)
        return self._write_answer(content.parts, path)

    def _is_result_last(self) -> bool:
        return bool(self.written) and self.written[-1]["role"] == "tool"

    def _tell_around(self, message: Message, id_: str | None, path: str, *, is_bare: bool) -> None:
        """What is said around the parts; `id_` is what it is read with again."""
        if not is_bare:
            self._around(message, path, id_)
        elif message.id != id_:
            self.untold.append(Loss.of(f"{path}.id", message.id, NO_PLACE))
